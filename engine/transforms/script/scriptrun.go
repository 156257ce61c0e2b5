package script

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/dop251/goja"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/expr/javascript"
	"sluice/engine/transform"
)

const (
	scriptErrorCode = "SCR-001"
	statusVariable  = "pipeline_Status"
)

// scriptCore is what all runtimes of a transform copy share.
type scriptCore struct {
	env      *transform.Env
	settings *ScriptValueSettings
	plan     *scriptPlan
	scripts  *scripts
	in       *batch.Schema
	used     []int // fields that the scripts name
}

// parallelScript runs a script without memory in as many runtimes as there are
// workers.
type parallelScript struct {
	transform.Stateless
	*scriptCore
	idle sync.Pool
}

// Apply implements transform.RowWise.
func (p *parallelScript) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	run, ok := p.idle.Get().(*scriptRun)
	if !ok {
		run = p.newRun()
	}
	defer p.idle.Put(run)
	return run.batch(ctx, b, emit)
}

// orderedScript has one runtime that sees the rows in order.
type orderedScript struct {
	transform.Stateful
	*scriptCore
	run *scriptRun // nil before the first row
}

// Apply implements transform.RowWise.
func (p *orderedScript) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if p.run == nil {
		p.run = p.newRun()
	}
	return p.run.batch(ctx, b, emit)
}

// Finish implements transform.Finisher: the end script runs when there was a row,
// as in Hop.
func (p *orderedScript) Finish(ctx context.Context, _ transform.Emit) error {
	if p.run == nil || p.scripts.end == nil {
		return nil
	}
	if _, err := p.run.vm.Run(ctx, p.scripts.end); err != nil {
		return &engine.Error{Transform: p.env.Transform, Err: err}
	}
	return nil
}

// scriptRun is one runtime with what it knows of the rows so far.
type scriptRun struct {
	*scriptCore
	vm         *javascript.Runtime
	started    bool
	first      bool // no execution has ended well yet
	withStatus bool
	ended      bool // ABORT_PIPELINE: later rows are dropped
	wantsRow   bool // the script reads the array of all values

	b     *batch.Batch
	row   int
	extra *batch.Batch // rows made by putRow and, then, all others; nil in the common case
	bad   error        // of putRow
}

func (c *scriptCore) newRun() *scriptRun {
	r := &scriptRun{scriptCore: c, first: true}
	env := c.env
	r.vm = javascript.New(javascript.Host{
		Transform: env.Transform, Pipeline: env.Pipeline.Name, Location: env.Semantics.Location, Now: env.Now, Files: env.Files,
		Variable: env.Vars.Get,
		SetVariable: func(name, value, scope string) error {
			env.Vars.Set(name, value)
			return env.Scopes.SetVariable(name, value, scriptScopes[scope])
		},
		Log:   func(level, message string) { scriptLog(env.Log, level)("Script message", "text", message) },
		Count: r.count,
	})
	r.defineRows()
	return r
}

var scriptScopes = map[string]transform.Scope{"s": transform.ScopeProcess, "r": transform.ScopeRoot, "p": transform.ScopeParent, "g": transform.ScopeGrandParent}

// scriptLog picks the function for one of Hop's letters of log levels.
func scriptLog(log *slog.Logger, level string) func(msg string, args ...any) {
	switch level {
	case "e":
		return log.Error
	case "m", "b":
		return log.Info
	}
	return log.Debug
}

func (r *scriptRun) count(kind string) int64 {
	c := r.env.Counters
	switch kind {
	case "i":
		return c.Input.Load()
	case "o":
		return c.Output.Load()
	case "r":
		return c.Read.Load()
	case "u":
		return c.Updated.Load()
	case "w":
		return c.Written.Load()
	case "e":
		return c.Rejected.Load()
	}
	return 0
}

// result is what the rows of one batch became.
type result struct {
	cols []*batch.Column // one per field of the settings; nil: none
	keep []int32
	next int
}

// batch runs the script for the rows of one batch.
func (r *scriptRun) batch(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	r.b = b
	res := &result{cols: make([]*batch.Column, len(r.plan.at)), keep: make([]int32, 0, b.Rows())}
	for k, i := range r.plan.at {
		if i >= 0 {
			res.cols[k] = r.env.Alloc.Column(r.plan.schema.Fields[i].Type)
		}
	}
	defer res.release()
	if r.scripts.mentions("putRow") {
		r.extra = r.env.Alloc.Batch(r.plan.schema)
	}
	rej := r.env.Rejects(b)
	err := r.rows(ctx, b, res, rej, emit)
	if err == nil {
		res.pad(b.Physical())
		err = r.finishBatch(res, emit)
	}
	if r.extra != nil {
		r.extra.Release()
		r.extra = nil
	}
	if err != nil {
		return err
	}
	return rej.Flush(b, emit)
}

