package project

import (
	"errors"

	"sluice/engine/project/jsondoc"
)

// LocalRunConfiguration is the name that most files refer to. A project that
// has no such object gets Hop's defaults under it.
const LocalRunConfiguration = "local"

// EngineLocal is the engine kind of this program.
const EngineLocal = "Local"

// PipelineRunConfiguration says how and where a pipeline runs. Texts may hold
// variables.
type PipelineRunConfiguration struct {
	Name              string
	Description       string
	Default           bool
	ExecutionLocation string // name of an execution-info-location; may be empty
	DataProfile       string // name of an execution-data-profile; may be empty
	Variables         []DescribedVariable
	Engine            string // Local, Remote, …: the key under engineRunConfiguration
	Local             LocalPipelineEngine

	settings *jsondoc.Value
}

// LocalPipelineEngine is the settings of the Local engine.
type LocalPipelineEngine struct {
	RowSetSize              string // rows
	SafeMode                bool
	GatherMetrics           bool
	SortTransforms          bool
	ShowFeedback            bool
	FeedbackSize            string // rows
	WaitTime                string // milliseconds
	SampleType              string // None, First, Last or Random
	SampleSize              string // rows
	Transactional           bool
	DetectBufferDeadlocks   bool
	MitigateBufferDeadlocks bool
	SpillDirectory          string
}

// Setting returns a setting of the engine by its key in the file, for engines
// that have no typed view here; empty when absent.
func (c *PipelineRunConfiguration) Setting(key string) string { return c.settings.Get(key).Text() }

// PipelineRunConfiguration loads a run configuration, or gives the built-in
// one for the name local when the project has none. Errors are those of
// [Metadata.Load], or say that the file names no engine.
func (m *Metadata) PipelineRunConfiguration(name string) (*PipelineRunConfiguration, error) {
	o, err := m.Load(TypePipelineRunConfiguration, name)
	if errors.Is(err, ErrNotFound) && name == LocalRunConfiguration {
		return &PipelineRunConfiguration{Name: name, Default: true, Engine: EngineLocal, Local: localPipelineEngine(nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	engine, err := o.engine()
	if err != nil {
		return nil, err
	}
	root := o.Root()
	return &PipelineRunConfiguration{
		Name:              name,
		Description:       root.Get("description").Text(),
		Default:           root.Get("defaultSelection").Bool(false),
		ExecutionLocation: root.Get("executionInfoLocationName").Text(),
		DataProfile:       root.Get("dataProfile").Text(),
		Variables:         describedVariables(root.Get("configurationVariables")),
		Engine:            engine.Key,
		Local:             localPipelineEngine(engine.Value),
		settings:          engine.Value,
	}, nil
}

func (o *Object) engine() (jsondoc.Member, error) {
	engines := o.Root().Get("engineRunConfiguration").Members()
	if len(engines) == 0 {
		return jsondoc.Member{}, o.problemf(o.Root().Get("engineRunConfiguration"),
			"run configuration %q has no engine under \"engineRunConfiguration\"; choose one in its form", o.Name)
	}
	return engines[0], nil
}

func localPipelineEngine(v *jsondoc.Value) LocalPipelineEngine {
	return LocalPipelineEngine{
		RowSetSize:              textOr(v.Get("rowset_size"), "10000"),
		SafeMode:                v.Get("safe_mode").Bool(false),
		GatherMetrics:           v.Get("gather_metrics").Bool(false),
		SortTransforms:          v.Get("topo_sort").Bool(false),
		ShowFeedback:            v.Get("show_feedback").Bool(false),
		FeedbackSize:            textOr(v.Get("feedback_size"), "50000"),
		WaitTime:                textOr(v.Get("wait_time"), "20"),
		SampleType:              textOr(v.Get("sample_type_in_gui"), "Last"),
		SampleSize:              textOr(v.Get("sample_size"), "100"),
		Transactional:           v.Get("transactional").Bool(false),
		DetectBufferDeadlocks:   v.Get("detect_buffer_deadlocks").Bool(true),
		MitigateBufferDeadlocks: v.Get("mitigate_buffer_deadlocks").Bool(true),
		SpillDirectory:          v.Get("buffer_deadlock_spill_directory").Text(),
	}
}

// WorkflowRunConfiguration says how and where a workflow runs.
type WorkflowRunConfiguration struct {
	Name              string
	Description       string
	Default           bool
	ExecutionLocation string
	Engine            string
	SafeMode          bool // of the Local engine
	Transactional     bool // of the Local engine

	settings *jsondoc.Value
}

// Setting returns a setting of the engine by its key in the file; empty when
// absent.
func (c *WorkflowRunConfiguration) Setting(key string) string { return c.settings.Get(key).Text() }

// WorkflowRunConfiguration loads a run configuration, or gives the built-in
// one for the name local when the project has none. Errors are those of
// [Metadata.Load], or say that the file names no engine.
func (m *Metadata) WorkflowRunConfiguration(name string) (*WorkflowRunConfiguration, error) {
	o, err := m.Load(TypeWorkflowRunConfiguration, name)
	if errors.Is(err, ErrNotFound) && name == LocalRunConfiguration {
		return &WorkflowRunConfiguration{Name: name, Default: true, Engine: EngineLocal}, nil
	}
	if err != nil {
		return nil, err
	}
	engine, err := o.engine()
	if err != nil {
		return nil, err
	}
	root := o.Root()
	return &WorkflowRunConfiguration{
		Name:              name,
		Description:       root.Get("description").Text(),
		Default:           root.Get("defaultSelection").Bool(false),
		ExecutionLocation: root.Get("executionInfoLocationName").Text(),
		Engine:            engine.Key,
		SafeMode:          engine.Value.Get("safe_mode").Bool(false),
		Transactional:     engine.Value.Get("transactional").Bool(false),
		settings:          engine.Value,
	}, nil
}

// DefaultRunConfiguration returns the name of the run configuration of a type
// that is marked as the default, the first by name when several are, else
// local. Files that cannot be read are passed over; loading one says why.
func (m *Metadata) DefaultRunConfiguration(typeKey string) string {
	names, _ := m.Names(typeKey)
	for _, name := range names {
		o, err := m.Load(typeKey, name)
		if err == nil && o.Root().Get("defaultSelection").Bool(false) {
			return name
		}
	}
	return LocalRunConfiguration
}
