package script

import (
	"errors"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch"
)

// The objects below are seen by scripts with Hop's method names, their first
// letter small.

// ResultObject is previous_result.
type ResultObject struct {
	host *host
	r    *action.Result
}

// GetResult gives the outcome.
func (o *ResultObject) GetResult() bool { return o.r.OK }

// IsResult is GetResult under its other name.
func (o *ResultObject) IsResult() bool { return o.r.OK }

// GetNrErrors gives the number of errors.
func (o *ResultObject) GetNrErrors() int64 { return o.r.Errors }

// GetNrLinesRead gives the rows read.
func (o *ResultObject) GetNrLinesRead() int64 { return o.r.Read }

// GetNrLinesWritten gives the rows written.
func (o *ResultObject) GetNrLinesWritten() int64 { return o.r.Written }

// GetNrLinesInput gives the rows from files and databases.
func (o *ResultObject) GetNrLinesInput() int64 { return o.r.Input }

// GetNrLinesOutput gives the rows to files and databases.
func (o *ResultObject) GetNrLinesOutput() int64 { return o.r.Output }

// GetNrLinesUpdated gives the rows updated.
func (o *ResultObject) GetNrLinesUpdated() int64 { return o.r.Updated }

// GetNrLinesRejected gives the rows rejected.
func (o *ResultObject) GetNrLinesRejected() int64 { return o.r.Rejected }

// GetNrLinesDeleted gives the rows deleted.
func (o *ResultObject) GetNrLinesDeleted() int64 { return o.r.Deleted }

// GetNrFilesRetrieved gives the files retrieved.
func (o *ResultObject) GetNrFilesRetrieved() int64 { return o.r.Files }

// GetExitStatus gives the exit status of the last command.
func (o *ResultObject) GetExitStatus() int { return o.r.ExitStatus }

// GetEntryNr gives the number of the action.
func (o *ResultObject) GetEntryNr() int { return o.r.EntryNumber }

// IsStopped says whether something was stopped.
func (o *ResultObject) IsStopped() bool { return o.r.Stopped }

// GetLogText gives what was logged so far, the latest first.
func (o *ResultObject) GetLogText() string { return o.r.LogText }

// GetLogChannelId gives the id of the last execution.
func (o *ResultObject) GetLogChannelId() string { return o.r.LogChannel }

// GetElapsedTimeMillis gives the time of the last execution.
func (o *ResultObject) GetElapsedTimeMillis() int64 { return o.r.Elapsed.Milliseconds() }

// GetRows gives the result rows.
func (o *ResultObject) GetRows() *ListObject { return newRows(o.host, o.r) }

// GetResultFilesList gives the result files.
func (o *ResultObject) GetResultFilesList() *ListObject {
	l := &ListObject{}
	for _, f := range o.r.ResultFiles {
		l.list = append(l.list, &FileObject{path: f.Path, kind: f.Type})
	}
	return l
}

// GetResultFiles is GetResultFilesList.
func (o *ResultObject) GetResultFiles() *ListObject { return o.GetResultFilesList() }

// ListObject is a list as Java has it.
type ListObject struct{ list []any }

// Size is the number of items.
func (l *ListObject) Size() int { return len(l.list) }

// IsEmpty says whether there is no item.
func (l *ListObject) IsEmpty() bool { return len(l.list) == 0 }

// Get gives an item by number, from 0.
func (l *ListObject) Get(i int) (any, error) {
	if i < 0 || i >= len(l.list) {
		return nil, fmt.Errorf("index %d is out of bounds: the list has %d items", i, len(l.list))
	}
	return l.list[i], nil
}

// FileObject is a result file.
type FileObject struct{ path, kind string }

// GetFile gives the file's path.
func (f *FileObject) GetFile() string { return f.path }

// GetTypeCode gives the type of the entry.
func (f *FileObject) GetTypeCode() string { return f.kind }

// ToString gives the path.
func (f *FileObject) ToString() string { return f.path }

// RowObject is one result row. It must not outlive the result.
type RowObject struct {
	host *host
	b    *batch.Batch
	row  int
}

func newRows(h *host, r *action.Result) *ListObject {
	l := &ListObject{list: []any{}}
	for _, b := range r.Rows {
		for i := range b.All() {
			l.list = append(l.list, &RowObject{h, b, i})
		}
	}
	return l
}

// column finds a field by name or by number.
func (o *RowObject) column(field any) (int, error) {
	switch f := field.(type) {
	case string:
		if k := o.b.Schema.Index(f); k >= 0 {
			return k, nil
		}
	case int64:
		if f >= 0 && int(f) < o.b.Schema.Len() {
			return int(f), nil
		}
	}
	return 0, fmt.Errorf("the result rows have no field %v", field)
}

func (o *RowObject) value(field any) (batch.Value, *batch.Codec, error) {
	k, err := o.column(field)
	if err != nil {
		return batch.Value{}, nil, err
	}
	codec, err := o.host.env.Semantics.Codec(&o.b.Schema.Fields[k])
	if err != nil {
		return batch.Value{}, nil, err
	}
	col, err := o.b.Col(k, codec)
	if err != nil {
		return batch.Value{}, nil, err
	}
	return col.Value(o.row), codec, nil
}

// GetString gives a field as text; a null gives the other value.
func (o *RowObject) GetString(field any, otherwise any) (any, error) {
	v, codec, err := o.value(field)
	if err != nil || !v.Valid {
		return otherwise, err
	}
	return string(codec.AppendCompatible(nil, v)), nil
}

