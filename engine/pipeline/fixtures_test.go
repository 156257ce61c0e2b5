package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
)

// The transforms of these tests: small, and each with one behaviour.

var oneInteger = batch.NewSchema(batch.NewField("n", batch.Integer))

// numbers emits 0 … n-1 in batches of size rows; endless until told to stop.
type numbers struct {
	n, size int
	endless bool
}

func (s *numbers) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(oneInteger)
}

func (s *numbers) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &numbersProcessor{s: s, env: env}, nil
}

type numbersProcessor struct {
	transform.Producer
	s   *numbers
	env *transform.Env
}

func (p *numbersProcessor) Unbounded() bool { return p.s.endless }

func (p *numbersProcessor) Produce(ctx context.Context, emit transform.Emit) error {
	for at := 0; at < p.s.n || p.s.endless; at += p.s.size {
		select {
		case <-p.env.Stopping:
			return nil
		default:
		}
		b := p.env.Alloc.Batch(oneInteger)
		for i := at; i < at+p.s.size && (i < p.s.n || p.s.endless); i++ {
			b.Cols[0].AppendInt(int64(i))
		}
		if err := emit(transform.Main, b); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// mapper applies f to every number; stateful when ordered.
type mapper struct {
	f       func(int64) (int64, error)
	ordered bool
	ports   *transform.Ports
	port    func(int64) transform.Port
	finish  func(emit func(int64) error) error
}

func (s *mapper) Ports(transform.Links) transform.Ports {
	if s.ports != nil {
		return *s.ports
	}
	return transform.DefaultPorts()
}

func (s *mapper) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	out := transform.Schemas{}
	for _, p := range s.Ports(l).Outputs {
		out[p.ID] = oneInteger
	}
	return out, nil
}

func (s *mapper) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	if s.ordered {
		return &orderedMapper{mapCore: mapCore{s: s, env: env}}, nil
	}
	return &statelessMapper{mapCore: mapCore{s: s, env: env}}, nil
}

type mapCore struct {
	s   *mapper
	env *transform.Env
}

type statelessMapper struct {
	transform.Stateless
	mapCore
}

type orderedMapper struct {
	transform.Stateful
	mapCore
}

func (p *orderedMapper) Finish(_ context.Context, emit transform.Emit) error {
	if p.s.finish == nil {
		return nil
	}
	return p.s.finish(func(v int64) error {
		b := p.env.Alloc.Batch(oneInteger)
		b.Cols[0].AppendInt(v)
		return emit(transform.Main, b)
	})
}

func (p *mapCore) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	rej := p.env.Rejects(b)
	outs := map[transform.Port]*batch.Batch{}
	release := func() {
		for _, o := range outs {
			o.Release()
		}
	}
	for i := range b.All() {
		v, err := p.s.f(b.Cols[0].Int(i))
		if err != nil {
			if err := rej.Add(i, transform.RowError{Fields: "n", Err: err}); err != nil {
				release()
				return err
			}
			continue
		}
		port := transform.Main
		if p.s.port != nil {
			port = p.s.port(v)
		}
		if outs[port] == nil {
			outs[port] = p.env.Alloc.Batch(oneInteger)
		}
		outs[port].Cols[0].AppendInt(v)
	}
	for port, o := range outs {
		delete(outs, port)
		if err := emit(port, o); err != nil {
			release()
			return err
		}
	}
	return rej.Flush(b, emit)
}

// sink keeps what arrives, per copy, and notes commit and abort.
type sink struct {
	mu     sync.Mutex
	rows   map[int][]string
	events []string
}

func (s *sink) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for c := range 64 {
		list = append(list, s.rows[c]...)
	}
	return list
}

func (s *sink) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

func (s *sink) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &sinkProcessor{s: s, env: env}, nil
}

type sinkProcessor struct {
	transform.Stateful
	s   *sink
	env *transform.Env
}

