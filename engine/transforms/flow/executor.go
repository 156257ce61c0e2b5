package flow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// PipelineExecutor runs another pipeline for groups of its rows, which become the
// result rows of that pipeline. A failing child does not fail the executor; its
// result tells.
var PipelineExecutor = transform.Define[PipelineExecutorSettings](transform.About{
	ID:       "PipelineExecutor",
	Name:     "Pipeline executor",
	Category: transform.CategoryFlow,
	Summary:  "Run a pipeline for groups of rows.",
})

// PipelineExecutorSettings lists the settings in the order the form shows them.
type PipelineExecutorSettings struct {
	RunConfig       transform.Expr[string] `hop:"run_configuration" form:"run-configuration" label:"Run configuration"`
	Filename        transform.Expr[string] `hop:"filename" form:"pipeline" label:"Pipeline"`
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
	InputTarget string             `hop:"executors_output_transform,alias=executors_output_step" form:"target" label:"Target of the input rows"`
}

// ExecutorParameter gives a value to a parameter of the child.
type ExecutorParameter struct {
	Variable string                 `hop:"variable" required:"true" label:"Parameter"`
	Field    string                 `hop:"field" form:"field"`
	Input    transform.Expr[string] `hop:"input" label:"Static value"`
}

// ExecutorRowField is one field of the child's result rows.
type ExecutorRowField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
}

// ExecutorReport names the target and the fields of the execution report. An
// empty field name leaves the field out.
type ExecutorReport struct {
	ReportTarget  string `hop:"execution_result_target_transform,alias=execution_result_target_step" form:"target" label:"Target of the execution results"`
	TimeField     string `hop:"execution_time_field" default:"ExecutionTime" advanced:"true"`
	ResultField   string `hop:"execution_result_field" default:"ExecutionResult" advanced:"true"`
	ErrorsField   string `hop:"execution_errors_field" default:"ExecutionNrErrors" advanced:"true"`
	ReadField     string `hop:"execution_lines_read_field" default:"ExecutionLinesRead" advanced:"true"`
	WrittenField  string `hop:"execution_lines_written_field" default:"ExecutionLinesWritten" advanced:"true"`
	InputField    string `hop:"execution_lines_input_field" default:"ExecutionLinesInput" advanced:"true"`
	OutputField   string `hop:"execution_lines_output_field" default:"ExecutionLinesOutput" advanced:"true"`
	RejectedField string `hop:"execution_lines_rejected_field" default:"ExecutionLinesRejected" advanced:"true"`
	UpdatedField  string `hop:"execution_lines_updated_field" default:"ExecutionLinesUpdated" advanced:"true"`
	DeletedField  string `hop:"execution_lines_deleted_field" default:"ExecutionLinesDeleted" advanced:"true"`
	FilesField    string `hop:"execution_files_retrieved_field" default:"ExecutionFilesRetrieved" advanced:"true"`
	ExitField     string `hop:"execution_exit_status_field" default:"ExecutionExitStatus" advanced:"true"`
	LogField      string `hop:"execution_log_text_field" default:"ExecutionLogText" advanced:"true"`
	ChannelField  string `hop:"execution_log_channelid_field" default:"ExecutionLogChannelId" advanced:"true"`
}

const (
	portReport transform.Port = "execution results"
	portRows   transform.Port = "result rows"
	portFiles  transform.Port = "result files"
	portInput  transform.Port = "input rows"
)

// Ports implements transform.Porter.
func (s *PipelineExecutorSettings) Ports(transform.Links) transform.Ports {
	p := transform.Ports{Inputs: []transform.InputPort{{Name: string(transform.Main)}}}
	for _, o := range []transform.OutputPort{
		{ID: portReport, Target: s.ReportTarget, Setting: "execution_result_target_transform", Label: "execution results"},
		{ID: portRows, Target: s.RowsTarget, Setting: "result_rows_target_transform", Label: "result rows"},
		{ID: portFiles, Target: s.FilesTarget, Setting: "result_files_target_transform", Label: "result files"},
		{ID: portInput, Target: s.InputTarget, Setting: "executors_output_transform", Label: "input rows"},
	} {
		if o.Target != "" {
			p.Outputs = append(p.Outputs, o)
		}
	}
	return p
}

// Output implements transform.Settings.
func (s *PipelineExecutorSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	out := transform.Schemas{}
	for _, p := range s.Ports(l).Outputs {
		out[p.ID] = s.schema(p.ID, l)
	}
	return out, nil
}

func (s *PipelineExecutorSettings) schema(p transform.Port, l transform.Links) *batch.Schema {
	switch p {
	case portReport:
		return s.reportSchema(l.Transform)
	case portRows:
		out := batch.NewSchema()
		for _, f := range s.RowsFields {
			field := batch.NewField(f.Name, f.Type)
			field.Length, field.Precision, field.Origin = f.Length, f.Precision, l.Transform
			out = out.With(field)
		}
		return out
	case portFiles:
		field := batch.NewField(s.FileField, batch.String)
		field.Origin = l.Transform
		return batch.NewSchema(field)
	}
	return inputOf(l)
}

