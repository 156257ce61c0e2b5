package flow

import (
	"sluice/engine"
	"sluice/engine/transform"
)

// WorkflowExecutor runs a workflow for groups of its rows, which become the
// result rows of that workflow. A failing child does not fail the executor; its
// result tells.
var WorkflowExecutor = transform.Define[WorkflowExecutorSettings](transform.About{
	ID:       "WorkflowExecutor",
	Name:     "Workflow executor",
	Category: transform.CategoryFlow,
	Summary:  "Run a workflow for groups of rows.",
})

// WorkflowExecutorSettings lists the settings in the order the form shows them.
type WorkflowExecutorSettings struct {
	RunConfig       transform.Expr[string] `hop:"run_configuration" form:"run-configuration" label:"Run configuration"`
	Filename        transform.Expr[string] `hop:"filename" form:"workflow" label:"Workflow"`
	FilenameInField bool                   `hop:"filenameInField" label:"File name from field"`
	FilenameField   string                 `hop:"filenameField" form:"field" label:"File name field"`
	GroupSize       transform.Expr[int]    `hop:"group_size" default:"1" unit:"rows" min:"0" label:"Rows per run"`
	GroupField      string                 `hop:"group_field" form:"field" label:"Run when this field changes"`
	GroupTime       transform.Expr[int64]  `hop:"group_time" unit:"ms" label:"Run after this time"`
	InheritAll      bool                   `hop:"inherit_all_vars,alias=parameters>inherit_all_vars" default:"Y" label:"Inherit all variables"`
	Parameters      []ExecutorParameter    `hop:"parameters>variable_mapping,alias=parameters>variablemapping"`
	ExecutorReport
	RowsTarget  string             `hop:"result_rows_target_transform,alias=result_rows_target_step" form:"target" label:"Target of the result rows"`
	RowsFields  []ExecutorRowField `hop:"result_rows_field,inline"`
	FilesTarget string             `hop:"result_files_target_transform,alias=result_files_target_step" form:"target" label:"Target of the result files"`
	FileField   string             `hop:"result_files_file_name_field" default:"FileName" label:"Field of the file name"`
}

// shared gives the settings that both executors share.
func (s *WorkflowExecutorSettings) shared() *PipelineExecutorSettings {
	return &PipelineExecutorSettings{
		RunConfig: s.RunConfig, Filename: s.Filename, FilenameInField: s.FilenameInField, FilenameField: s.FilenameField,
		GroupSize: s.GroupSize, GroupField: s.GroupField, GroupTime: s.GroupTime, InheritAll: s.InheritAll, Parameters: s.Parameters,
		ExecutorReport: s.ExecutorReport, RowsTarget: s.RowsTarget, RowsFields: s.RowsFields, FilesTarget: s.FilesTarget, FileField: s.FileField,
	}
}

// Ports implements transform.Porter.
func (s *WorkflowExecutorSettings) Ports(l transform.Links) transform.Ports {
	return s.shared().Ports(l)
}

// Output implements transform.Settings.
func (s *WorkflowExecutorSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	out, err := s.shared().Output(l, d)
	if report := out[portReport]; report != nil {
		out[portReport] = inputOf(l).With(report.Fields...)
	}
	return out, err
}

// Start implements transform.Settings.
func (s *WorkflowExecutorSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if !s.FilenameInField && s.Filename.IsEmpty() {
		return nil, &engine.Error{Message: "no workflow is named", Hint: "give the file of the workflow to run"}
	}
	p, err := s.shared().Start(env, l)
	if err != nil {
		return nil, err
	}
	e := p.(*executorProcessor)
	e.run, e.inputInReport = env.Children.RunWorkflow, true
	if report := e.ports[portReport]; report != nil {
		e.ports[portReport] = e.in.With(report.Fields...)
	}
	return e, nil
}