// GetInteger gives a field as a whole number; a null gives the other value.
func (o *RowObject) GetInteger(field any, otherwise any) (any, error) {
	n, ok, err := o.number(field)
	if err != nil || !ok {
		return otherwise, err
	}
	return int64(n), nil
}

// GetNumber gives a field as a number; a null gives the other value.
func (o *RowObject) GetNumber(field any, otherwise any) (any, error) {
	n, ok, err := o.number(field)
	if err != nil || !ok {
		return otherwise, err
	}
	return n, nil
}

func (o *RowObject) number(field any) (float64, bool, error) {
	v, codec, err := o.value(field)
	if err != nil || !v.Valid {
		return 0, false, err
	}
	switch v.Type {
	case batch.Integer:
		return float64(v.Int), true, nil
	case batch.Number:
		return v.Float, true, nil
	}
	n, err := action.ParseNumber(string(codec.AppendCompatible(nil, v)))
	return n, err == nil, err
}

// GetBoolean gives a field as true or false; a null gives the other value.
func (o *RowObject) GetBoolean(field any, otherwise any) (any, error) {
	v, codec, err := o.value(field)
	if err != nil || !v.Valid {
		return otherwise, err
	}
	if v.Type == batch.Boolean {
		return v.Bool(), nil
	}
	switch string(codec.AppendCompatible(nil, v)) {
	case "Y", "y", "true", "TRUE", "1":
		return true, nil
	}
	return false, nil
}

// Size is the number of fields.
func (o *RowObject) Size() int { return o.b.Schema.Len() }

// ToString gives all fields as text.
func (o *RowObject) ToString() (string, error) {
	var out strings.Builder
	out.WriteByte('[')
	for k := range o.b.Schema.Fields {
		text, err := o.GetString(int64(k), "null")
		if err != nil {
			return "", err
		}
		if k > 0 {
			out.WriteString(", ")
		}
		_, _ = fmt.Fprintf(&out, "%s=%v", o.b.Schema.Fields[k].Name, text)
	}
	out.WriteByte(']')
	return out.String(), nil
}

// WorkflowObject is parent_workflow.
type WorkflowObject struct{ host *host }

// GetVariable gives a variable, else the other value, else null.
func (o *WorkflowObject) GetVariable(name string, otherwise ...any) any {
	if v, ok := o.host.env.Vars.Get(name); ok {
		return v
	}
	if len(otherwise) > 0 {
		return otherwise[0]
	}
	return nil
}

// SetVariable sets a variable of the workflow.
func (o *WorkflowObject) SetVariable(name, value string) error {
	return o.host.env.Scopes.Set(name, value, action.ScopeWorkflow)
}

// Resolve replaces variables in a text.
func (o *WorkflowObject) Resolve(text string) (string, error) { return o.host.env.Resolve(text) }

// GetWorkflowName gives the name of the workflow.
func (o *WorkflowObject) GetWorkflowName() string { return o.host.env.Workflow.Name }

// GetName is GetWorkflowName.
func (o *WorkflowObject) GetName() string { return o.host.env.Workflow.Name }

// GetFilename gives the file of the workflow.
func (o *WorkflowObject) GetFilename() string { return o.host.env.Workflow.File }

// GetParentWorkflow gives the workflow above.
func (o *WorkflowObject) GetParentWorkflow() (*ParentObject, error) {
	return &ParentObject{host: o.host}, nil
}

// ParentObject is the workflow above.
type ParentObject struct{ host *host }

// GetVariable gives a variable of the workflow above, null when it has none.
func (o *ParentObject) GetVariable(name string, otherwise ...any) any {
	if v, ok := o.host.env.Scopes.Variable(name, action.ScopeParent); ok {
		return v
	}
	if len(otherwise) > 0 {
		return otherwise[0]
	}
	return nil
}

// SetVariable sets a variable of this workflow and of the one above.
func (o *ParentObject) SetVariable(name, value string) error {
	err := o.host.env.Scopes.Set(name, value, action.ScopeParent)
	if errors.Is(err, action.ErrNoParent) {
		return fmt.Errorf("variable %s: no workflow runs this one: %w", name, err)
	}
	return err
}

// LogObject is log.
type LogObject struct{ host *host }

// LogBasic logs a line at level Basic.
func (o *LogObject) LogBasic(message string) { o.host.log(engine.LevelBasic, message) }

// LogMinimal logs a line at level Minimal.
func (o *LogObject) LogMinimal(message string) { o.host.log(engine.LevelMinimal, message) }

// LogDetailed logs a line at level Detailed.
func (o *LogObject) LogDetailed(message string) { o.host.log(engine.LevelDetailed, message) }

// LogDebug logs a line at level Debug.
func (o *LogObject) LogDebug(message string) { o.host.log(engine.LevelDebug, message) }

// LogError logs an error.
func (o *LogObject) LogError(message string) { o.host.log(engine.LevelError, message) }

// SystemObject is java.lang.System, as far as variables go.
type SystemObject struct{ host *host }

// SetProperty sets a variable everywhere in this process.
func (o *SystemObject) SetProperty(name, value string) error {
	return o.host.env.Scopes.Set(name, value, action.ScopeProcess)
}

// GetProperty gives a variable, null when it is not defined.
func (o *SystemObject) GetProperty(name string) any {
	if v, ok := o.host.env.Vars.Get(name); ok {
		return v
	}
	return nil
}
