package project

import "strings"

// Dataset is a CSV file with a described layout, for unit tests.
type Dataset struct {
	Name         string
	Description  string
	FolderName   string // empty: the project's data set folder
	BaseFilename string
	Fields       []DatasetField // bound to the columns of the file by position
}

// DatasetField is one column. Type is Hop's numeric type id; Length and
// Precision are -1 when not given.
type DatasetField struct {
	Name      string
	Type      int
	Length    int
	Precision int
	Comment   string
	Format    string
}

// Dataset loads a data set. Errors are those of [Metadata.Load].
func (m *Metadata) Dataset(name string) (*Dataset, error) {
	o, err := m.Load(TypeDataset, name)
	if err != nil {
		return nil, err
	}
	root := o.Root()
	d := &Dataset{
		Name:         name,
		Description:  root.Get("description").Text(),
		FolderName:   root.Get("folder_name").Text(),
		BaseFilename: root.Get("base_filename").Text(),
	}
	for _, f := range root.Get("dataset_fields").Items() {
		d.Fields = append(d.Fields, DatasetField{
			Name:      f.Get("field_name").Text(),
			Type:      f.Get("field_type").Int(0),
			Length:    f.Get("field_length").Int(-1),
			Precision: f.Get("field_precision").Int(-1),
			Comment:   f.Get("field_comment").Text(),
			Format:    f.Get("field_format").Text(),
		})
	}
	return d, nil
}

// File returns the location of the CSV file in a scope: the data set's folder,
// else HOP_DATASETS_FOLDER, else the working directory.
func (d *Dataset) File(scope *Variables) (string, error) {
	folder, err := scope.Resolve(d.FolderName)
	if err == nil && folder == "" {
		folder, err = resolvedVariable(scope, VariableDatasetsFolder)
	}
	if err != nil {
		return "", err
	}
	return joinLocation(folder, scope, d.BaseFilename)
}

// joinLocation puts a resolved file name below a folder; without one, below
// the working directory.
func joinLocation(folder string, scope *Variables, name string) (string, error) {
	base, err := scope.Resolve(name)
	if err != nil {
		return "", err
	}
	if folder == "" {
		folder = "."
	}
	return strings.TrimSuffix(folder, "/") + "/" + base, nil
}
