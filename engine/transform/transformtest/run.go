// Package transformtest runs one transform by hand, without the pipeline engine:
// rows in, rows out, leaks checked.
//
// Run feeds a Case several ways (batches of three rows, of one row, and batches
// in which half of the rows are not selected) and fails when the answers differ,
// so that every table test also proves that batch boundaries and selections do
// not matter.
package transformtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Input is what arrives over one hop. Rows hold Go values: nil, string, []byte,
// int, int64, float64, bool, time.Time, decimal.Decimal or batch.Value.
type Input struct {
	From   string
	Info   bool // one of the info ports
	Fields []batch.Field
	Rows   [][]any
}

// Case is one run.
type Case struct {
	Definition transform.Definition
	XML        string // what stands inside of <transform>
	Inputs     []Input
	Outputs    []string // names of the targets; "out" when nil
	Error      *transform.ErrorLink
	Vars       map[string]string
	// Env may change the environment before Start.
	Env func(*transform.Env)
	// Fixed marks a transform that looks at batches or at the clock: it is run
	// once, in batches of three.
	Fixed bool
}

// Output is what came of a run. Each row is its values' text joined by "|", null
// as <null>.
type Output struct {
	Rows     map[transform.Port][]string
	Schemas  map[transform.Port]*batch.Schema
	Env      *transform.Env
	Settings transform.Settings
	Err      error
	Log      string

	wrap   func(transform.Emit) transform.Emit // put around what collects the rows
	refuse func(error) error                   // put around an error of Start
}

// Main gives the rows of the main port.
func (o *Output) Main() []string { return o.Rows[transform.Main] }

// Fields describes the schema of a port as "name Type" words.
func (o *Output) Fields(p transform.Port) string {
	var words []string
	s := o.Schemas[p]
	for i := range s.Len() {
		words = append(words, s.Fields[i].Name+" "+s.Fields[i].Type.String())
	}
	return strings.Join(words, ", ")
}

// feed says how rows are cut into batches.
type feed struct {
	size     int
	junked   bool // with rows between them that are not selected
	raw      bool // as unconverted text, for processors that are RawAware
	parallel bool // a Stateless processor gets its batches on several goroutines
}

// Run runs the case and gives its output; problems of the settings fail the test.
func Run(t testing.TB, c Case) *Output {
	t.Helper()
	feeds := []feed{{size: 3}, {size: 1}, {size: 4, junked: true}}
	if c.Fixed {
		feeds = feeds[:1]
	}
	var first *Output
	for _, f := range feeds {
		out := run(t, c, f)
		if first == nil {
			first = out
			continue
		}
		sameRows := first.Err != nil || reflect.DeepEqual(first.Rows, out.Rows)
		if !sameRows || fmt.Sprint(first.Err) != fmt.Sprint(out.Err) {
			t.Fatalf("batches of %d rows (unselected rows between them: %v) give\n%v %v\nbut batches of 3 give\n%v %v", f.size, f.junked, out.Rows, out.Err, first.Rows, first.Err)
		}
	}
	return first
}

// Settings decodes the settings of a case.
func Settings(t testing.TB, d transform.Definition, xml string) transform.Settings {
	t.Helper()
	doc, err := hopxml.Parse("test.hpl", []byte("<transform>"+xml+"</transform>"))
	if err != nil {
		t.Fatalf("settings: %v", err)
	}
	s, problems := d.Decode(doc.Root())
	for _, p := range problems {
		t.Fatalf("settings: %s: %s", p.Setting, p.Message)
	}
	return s
}

func run(t testing.TB, c Case, f feed) *Output {
	t.Helper()
	env, log := NewEnv(t, c.Vars)
	if c.Error != nil {
		named := c.Error.Named()
		env.Errors = &named
	}
	if c.Env != nil {
		c.Env(env)
	}
	s := Settings(t, c.Definition, c.XML)
	links := c.links(env)
	out := &Output{Rows: map[transform.Port][]string{}, Schemas: map[transform.Port]*batch.Schema{}, Env: env, Settings: s}
	out.Err = out.drive(t.Context(), c, f, s, links, env)
	out.Log = log.String()
	if r, ok := env.Results.(*Results); ok {
		r.release()
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Errorf("after the run (error %v): %v", out.Err, err)
	}
	return out
}

func (c Case) links(env *transform.Env) transform.Links {
	l := transform.Links{Transform: env.Transform, Copies: 1, Outputs: c.Outputs, Error: env.Errors}
	if l.Outputs == nil {
		l.Outputs = []string{"out"}
	}
	for i, in := range c.Inputs {
		from := in.From
		if from == "" {
			from = fmt.Sprintf("in%d", i+1)
		}
		l.Inputs = append(l.Inputs, transform.Input{From: from, Info: in.Info, Schema: batch.NewSchema(in.Fields...)})
	}
	return l
}

