package project

import "sluice/engine/project/jsondoc"

// ExecutionInfoLocation says where Hop keeps records of executions.
type ExecutionInfoLocation struct {
	Name        string
	Description string
	Delay       string // milliseconds before the first record
	Interval    string // milliseconds between records
	PluginID    string // such as local-folder
	RootFolder  string // of local-folder

	settings *jsondoc.Value
}

// Setting returns a setting of the kind of location; empty when absent.
func (l *ExecutionInfoLocation) Setting(key string) string { return l.settings.Get(key).Text() }

// ExecutionInfoLocation loads a location. Errors are those of [Metadata.Load],
// or say that the file names no kind.
func (m *Metadata) ExecutionInfoLocation(name string) (*ExecutionInfoLocation, error) {
	o, err := m.Load(TypeExecutionInfoLocation, name)
	if err != nil {
		return nil, err
	}
	root := o.Root()
	kinds := root.Get("executionInfoLocation").Members()
	if len(kinds) == 0 {
		return nil, o.problemf(nil, "location %q has no kind under \"executionInfoLocation\"; choose one in its form", name)
	}
	return &ExecutionInfoLocation{
		Name:        name,
		Description: root.Get("description").Text(),
		Delay:       textOr(root.Get("dataLoggingDelay"), "2000"),
		Interval:    textOr(root.Get("dataLoggingInterval"), "5000"),
		PluginID:    textOr(kinds[0].Value.Get("pluginId"), kinds[0].Key),
		RootFolder:  kinds[0].Value.Get("rootFolder").Text(),
		settings:    kinds[0].Value,
	}, nil
}

// ExecutionDataProfile says which rows of each transform to keep for looking
// at.
type ExecutionDataProfile struct {
	Name        string
	Description string
	Samplers    []DataSampler // in file order
}

// DataSampler is one way to choose rows.
type DataSampler struct {
	Kind       string // such as FirstRowsExecutionDataSampler
	SampleSize string // rows
}

// ExecutionDataProfile loads a profile. Errors are those of [Metadata.Load].
func (m *Metadata) ExecutionDataProfile(name string) (*ExecutionDataProfile, error) {
	o, err := m.Load(TypeExecutionDataProfile, name)
	if err != nil {
		return nil, err
	}
	p := &ExecutionDataProfile{Name: name, Description: o.Root().Get("description").Text()}
	for _, item := range o.Root().Get("sampler").Items() {
		for _, kind := range item.Members() {
			p.Samplers = append(p.Samplers, DataSampler{kind.Key, textOr(kind.Value.Get("sampleSize"), "100")})
		}
	}
	return p, nil
}