func (r *scriptRun) rows(ctx context.Context, b *batch.Batch, res *result, rej *transform.Rejects, emit transform.Emit) error {
	for i := range b.All() {
		if r.ended {
			return nil
		}
		res.pad(i)
		r.row = i
		kept, err := r.one(ctx, i, res)
		if err != nil {
			res.undo(i)
			if fatal := r.reject(ctx, rej, i, err); fatal != nil {
				return fatal
			}
			continue
		}
		if !kept {
			continue
		}
		res.keep = append(res.keep, int32(i))
		if r.extra == nil {
			continue
		}
		r.append(res, i)
		if r.extra.Full() {
			full := r.extra
			r.extra = r.env.Alloc.Batch(r.plan.schema)
			if err := emit(transform.Main, full); err != nil {
				return err
			}
		}
	}
	return nil
}

var errScriptStatus = errors.New("the script set pipeline_Status to ERROR_PIPELINE")

// reject records a row that failed; ends the transform for a failure that is not
// the row's own.
func (r *scriptRun) reject(ctx context.Context, rej *transform.Rejects, i int, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if errors.Is(err, errScriptStatus) {
		return &engine.Error{Transform: r.env.Transform, Row: rowNumber(r.b, i), Err: err}
	}
	return rej.Add(i, transform.RowError{Code: scriptErrorCode, Err: err})
}

// one runs the script for a row and appends its results; false drops the row.
func (r *scriptRun) one(ctx context.Context, i int, res *result) (bool, error) {
	if err := r.setFields(i); err != nil {
		return false, err
	}
	if !r.started {
		r.started = true
		if r.scripts.start != nil {
			if _, err := r.vm.Run(ctx, r.scripts.start); err != nil {
				return false, err
			}
		}
	}
	if _, err := r.vm.Run(ctx, r.scripts.row); err != nil {
		return false, err
	}
	if r.bad != nil {
		err := r.bad
		r.bad = nil
		return false, err
	}
	if r.first {
		r.first = false
		r.withStatus = r.vm.Global(statusVariable) != nil
	}
	if r.withStatus {
		if kept, err := r.status(); !kept {
			return false, err
		}
	}
	return true, r.results(i, res)
}

// status reads pipeline_Status; false drops the row.
func (r *scriptRun) status() (bool, error) {
	v := r.vm.Global(statusVariable)
	if v == nil {
		return true, nil
	}
	switch n := v.ToInteger(); n {
	case javascript.ContinuePipeline:
		return true, nil
	case javascript.AbortPipeline:
		r.ended = true
		r.env.Stop(transform.StopNow, fmt.Sprintf("the script of %q set pipeline_Status to ABORT_PIPELINE", r.env.Transform))
	case javascript.ErrorPipeline:
		return false, errScriptStatus
	}
	return false, nil
}

