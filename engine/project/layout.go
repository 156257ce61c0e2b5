package project

// SchemaDefinition is a reusable list of fields for file transforms.
type SchemaDefinition struct {
	Name        string
	Description string
	Separator   string
	Enclosure   string
	Fields      []FieldDefinition
}

// FieldDefinition is one field of a schema or file definition. Length and
// Precision are -1 when not given; TrimType is Hop's code, 0 none, 1 left,
// 2 right, 3 both.
type FieldDefinition struct {
	Name           string
	HopType        string
	Length         int
	Precision      int
	FormatMask     string
	DecimalSymbol  string
	GroupingSymbol string
	CurrencySymbol string
	IfNullValue    string
	Comment        string
	TrimType       int
}

// SchemaDefinition loads a schema definition. Errors are those of
// [Metadata.Load].
func (m *Metadata) SchemaDefinition(name string) (*SchemaDefinition, error) {
	return m.layout(TypeSchemaDefinition, name)
}

// FileDefinition loads a file definition, which has the same settings. Errors
// are those of [Metadata.Load].
func (m *Metadata) FileDefinition(name string) (*SchemaDefinition, error) {
	return m.layout(TypeFileDefinition, name)
}

func (m *Metadata) layout(typeKey, name string) (*SchemaDefinition, error) {
	o, err := m.Load(typeKey, name)
	if err != nil {
		return nil, err
	}
	root := o.Root()
	s := &SchemaDefinition{
		Name:        name,
		Description: root.Get("description").Text(),
		Separator:   root.Get("separator").Text(),
		Enclosure:   root.Get("enclosure").Text(),
	}
	for _, f := range root.Get("fieldDefinitions").Items() {
		s.Fields = append(s.Fields, FieldDefinition{
			Name:           f.Get("name").Text(),
			HopType:        f.Get("hopType").Text(),
			Length:         f.Get("length").Int(-1),
			Precision:      f.Get("precision").Int(-1),
			FormatMask:     f.Get("formatMask").Text(),
			DecimalSymbol:  f.Get("decimalSymbol").Text(),
			GroupingSymbol: f.Get("groupingSymbol").Text(),
			CurrencySymbol: f.Get("currencySymbol").Text(),
			IfNullValue:    f.Get("ifNullValue").Text(),
			Comment:        f.Get("comment").Text(),
			TrimType:       f.Get("trimType").Int(0),
		})
	}
	return s, nil
}

// Partition is a partition schema: the number of partitions per transform, or
// their names.
type Partition struct {
	Name         string
	Dynamic      bool
	Partitions   string // number as text; may hold variables; counts when Dynamic
	PartitionIDs []string
}

// Partition loads a partition schema. Errors are those of [Metadata.Load].
func (m *Metadata) Partition(name string) (*Partition, error) {
	o, err := m.Load(TypePartition, name)
	if err != nil {
		return nil, err
	}
	root := o.Root()
	return &Partition{
		Name:         name,
		Dynamic:      root.Get("dynamicallyDefined").Bool(false),
		Partitions:   root.Get("numberOfPartitions").Text(),
		PartitionIDs: root.Get("partitionIDs").Strings(),
	}, nil
}
