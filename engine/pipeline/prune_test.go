package pipeline_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
)

// wide is a source of three fields that notes what it was told to leave out.
type wide struct {
	got  []bool
	text []bool // which fields are looked at as text, when all are to be converted
	rows int
}

var threeIntegers = batch.NewSchema(batch.NewField("a", batch.Integer), batch.NewField("b", batch.Integer), batch.NewField("c", batch.Integer))

func (s *wide) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(threeIntegers)
}

func (s *wide) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &wideProcessor{s: s, env: env}, nil
}

type wideProcessor struct {
	transform.Producer
	s   *wide
	env *transform.Env
}

func (p *wideProcessor) Produce(_ context.Context, emit transform.Emit) error {
	for i := range p.s.rows {
		b := p.env.Alloc.Batch(threeIntegers)
		for _, c := range b.Cols {
			c.AppendInt(int64(i))
		}
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
	return nil
}

func (p *wideProcessor) Prune(wanted []bool) { p.s.got = wanted }

func (p *wideProcessor) ConvertAll(text []bool) { p.s.text = text }

// user passes its rows and looks at some fields itself.
type user struct {
	sink
	fields []string
}

func (s *user) Needs(l transform.Links, out []bool) []bool {
	return transform.PassingNeeds(l, out, s.fields...)
}

func TestSourcesAreToldWhichFieldsMatter(t *testing.T) {
	for name, c := range map[string]struct {
		nodes func(src *wide) []*pipeline.Node
		hops  []string
		cut   string
		want  []bool // nil: nothing is left out
	}{
		"one user": {func(s *wide) []*pipeline.Node {
			return []*pipeline.Node{node("s", s), node("x", &user{fields: []string{"b"}})}
		}, []string{"s>x"}, "", []bool{false, true, false}},
		"a chain of users": {func(s *wide) []*pipeline.Node {
			return []*pipeline.Node{node("s", s), node("x", &user{fields: []string{"b"}}), node("y", &user{fields: []string{"A"}})}
		}, []string{"s>x", "x>y"}, "", []bool{true, true, false}},
		"two hops": {func(s *wide) []*pipeline.Node {
			return []*pipeline.Node{node("s", s), node("x", &user{fields: []string{"b"}}), node("y", &user{fields: []string{"c"}})}
		}, []string{"s>x", "s>y"}, "", []bool{false, true, true}},
		"one that cannot say": {func(s *wide) []*pipeline.Node {
			return []*pipeline.Node{node("s", s), node("x", &user{fields: []string{"b"}}), node("y", &sink{})}
		}, []string{"s>x", "s>y"}, "", nil},
		"a cut in between": {func(s *wide) []*pipeline.Node {
			return []*pipeline.Node{node("s", s), node("x", &user{fields: []string{"b"}}), node("y", &user{})}
		}, []string{"s>x", "x>y"}, "x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			src := &wide{}
			o := options(t)
			if c.cut != "" {
				o.Cuts = map[string]pipeline.Cut{c.cut: &memoryCut{streams: true}}
			}
			if _, err := pipeline.Prepare(t.Context(), graphOf(c.nodes(src), c.hops...), o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, src.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSpooledSourcesAreToldToConvert(t *testing.T) {
	for name, c := range map[string]struct {
		cut  map[string]pipeline.Cut
		want []bool
	}{
		"nothing is spooled":      {nil, nil},
		"rows flow on":            {map[string]pipeline.Cut{"s": &memoryCut{streams: true}}, []bool{false, true, false}},
		"rows wait for the seal":  {map[string]pipeline.Cut{"s": &memoryCut{}}, []bool{false, false, false}},
		"rows are spooled behind": {map[string]pipeline.Cut{"x": &memoryCut{streams: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			src := &wide{}
			o := options(t)
			o.Cuts = c.cut
			if _, err := pipeline.Prepare(t.Context(), graphOf([]*pipeline.Node{node("s", src), node("x", &user{fields: []string{"b"}})}, "s>x"), o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, src.text); diff != "" {
				t.Error(diff)
			}
			if src.text != nil && src.got != nil {
				t.Error("fields of spooled rows may be left out")
			}
		})
	}
}