func (r *scriptRun) setFields(i int) error {
	if r.wantsRow {
		if err := r.vm.SetAny("row", r.rowCopy(r.in.Len())); err != nil {
			return err
		}
	}
	for _, k := range r.used {
		if err := r.vm.Set(r.in.Fields[k].Name, r.b.Cols[k].Value(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *scriptRun) results(i int, res *result) error {
	for k, at := range r.plan.at {
		if at < 0 {
			continue
		}
		f := &r.plan.schema.Fields[at]
		v, err := r.vm.Value(r.vm.Global(r.settings.Fields[k].Name), f.Type)
		if err != nil {
			return fmt.Errorf("variable %q: %w", r.settings.Fields[k].Name, err)
		}
		res.cols[k].AppendValue(v)
	}
	res.next = i + 1
	return nil
}

// pad makes the rows before n null that have no results.
func (res *result) pad(n int) {
	for ; res.next < n; res.next++ {
		for _, c := range res.cols {
			if c != nil {
				c.AppendNull()
			}
		}
	}
}

// undo drops what a failed row appended.
func (res *result) undo(i int) {
	for _, c := range res.cols {
		if c != nil {
			c.Truncate(i)
		}
	}
	res.next = i
}

func (res *result) release() {
	for _, c := range res.cols {
		if c != nil {
			c.Release()
		}
	}
}

// finishBatch emits the rows: the input's columns with the results in place, or
// the rows that were built one by one.
func (r *scriptRun) finishBatch(res *result, emit transform.Emit) error {
	if r.extra != nil {
		if r.extra.Physical() == 0 {
			return nil
		}
		return emit(transform.Main, r.extra.Retain())
	}
	if len(res.keep) == 0 {
		return nil
	}
	cols := r.assemble(res)
	for _, c := range cols {
		c.Retain()
	}
	out := r.env.Alloc.Assemble(r.plan.schema, cols, r.b.Physical())
	if len(res.keep) < r.b.Physical() {
		out.Sel = res.keep
	}
	return emit(transform.Main, out)
}

// assemble gives the output's columns without holding them; the last result for a
// position wins.
func (r *scriptRun) assemble(res *result) []*batch.Column {
	cols := make([]*batch.Column, r.plan.schema.Len())
	copy(cols, r.b.Cols)
	for k, at := range r.plan.at {
		if at >= 0 {
			cols[at] = res.cols[k]
		}
	}
	return cols
}

// append adds row i to the rows that putRow makes.
func (r *scriptRun) append(res *result, i int) {
	for k, c := range r.assemble(res) {
		r.extra.Cols[k].AppendFrom(c, i)
	}
	r.extra.SetRows(r.extra.Physical())
}

// defineRows gives scripts row, rowMeta and the functions on rows, when they use
// them.
func (r *scriptRun) defineRows() {
	for name, f := range map[string]any{
		"getInputRowMeta":  func() *rowMeta { return &rowMeta{r.in} },
		"getOutputRowMeta": func() *rowMeta { return &rowMeta{r.plan.schema} },
		"createRowCopy":    r.rowCopy,
		"putRow":           r.putRow,
	} {
		if r.scripts.mentions(name) {
			if err := r.vm.SetAny(name, f); err != nil {
				r.bad = err
			}
		}
	}
	for _, s := range r.scripts.all() {
		r.wantsRow = r.wantsRow || s.Uses("row")
	}
	if r.scripts.mentions("rowMeta") {
		if err := r.vm.SetAny("rowMeta", &rowMeta{r.in}); err != nil {
			r.bad = err
		}
	}
}

// rowCopy gives the values of the current row, as long as n.
func (r *scriptRun) rowCopy(n int) []any {
	row := make([]any, max(0, min(n, 1<<16)))
	for k := range min(len(row), len(r.b.Cols)) {
		row[k] = r.vm.Script(r.b.Cols[k].Value(r.row))
	}
	return row
}

// putRow adds a row of the output.
func (r *scriptRun) putRow(row []goja.Value) {
	values := make([]batch.Value, r.plan.schema.Len())
	for k := range values {
		f := &r.plan.schema.Fields[k]
		values[k] = batch.Null(f.Type)
		if k >= len(row) {
			continue
		}
		v, err := r.vm.Value(row[k], f.Type)
		if err != nil {
			r.bad = fmt.Errorf("putRow: field %q: %w", f.Name, err)
			return
		}
		values[k] = v
	}
	for k, v := range values {
		r.extra.Cols[k].AppendValue(v)
	}
	r.extra.SetRows(r.extra.Physical())
}

// rowMeta is a schema as scripts see it.
type rowMeta struct{ schema *batch.Schema }

// Size is the number of fields.
func (m *rowMeta) Size() int { return m.schema.Len() }

// IndexOfValue finds a field, -1 when there is none.
func (m *rowMeta) IndexOfValue(name string) int { return m.schema.Index(name) }

// GetFieldNames lists the names.
func (m *rowMeta) GetFieldNames() []string { return m.schema.Names() }

// GetValueMeta describes field i, null when there is none.
func (m *rowMeta) GetValueMeta(i int) *valueMeta {
	if i < 0 || i >= m.schema.Len() {
		return nil
	}
	return &valueMeta{&m.schema.Fields[i]}
}

// valueMeta is a field as scripts see it.
type valueMeta struct{ field *batch.Field }

// GetName is the field's name.
func (m *valueMeta) GetName() string { return m.field.Name }

// GetType is Hop's number of the type.
func (m *valueMeta) GetType() int { return int(m.field.Type) }

// GetTypeDesc is the type's name.
func (m *valueMeta) GetTypeDesc() string { return m.field.Type.String() }

// GetLength is the length, -1 when there is none.
func (m *valueMeta) GetLength() int { return m.field.Length }

// GetPrecision is the precision, -1 when there is none.
func (m *valueMeta) GetPrecision() int { return m.field.Precision }
