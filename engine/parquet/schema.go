package parquet

import (
	"encoding/json"
	"fmt"

	"sluice/engine/batch"
)

// hopField is a field in the key-value metadata. Together with the file's own
// schema it gives back everything a batch.Field holds.
type hopField struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Length    int    `json:"length"`
	Precision int    `json:"precision"`
	Mask      string `json:"mask,omitempty"`
	Decimal   string `json:"decimal,omitempty"`
	Grouping  string `json:"grouping,omitempty"`
	Currency  string `json:"currency,omitempty"`
	Trim      string `json:"trim,omitempty"`
	Strict    bool   `json:"strict,omitempty"`
	Lenient   bool   `json:"lenient,omitempty"`
	Locale    string `json:"locale,omitempty"`
	Zone      string `json:"zone,omitempty"`
	Origin    string `json:"origin,omitempty"`
	Comments  string `json:"comments,omitempty"`
}

// EncodeSchema gives a schema as canonical JSON: an array of fields, keys in a
// fixed order. Equal schemas give equal bytes.
func EncodeSchema(s *batch.Schema) []byte {
	list := make([]hopField, s.Len())
	for i := range list {
		f := &s.Fields[i]
		list[i] = hopField{
			Name: f.Name, Type: f.Type.String(), Length: f.Length, Precision: f.Precision, Mask: f.Mask,
			Decimal: f.Decimal, Grouping: f.Grouping, Currency: f.Currency, Strict: f.Strict, Lenient: f.Lenient,
			Locale: f.Locale, Zone: f.Zone, Origin: f.Origin, Comments: f.Comments,
		}
		if f.Trim != batch.TrimNone {
			list[i].Trim = f.Trim.String()
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings, numbers and flags always encode
	}
	return data
}

// DecodeSchema reads what EncodeSchema wrote.
func DecodeSchema(data []byte) (*batch.Schema, error) {
	var list []hopField
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("schema of the rows: %w", err)
	}
	s := batch.NewSchema()
	for _, f := range list {
		t := batch.ParseType(f.Type)
		if t == batch.None && f.Type != batch.None.String() {
			return nil, fmt.Errorf("schema of the rows: field %q has the unknown type %q; a newer version wrote it", f.Name, f.Type)
		}
		s.Fields = append(s.Fields, batch.Field{
			Name: f.Name, Type: t, Length: f.Length, Precision: f.Precision, Mask: f.Mask,
			Decimal: f.Decimal, Grouping: f.Grouping, Currency: f.Currency, Trim: batch.ParseTrim(f.Trim),
			Strict: f.Strict, Lenient: f.Lenient, Locale: f.Locale, Zone: f.Zone, Origin: f.Origin, Comments: f.Comments,
		})
	}
	return s, nil
}