type reportField struct {
	name  string
	typ   batch.Type
	value func(transform.Result) batch.Value
}

func (r *ExecutorReport) report() []reportField {
	number := func(get func(transform.Result) int64) func(transform.Result) batch.Value {
		return func(x transform.Result) batch.Value { return batch.IntegerValue(get(x)) }
	}
	return []reportField{
		{r.TimeField, batch.Integer, number(func(x transform.Result) int64 { return x.Elapsed.Milliseconds() })},
		{r.ResultField, batch.Boolean, func(x transform.Result) batch.Value { return batch.BooleanValue(x.OK) }},
		{r.ErrorsField, batch.Integer, number(func(x transform.Result) int64 { return x.Errors })},
		{r.ReadField, batch.Integer, number(func(x transform.Result) int64 { return x.Read })},
		{r.WrittenField, batch.Integer, number(func(x transform.Result) int64 { return x.Written })},
		{r.InputField, batch.Integer, number(func(x transform.Result) int64 { return x.Input })},
		{r.OutputField, batch.Integer, number(func(x transform.Result) int64 { return x.Output })},
		{r.RejectedField, batch.Integer, number(func(x transform.Result) int64 { return x.Rejected })},
		{r.UpdatedField, batch.Integer, number(func(x transform.Result) int64 { return x.Updated })},
		{r.DeletedField, batch.Integer, number(func(x transform.Result) int64 { return x.Deleted })},
		{r.FilesField, batch.Integer, number(func(x transform.Result) int64 { return x.Files })},
		{r.ExitField, batch.Integer, number(func(x transform.Result) int64 { return int64(x.ExitStatus) })},
		{r.LogField, batch.String, func(x transform.Result) batch.Value { return batch.StringValue(x.LogText) }},
		{r.ChannelField, batch.String, func(x transform.Result) batch.Value { return batch.StringValue(x.LogChannel) }},
	}
}

func (r *ExecutorReport) reportSchema(origin string) *batch.Schema {
	out := batch.NewSchema()
	for _, f := range r.report() {
		if f.name != "" {
			field := batch.NewField(f.name, f.typ)
			field.Origin = origin
			out = out.With(field)
		}
	}
	return out
}

// Start implements transform.Settings.
func (s *PipelineExecutorSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &executorProcessor{env: env, s: s, in: inputOf(l), fileField: -1, groupField: -1, ports: map[transform.Port]*batch.Schema{}, run: env.Children.RunPipeline}
	var err error
	for _, o := range s.Ports(l).Outputs {
		p.ports[o.ID] = s.schema(o.ID, l)
	}
	if p.size, err = s.GroupSize.Or(env, 0); err != nil {
		return nil, fmt.Errorf("rows per run: %w", err)
	}
	ms, err := s.GroupTime.Or(env, 0)
	if err != nil {
		return nil, fmt.Errorf("time per run: %w", err)
	}
	p.every = time.Duration(ms) * time.Millisecond
	if s.GroupField != "" {
		if p.groupField, err = fieldIndex(p.in, s.GroupField, "the group field"); err != nil {
			return nil, err
		}
	}
	if s.FilenameInField {
		if p.fileField, err = fieldIndex(p.in, s.FilenameField, "the file name field"); err != nil {
			return nil, err
		}
	} else if s.Filename.IsEmpty() {
		return nil, &engine.Error{Message: "no pipeline is named", Hint: "give the file of the pipeline to run"}
	}
	return p, nil
}

type executorProcessor struct {
	transform.Stateful
	env                   *transform.Env
	s                     *PipelineExecutorSettings
	in                    *batch.Schema
	size                  int
	every                 time.Duration
	groupField, fileField int
	ports                 map[transform.Port]*batch.Schema
	run                   func(context.Context, transform.Child) (transform.Result, error)
	inputInReport         bool // the report begins with the fields of the last input row

	group *batch.Batch // rows waiting for the next run
	key   batch.Value
	since time.Time
}

