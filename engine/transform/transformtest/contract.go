package transformtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/transform"
)

// Subject says how Contract sets a definition up.
type Subject struct {
	// XML is what stands inside of <transform>: settings with which it starts.
	// Contract replaces FIELD by the name of a field of each type in turn. Empty:
	// only the defaults are tried.
	XML string
	// From and Info name the transforms of the main and of the info inputs; one
	// main input when both are empty. All inputs have the fields of Fields.
	From, Info []string
	// Source says that no input is connected when it runs with XML.
	Source bool
	// Outputs are the targets of the hops; "out" when nil.
	Outputs []string
	// NeverStarts says that XML cannot start with fakes alone, which must then be
	// told clearly.
	NeverStarts bool
	// Env may change the environment before Output.
	Env func(testing.TB, *transform.Env)
}

// Fields lists one field of every type a user may select, named after its type
// in lower case ("string", "internet address").
func Fields() []batch.Field {
	var list []batch.Field
	for _, t := range batch.SelectableTypes() {
		list = append(list, batch.NewField(strings.ToLower(t.String()), t))
	}
	return list
}

// moment is the time in the rows of Contract.
var moment = time.Date(2024, 2, 29, 12, 30, 1, 5e6, time.UTC)

// valueRows are rows for Fields: values, nulls between them, one row twice.
func valueRows() [][]any {
	uuid := string([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	big, _ := decimal.Parse("12345678901234567890.125")
	full := []any{"b;a", 7, 1.5, big, true, moment, moment, []byte{0, 255}, `{"a":[1,null]}`, uuid, string([]byte{127, 0, 0, 1})}
	low := []any{"", -3, 0.0, decimal.FromInt64(-2), false, time.UnixMilli(0).UTC(), time.UnixMilli(-1).UTC(), []byte{}, `"x"`, uuid, string([]byte{10, 0, 0, 1})}
	mixed := slices.Clone(full)
	for i := range mixed {
		if i%2 == 0 {
			mixed[i] = nil
		}
	}
	return [][]any{low, mixed, nullRow(), full, full}
}

func nullRow() []any { return make([]any, len(batch.SelectableTypes())) }

func nullRows(n int) [][]any {
	var rows [][]any
	for range n {
		rows = append(rows, nullRow())
	}
	return rows
}

// errDownstream is what a broken receiver answers.
var errDownstream = errors.New("the receiver is gone")

// enoughBatches is the number of batches after which a trial is ended: a row may
// ask for billions of others.
const enoughBatches = 20

// trial is one way to treat a transform.
type trial struct {
	feed feed
	rows [][]any
	// handles draws an error hop.
	handles bool
	// cancelled ends the context before the run; cancelAt and failAt end it, or
	// refuse the batch, at the n-th batch that is emitted.
	cancelled        bool
	cancelAt, failAt int
}

func trials(handlesErrors bool) map[string]trial {
	list := map[string]trial{
		"no rows":                {feed: feed{size: 3}},
		"nulls":                  {feed: feed{size: 2}, rows: nullRows(5)},
		"nulls between others":   {feed: feed{size: 2, junked: true}, rows: nullRows(5)},
		"values":                 {feed: feed{size: 2}, rows: valueRows()},
		"parallel":               {feed: feed{size: 1, parallel: true}, rows: slices.Concat(valueRows(), nullRows(3), valueRows())},
		"raw":                    {feed: feed{size: 2, raw: true}, rows: valueRows()},
		"raw nulls":              {feed: feed{size: 2, raw: true}, rows: nullRows(3)},
		"cancelled before":       {feed: feed{size: 2}, rows: valueRows(), cancelled: true},
		"cancelled at a batch":   {feed: feed{size: 2}, rows: valueRows(), cancelAt: 1},
		"receiver fails":         {feed: feed{size: 2}, rows: valueRows(), failAt: 1},
		"receiver fails, nulls":  {feed: feed{size: 2}, rows: nullRows(3), failAt: 1},
		"receiver fails later":   {feed: feed{size: 1}, rows: valueRows(), failAt: 2},
		"receiver fails, raw":    {feed: feed{size: 1, raw: true}, rows: valueRows(), failAt: 2},
		"receiver fails, junked": {feed: feed{size: 2, junked: true}, rows: valueRows(), failAt: 1},
	}
	if !handlesErrors {
		return list
	}
	for name, t := range maps.Clone(list) {
		t.handles = true
		list[name+", error hop"] = t
	}
	return list
}

// Contract proves what every transform owes its engine: with its default
// settings, connected or not, and with those of the subject it either tells
// clearly why it cannot start, naming a setting, a field or an input, or it runs
// over no rows, null rows, values of every type and raw columns, ends when its
// context does and when its receiver fails, and never panics, leaks a batch,
// forgets a failed emit or leaves a goroutine behind.
func Contract(t *testing.T, d transform.Definition, s Subject) {
	t.Run("defaults", func(t *testing.T) {
		c := contract{definition: d, subject: Subject{From: s.From, Info: s.Info, Env: s.Env}, settings: d.Default}
		c.all(t)
	})
	t.Run("defaults without input", func(t *testing.T) {
		c := contract{definition: d, subject: Subject{Source: true, Env: s.Env}, settings: d.Default}
		c.all(t)
	})
	if s.XML == "" {
		return
	}
	if !strings.Contains(s.XML, "FIELD") {
		t.Run("settings", func(t *testing.T) { c := contractOf(t, d, s, ""); c.all(t); c.started(t) })
		return
	}
	starts := false
	for _, f := range Fields() {
		t.Run("settings on "+f.Name, func(t *testing.T) {
			c := contractOf(t, d, s, f.Name)
			c.all(t)
			starts = starts || c.ran
		})
	}
	if !starts && !s.NeverStarts {
		t.Errorf("with no type of field the transform has run:\n%s", s.XML)
	}
}

// contract treats one definition with one kind of settings.
type contract struct {
	definition transform.Definition
	subject    Subject
	settings   func() transform.Settings
	ran        bool // some trial came as far as running
	refusal    error
}

func contractOf(t *testing.T, d transform.Definition, s Subject, field string) *contract {
	xml := strings.ReplaceAll(s.XML, "FIELD", field)
	Settings(t, d, xml)
	return &contract{definition: d, subject: s, settings: func() transform.Settings { return Settings(t, d, xml) }}
}

func (c *contract) started(t *testing.T) {
	if !c.ran && !c.subject.NeverStarts {
		t.Errorf("the transform has not run: %v", c.refusal)
	}
}

func (c *contract) all(t *testing.T) {
	list := trials(c.definition.HandlesErrors)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		t.Run(name, func(t *testing.T) {
			// The bubble ends when every goroutine in it has; one that is left
			// behind fails the test.
			synctest.Test(t, func(t *testing.T) { c.try(t, list[name]) })
		})
	}
}

// try runs one trial and judges it.
func (c *contract) try(t *testing.T, tr trial) {
	env, _ := NewEnv(t, nil)
	cs := Case{Definition: c.definition, Inputs: c.inputs(tr.rows), Outputs: c.subject.Outputs}
	if tr.handles {
		named := transform.ErrorLink{Target: "errors"}.Named()
		cs.Error, env.Errors = &named, &named
	}
	if c.subject.Env != nil {
		c.subject.Env(t, env)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if tr.cancelled {
		cancel()
	}
	r := &receiver{trial: tr, cancel: cancel}
	out := &Output{Rows: map[transform.Port][]string{}, Env: env, wrap: r.wrap}
	panicked, err := c.drive(ctx, out, cs, tr, env)
	if panicked != "" {
		t.Fatalf("panic: %s", panicked)
	}
	c.judge(t, r, err, out)
	if results, ok := env.Results.(*Results); ok {
		results.release()
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Errorf("after the run (error %v): %v", out.Err, err)
	}
	if m, ok := env.Memory.(*Memory); ok && m.used != 0 {
		t.Errorf("%d bytes of memory were not given back", m.used)
	}
}

// refused is an error of Output or Start.
type refused struct{ error }

func (c *contract) drive(ctx context.Context, out *Output, cs Case, tr trial, env *transform.Env) (panicked string, err error) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	s := c.settings()
	links := cs.links(env)
	if ch, ok := s.(transform.Checker); ok {
		for range ch.Check(links, env.Design) { // it must not panic, whatever it finds
		}
	}
	transform.PortsOf(s, links)
	if out.Schemas, err = s.Output(links, env.Design); err != nil {
		return "", refused{err}
	}
	out.refuse = func(err error) error { return refused{err} }
	return "", out.drive(ctx, cs, tr.feed, s, links, env)
}

func (c *contract) judge(t *testing.T, r *receiver, err error, out *Output) {
	if _, ok := errors.AsType[refused](err); ok {
		c.refusal = err
		c.clear(t, err.Error())
		return
	}
	c.ran = true
	if r.refusals > 0 && !errors.Is(err, errDownstream) {
		t.Errorf("a failed emit was not returned; the run ended with %v", err)
	}
	if r.refusals > 1 {
		t.Errorf("emitted %d batches more after one was refused", r.refusals-1)
	}
	if err != nil && strings.TrimSpace(err.Error()) == "" {
		t.Error("an error without a text")
	}
	for port := range out.Rows {
		if _, ok := out.Schemas[port]; !ok {
			t.Errorf("rows on port %q, which Output does not name", port)
		}
	}
	if err != nil && strings.Contains(err.Error(), "which Output does not name") || err != nil && strings.Contains(err.Error(), "differs from Output's") {
		t.Errorf("%v", err)
	}
}

// clear fails a refusal that names no setting, field or input.
func (c *contract) clear(t *testing.T, text string) {
	list, err := c.definition.Settings()
	if err != nil {
		t.Fatal(err)
	}
	lower := strings.ToLower(text)
	for _, w := range append(settingWords(list), "input", "hop", "field", "setting", "connection", "file") {
		if strings.Contains(lower, strings.ToLower(w)) {
			return
		}
	}
	t.Errorf("the refusal names no setting, field or input: %s", text)
}

func settingWords(list []transform.Setting) []string {
	var words []string
	for i := range list {
		s := &list[i]
		words = append(words, s.Title(), s.Name)
		words = append(words, s.Path...)
		words = append(words, settingWords(s.Items)...)
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func (c *contract) inputs(rows [][]any) []Input {
	if c.subject.Source {
		return nil
	}
	from := c.subject.From
	if len(from)+len(c.subject.Info) == 0 {
		from = []string{"in1"}
	}
	var list []Input
	for _, f := range from {
		list = append(list, Input{From: f, Fields: Fields(), Rows: rows})
	}
	for _, f := range c.subject.Info {
		list = append(list, Input{From: f, Info: true, Fields: Fields(), Rows: rows})
	}
	return list
}

// receiver stands behind the transform and is as unfriendly as the trial says.
type receiver struct {
	trial  trial
	cancel context.CancelFunc

	mu       sync.Mutex // guards what follows
	batches  int
	refusals int
}

func (r *receiver) wrap(emit transform.Emit) transform.Emit {
	return func(port transform.Port, b *batch.Batch) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.batches++
		if r.trial.cancelAt == r.batches || r.batches >= enoughBatches {
			r.cancel()
		}
		if r.batches > enoughBatches {
			b.Release()
			return context.Canceled
		}
		if r.trial.failAt > 0 && r.batches >= r.trial.failAt {
			r.refusals++
			b.Release()
			return errDownstream
		}
		return emit(port, b)
	}
}

// parallel gives the batches to a Stateless processor on as many goroutines.
func parallel(ctx context.Context, p transform.RowWise, in, info []transform.Reader, emit transform.Emit) error {
	if pr, ok := p.(transform.Preparer); ok {
		if err := pr.Prepare(ctx, info); err != nil {
			return err
		}
	}
	var wait sync.WaitGroup
	var lock sync.Mutex
	var all error
	for _, r := range in {
		for {
			b, err := r.Next(ctx)
			if err != nil {
				break
			}
			wait.Go(func() {
				defer b.Release()
				err := apply(ctx, p, b, emit)
				lock.Lock()
				defer lock.Unlock()
				all = errors.Join(all, err)
			})
		}
	}
	wait.Wait()
	if fi, ok := p.(transform.Finisher); ok && all == nil {
		return fi.Finish(ctx, emit)
	}
	return all
}

// rawBatch makes a batch whose columns hold the rows as text.
func rawBatch(env *transform.Env, schema *batch.Schema, rows [][]any) *batch.Batch {
	typed := Batch(env, schema, rows)
	defer typed.Release()
	cols := make([]*batch.Column, schema.Len())
	for k := range cols {
		codec, err := env.Semantics.Codec(&schema.Fields[k])
		if err != nil {
			panic(err)
		}
		cols[k] = env.Alloc.RawColumn(schema.Fields[k].Type)
		for i := range rows {
			if typed.Cols[k].IsNull(i) {
				cols[k].AppendNull()
				continue
			}
			cols[k].AppendBytes(codec.AppendText(nil, typed.Cols[k], i))
		}
	}
	return env.Alloc.Assemble(schema, cols, len(rows))
}
