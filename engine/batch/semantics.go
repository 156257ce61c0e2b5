package batch

import (
	"strings"
	"time"

	"sluice/engine/batch/mask"
)

// Semantics are the switches of an execution that change what values mean: Hop's
// behaviour variables and the time zone. It is immutable while rows move.
type Semantics struct {
	EmptyDiffers     bool // HOP_EMPTY_STRING_DIFFERS_FROM_NULL
	LenientNumbers   bool // HOP_LENIENT_STRING_TO_NUMBER_CONVERSION
	MinNullIsValued  bool // HOP_AGGREGATION_MIN_NULL_IS_VALUED
	AllNullsAreZero  bool // HOP_AGGREGATION_ALL_NULLS_ARE_ZERO
	RemoveEnclosure  bool // HOP_SPLIT_FIELDS_REMOVE_ENCLOSURE
	JSONIncludeNulls bool // HOP_JSON_INPUT_INCLUDE_NULLS
	Location         *time.Location
	Formats          map[Type]string // HOP_DEFAULT_…_FORMAT
}

// DefaultSemantics are Hop's defaults in a time zone.
func DefaultSemantics(loc *time.Location) *Semantics { return &Semantics{Location: loc} }

// ReadSemantics reads Hop's behaviour variables through get; loc is the zone of
// values without one.
func ReadSemantics(get func(name string) (string, bool), loc *time.Location) *Semantics {
	on := func(name string) bool {
		v, _ := get(name)
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "y", "yes", "true", "t":
			return true
		}
		return false
	}
	s := &Semantics{
		EmptyDiffers:     on("HOP_EMPTY_STRING_DIFFERS_FROM_NULL"),
		LenientNumbers:   on("HOP_LENIENT_STRING_TO_NUMBER_CONVERSION"),
		MinNullIsValued:  on("HOP_AGGREGATION_MIN_NULL_IS_VALUED"),
		AllNullsAreZero:  on("HOP_AGGREGATION_ALL_NULLS_ARE_ZERO"),
		RemoveEnclosure:  on("HOP_SPLIT_FIELDS_REMOVE_ENCLOSURE"),
		JSONIncludeNulls: on("HOP_JSON_INPUT_INCLUDE_NULLS"),
		Location:         loc,
		Formats:          map[Type]string{},
	}
	for t, name := range map[Type]string{Number: "NUMBER", Integer: "INTEGER", BigNumber: "BIGNUMBER", Date: "DATE", Timestamp: "TIMESTAMP"} {
		if v, ok := get("HOP_DEFAULT_" + name + "_FORMAT"); ok && v != "" {
			s.Formats[t] = v
		}
	}
	return s
}

// formatMask is the mask that values of a field are written with.
func (s *Semantics) formatMask(f *Field) string {
	if f.Mask != "" {
		return f.Mask
	}
	kind, _ := maskKind(f.Type)
	if m := s.Formats[f.Type]; m != "" && f.Length <= 0 {
		return m
	}
	return mask.DefaultFormat(kind, f.Length, f.Precision)
}

// parseMask is the mask that text is read with.
func (s *Semantics) parseMask(f *Field) string {
	if f.Mask != "" {
		return f.Mask
	}
	kind, _ := maskKind(f.Type)
	if m := s.Formats[f.Type]; m != "" {
		return m
	}
	return mask.DefaultParse(kind, f.Length, f.Precision)
}
