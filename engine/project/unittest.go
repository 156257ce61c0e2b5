package project

import (
	"path/filepath"
	"strings"

	"sluice/engine/project/jsondoc"
)

// UnitTest runs a pipeline with some inputs replaced and compares the rows
// that arrive at some transforms with data sets.
type UnitTest struct {
	Name                 string
	Description          string
	Kind                 string // UNIT_TEST or DEVELOPMENT
	PipelineFilename     string // relative to BasePath, else to HOP_UNIT_TESTS_FOLDER
	BasePath             string
	PersistFilename      string
	AutoOpening          bool
	Variables            []Attribute // set before the run
	DatabaseReplacements []DatabaseReplacement
	Inputs               []DataSetLocation
	Golden               []DataSetLocation
	Tweaks               []TransformTweak
}

// DatabaseReplacement puts one connection in the place of another.
type DatabaseReplacement struct{ Original, Replacement string }

// DataSetLocation ties a data set to a transform.
type DataSetLocation struct {
	Transform  string
	DataSet    string
	FieldOrder []string // data set fields to sort by; may be empty
	Mappings   []FieldMapping
}

// FieldMapping ties a field of the transform to one of the data set.
type FieldMapping struct{ TransformField, DataSetField string }

// TransformTweak leaves a transform out of the test.
type TransformTweak struct {
	Transform string
	Tweak     string // NONE, BYPASS_TRANSFORM or REMOVE_TRANSFORM
}

// UnitTest loads a unit test. Errors are those of [Metadata.Load].
func (m *Metadata) UnitTest(name string) (*UnitTest, error) {
	o, err := m.Load(TypeUnitTest, name)
	if err != nil {
		return nil, err
	}
	root := o.Root()
	t := &UnitTest{
		Name:             name,
		Description:      root.Get("description").Text(),
		Kind:             textOr(root.Get("test_type"), "UNIT_TEST"),
		PipelineFilename: root.Get("pipeline_filename").Text(),
		BasePath:         root.Get("basePath").Text(),
		PersistFilename:  root.Get("persist_filename").Text(),
		AutoOpening:      root.Get("autoOpening").Bool(false),
		Inputs:           dataSetLocations(root.Get("input_data_sets")),
		Golden:           dataSetLocations(root.Get("golden_data_sets")),
	}
	for _, v := range root.Get("variableValues").Items() {
		t.Variables = append(t.Variables, Attribute{v.Get("key").Text(), v.Get("value").Text()})
	}
	for _, r := range root.Get("database_replacements").Items() {
		t.DatabaseReplacements = append(t.DatabaseReplacements,
			DatabaseReplacement{r.Get("original_connection").Text(), r.Get("replacement_connection").Text()})
	}
	for _, w := range root.Get("trans_test_tweaks").Items() {
		t.Tweaks = append(t.Tweaks, TransformTweak{w.Get("transformName").Text(), textOr(w.Get("tweak"), "NONE")})
	}
	return t, nil
}

func dataSetLocations(list *jsondoc.Value) []DataSetLocation {
	var locations []DataSetLocation
	for _, l := range list.Items() {
		location := DataSetLocation{
			Transform:  l.Get("transform_name").Text(),
			DataSet:    l.Get("data_set_name").Text(),
			FieldOrder: l.Get("field_order").Strings(),
		}
		for _, f := range l.Get("field_mappings").Items() {
			location.Mappings = append(location.Mappings,
				FieldMapping{f.Get("transform_field").Text(), f.Get("data_set_field").Text()})
		}
		locations = append(locations, location)
	}
	return locations
}

// File returns the location of the pipeline in a scope: an absolute name as it
// is, a relative one below the base path, else below HOP_UNIT_TESTS_FOLDER,
// else below the working directory.
func (t *UnitTest) File(scope *Variables) (string, error) {
	name, err := scope.Resolve(t.PipelineFilename)
	if err != nil {
		return "", err
	}
	if Scheme(name) != "" || filepath.IsAbs(name) {
		return name, nil
	}
	folder, err := scope.Resolve(t.BasePath)
	if err == nil && folder == "" {
		folder, err = resolvedVariable(scope, VariableUnitTestsFolder)
	}
	if err != nil {
		return "", err
	}
	if folder == "" {
		folder = "."
	}
	return strings.TrimSuffix(folder, "/") + "/" + strings.TrimPrefix(name, "./"), nil
}