func (p *sinkProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	rows, err := transformtest.Texts(p.env.Semantics, b)
	if err != nil {
		return err
	}
	p.s.mu.Lock()
	if p.s.rows == nil {
		p.s.rows = map[int][]string{}
	}
	p.s.rows[p.env.Copy] = append(p.s.rows[p.env.Copy], rows...)
	p.s.mu.Unlock()
	return emit(transform.Main, b.Retain())
}

func (p *sinkProcessor) note(what string) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.events = append(p.s.events, what)
	return nil
}

func (p *sinkProcessor) Commit(context.Context) error { return p.note("commit") }
func (p *sinkProcessor) Abort(context.Context) error  { return p.note("abort") }

// inTurn drains its first input, then its second.
type inTurn struct{ first, second string }

func (s *inTurn) Ports(transform.Links) transform.Ports {
	return transform.Ports{
		Inputs: []transform.InputPort{
			{Name: "first", From: s.first, Read: transform.First, Required: true},
			{Name: "second", From: s.second, Required: true},
		},
		Outputs: []transform.OutputPort{{ID: transform.Main}},
	}
}

func (s *inTurn) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(oneInteger)
}

func (s *inTurn) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return &inTurnProcessor{}, nil
}

type inTurnProcessor struct{ transform.Collector }

func (p *inTurnProcessor) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	for _, r := range in {
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = emit(transform.Main, b)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// lookup counts the rows of its info input, then passes the main ones.
type lookup struct{ from string }

func (s *lookup) Ports(transform.Links) transform.Ports { return transform.InfoPorts(s.from) }

func (s *lookup) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(oneInteger)
}

func (s *lookup) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &lookupProcessor{env: env}, nil
}

type lookupProcessor struct {
	transform.Stateless
	env   *transform.Env
	count int64
}

func (p *lookupProcessor) Prepare(ctx context.Context, info []transform.Reader) error {
	for {
		b, err := info[0].Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.count += int64(b.Rows())
		b.Release()
	}
}

func (p *lookupProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	out := p.env.Alloc.Batch(oneInteger)
	for range b.All() {
		out.Cols[0].AppendInt(p.count)
	}
	return emit(transform.Main, out)
}

// graphOf builds a graph: nodes by name, hops as "a>b".
func graphOf(nodes []*pipeline.Node, hops ...string) *pipeline.Graph {
	g := &pipeline.Graph{Name: "test", Nodes: nodes}
	for _, h := range hops {
		from, to, _ := strings.Cut(h, ">")
		g.Hops = append(g.Hops, pipeline.Hop{From: from, To: to})
	}
	return g
}

func node(name string, s transform.Settings) *pipeline.Node {
	return &pipeline.Node{Name: name, Settings: s, Copies: "1", Distribute: true}
}

func options(t testing.TB) pipeline.Options {
	t.Helper()
	return pipeline.Options{Vars: project.NewVariables(), Alloc: batch.NewAllocator(), SpillFolder: t.TempDir(), Workers: 4}
}

// run prepares and runs a graph and checks that nothing leaked.
func run(t testing.TB, g *pipeline.Graph, o pipeline.Options) (transform.Result, *pipeline.Execution, error) {
	t.Helper()
	e, err := pipeline.Prepare(t.Context(), g, o)
	if err != nil {
		t.Fatalf("prepare: %v", err)
	}
	r, err := e.Run(t.Context())
	for _, b := range r.Rows {
		b.Release()
	}
	if leak := o.Alloc.CheckLeaks(); leak != nil {
		t.Errorf("after the run (error %v): %v", err, leak)
	}
	return r, e, err
}

func count(from, to int) []string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, strconv.Itoa(i))
	}
	return list
}

func same(v int64) (int64, error) { return v, nil }

func failAt(n int64) func(int64) (int64, error) {
	return func(v int64) (int64, error) {
		if v == n {
			return 0, fmt.Errorf("refused")
		}
		return v, nil
	}
}