// Apply implements transform.RowWise.
func (p *executorProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	for i := range b.All() {
		if p.changes(b, i) {
			if err := p.execute(ctx, emit); err != nil {
				return err
			}
		}
		if p.group == nil {
			p.group = p.env.Alloc.Batch(p.in)
			p.since = p.env.Now()
		}
		p.group.AppendRow(b, i)
		if p.size > 0 && p.group.Physical() >= p.size {
			if err := p.execute(ctx, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// changes says whether row i belongs to another group than the waiting rows.
func (p *executorProcessor) changes(b *batch.Batch, i int) bool {
	if p.size > 0 {
		return false
	}
	if p.groupField >= 0 {
		v := b.Cols[p.groupField].Value(i)
		differs := p.group != nil && p.env.Semantics.CompareValues(v, p.key, false) != 0
		p.key = v
		return differs
	}
	return p.group != nil && p.every > 0 && p.env.Now().Sub(p.since) >= p.every
}

// Finish implements transform.Finisher.
func (p *executorProcessor) Finish(ctx context.Context, emit transform.Emit) error {
	return p.execute(ctx, emit)
}

// Close implements io.Closer.
func (p *executorProcessor) Close() error {
	if p.group != nil {
		p.group.Release()
		p.group = nil
	}
	return nil
}

// execute runs the child for the waiting rows; without rows it does not run.
func (p *executorProcessor) execute(ctx context.Context, emit transform.Emit) error {
	rows := p.group
	if rows == nil {
		return nil
	}
	p.group = nil
	defer rows.Release()
	child, err := p.child(rows)
	if err != nil {
		return err
	}
	result, err := p.run(ctx, child)
	if err != nil {
		return err
	}
	defer func() {
		for _, b := range result.Rows {
			b.Release()
		}
	}()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, f := range result.ResultFiles {
		p.env.Results.AddFile(f)
	}
	return p.report(result, rows, emit)
}

// child gives what to run: parameters come from the last row of the group, else
// the static value, else the inherited variable.
func (p *executorProcessor) child(rows *batch.Batch) (transform.Child, error) {
	c := transform.Child{InheritAll: p.s.InheritAll, Variables: map[string]string{}, Rows: []*batch.Batch{rows}}
	last := rows.Physical() - 1
	var err error
	if c.RunConfig, err = p.s.RunConfig.Eval(p.env); err != nil {
		return c, err
	}
	if p.fileField >= 0 {
		c.File, err = compatible(p.env, rows, p.fileField, last)
		if err == nil {
			c.File, err = p.env.Resolve(c.File)
		}
	} else {
		c.File, err = p.s.Filename.Eval(p.env)
	}
	if err != nil {
		return c, err
	}
	for _, q := range p.s.Parameters {
		if c.Variables[q.Variable], err = p.parameter(q, rows, last); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (p *executorProcessor) parameter(q ExecutorParameter, rows *batch.Batch, last int) (string, error) {
	if k := p.in.Index(q.Field); q.Field != "" && k >= 0 { // one that is missing counts as none, as in Hop
		text, err := compatible(p.env, rows, k, last)
		if err != nil || text != "" {
			return text, err
		}
	}
	text, err := q.Input.Eval(p.env)
	if err != nil || text != "" || !p.s.InheritAll {
		return text, err
	}
	text, _ = p.env.Vars.Get(q.Variable)
	return text, nil
}

func (p *executorProcessor) report(result transform.Result, rows *batch.Batch, emit transform.Emit) error {
	if s := p.ports[portReport]; s != nil {
		b := p.env.Alloc.Batch(s)
		k := 0
		if p.inputInReport {
			last := rows.Physical() - 1
			for ; k < p.in.Len(); k++ {
				b.Cols[k].AppendValue(rows.Cols[k].Value(last))
			}
		}
		for _, f := range p.s.report() {
			if f.name != "" {
				b.Cols[k].AppendValue(f.value(result))
				k++
			}
		}
		b.SetRows(1)
		if err := emit(portReport, b); err != nil {
			return err
		}
	}
	if s := p.ports[portFiles]; s != nil {
		b := p.env.Alloc.Batch(s)
		for _, f := range result.ResultFiles {
			b.Cols[0].AppendString(f.Path)
		}
		if err := emit(portFiles, b); err != nil {
			return err
		}
	}
	if p.ports[portInput] != nil {
		if err := emit(portInput, rows.Retain()); err != nil {
			return err
		}
	}
	return p.resultRows(result.Rows, emit)
}

func (p *executorProcessor) resultRows(list []*batch.Batch, emit transform.Emit) error {
	s := p.ports[portRows]
	if s == nil {
		return nil
	}
	for _, b := range list {
		if b.Schema.Len() < s.Len() {
			return p.mismatch(b.Schema, s)
		}
		cols := make([]int, s.Len())
		for k := range s.Fields {
			if b.Schema.Fields[k].Type != s.Fields[k].Type {
				return p.mismatch(b.Schema, s)
			}
			cols[k] = k
		}
		if err := emit(portRows, b.Pick(s, cols)); err != nil {
			return err
		}
	}
	return nil
}

func (p *executorProcessor) mismatch(got, want *batch.Schema) error {
	return &engine.Error{
		Message: "the result rows of the child differ from the fields given here",
		Hint:    fmt.Sprintf("it gives %s; here stands %s", describe(got), describe(want)),
	}
}

func describe(s *batch.Schema) string {
	var words []string
	for i := range s.Fields {
		words = append(words, s.Fields[i].Name+" ("+s.Fields[i].Type.String()+")")
	}
	return strings.Join(words, ", ")
}