func (o *Output) drive(ctx context.Context, c Case, f feed, s transform.Settings, links transform.Links, env *transform.Env) (err error) {
	o.Schemas, err = s.Output(links, env.Design)
	if err != nil {
		return err
	}
	if env.Errors != nil && o.Schemas[transform.Error] == nil {
		o.Schemas[transform.Error] = links.ErrorSchema(links.Main())
	}
	p, err := s.Start(env, links)
	if err != nil {
		if o.refuse != nil {
			err = o.refuse(err)
		}
		return err
	}
	if cl, ok := p.(io.Closer); ok {
		defer func() { err = errors.Join(err, cl.Close()) }()
	}
	err = o.process(ctx, c, f, p, links, env)
	if sink, ok := p.(transform.Sink); ok {
		if err != nil {
			return errors.Join(err, sink.Abort(context.WithoutCancel(ctx)))
		}
		return sink.Commit(ctx)
	}
	return err
}

func (o *Output) process(ctx context.Context, c Case, f feed, p transform.Processor, links transform.Links, env *transform.Env) error {
	emit := o.collect(env)
	if o.wrap != nil {
		emit = o.wrap(emit)
	}
	if _, ok := p.(transform.RawAware); !ok {
		f.raw = false
	}
	var mainReaders, infoReaders []transform.Reader
	for i, in := range c.Inputs {
		r := &reader{schema: links.Inputs[i].Schema, batches: makeBatches(env, links.Inputs[i].Schema, in.Rows, f)}
		defer r.close()
		if in.Info {
			infoReaders = append(infoReaders, r)
		} else {
			mainReaders = append(mainReaders, r)
		}
	}
	switch p := p.(type) {
	case transform.Stream:
		return p.Run(ctx, slices.Concat(mainReaders, infoReaders), emit)
	case transform.Source:
		if sp, ok := p.(transform.Splitter); ok {
			return sp.Split(ctx, func(m transform.Morsel) error { return m(ctx, emit) })
		}
		return p.Produce(ctx, emit)
	case transform.RowWise:
		if f.parallel && transform.ShapeOf(p) == transform.ShapeStateless {
			return parallel(ctx, p, mainReaders, infoReaders, emit)
		}
		return rowWise(ctx, p, mainReaders, infoReaders, env, emit)
	}
	return fmt.Errorf("%T has no shape", p)
}

func rowWise(ctx context.Context, p transform.RowWise, in, info []transform.Reader, env *transform.Env, emit transform.Emit) error {
	if pr, ok := p.(transform.Preparer); ok {
		if err := pr.Prepare(ctx, info); err != nil {
			return err
		}
	}
	for _, r := range in {
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = counted(apply(ctx, p, b, emit), env.Counters.Read.Load())
				env.Counters.Read.Add(int64(b.Rows()))
				b.Release()
			}
			if err != nil {
				return err
			}
		}
	}
	if fi, ok := p.(transform.Finisher); ok {
		return fi.Finish(ctx, emit)
	}
	return nil
}

// counted adds the rows before a batch to the row number of an error, as the
// engine does.
func counted(err error, before int64) error {
	var e *engine.Error
	if errors.As(err, &e) && e.Row > 0 {
		e.Row += before
	}
	return err
}

func apply(ctx context.Context, p transform.RowWise, b *batch.Batch, emit transform.Emit) error {
	if e, ok := p.(transform.Encoder); ok {
		encoded, err := e.Encode(ctx, b)
		if err != nil {
			return err
		}
		return e.ApplyEncoded(ctx, b, encoded, emit)
	}
	return p.Apply(ctx, b, emit)
}

// collect writes down what is emitted and checks it against the schemas.
func (o *Output) collect(env *transform.Env) transform.Emit {
	return func(port transform.Port, b *batch.Batch) error {
		defer b.Release()
		want, ok := o.Schemas[port]
		if !ok {
			return fmt.Errorf("rows on port %q, which Output does not name", port)
		}
		if err := want.SameLayout(b.Schema); err != nil {
			return fmt.Errorf("port %q: schema of the rows differs from Output's: %w", port, err)
		}
		for i, col := range b.Cols {
			if col.Len() != b.Physical() || col.Type != b.Schema.Fields[i].Type {
				return fmt.Errorf("port %q: column %q is %d rows of %s, want %d of %s", port, b.Schema.Fields[i].Name, col.Len(), col.Type, b.Physical(), b.Schema.Fields[i].Type)
			}
		}
		rows, err := Texts(env.Semantics, b)
		o.Rows[port] = append(o.Rows[port], rows...)
		return err
	}
}

// Texts gives the rows of a batch as text, values joined by "|", null as <null>.
func Texts(sem *batch.Semantics, b *batch.Batch) ([]string, error) {
	codecs, err := sem.Codecs(b.Schema)
	if err != nil {
		return nil, err
	}
	var rows []string
	for i := range b.All() {
		words := make([]string, len(b.Cols))
		for k := range b.Cols {
			col, err := b.Col(k, codecs[k])
			if err != nil {
				return nil, err
			}
			words[k] = "<null>"
			if !col.IsNull(i) {
				words[k] = string(codecs[k].AppendText(nil, col, i))
			}
		}
		rows = append(rows, strings.Join(words, "|"))
	}
	return rows, nil
}
