package relation

import (
	"context"
	"fmt"
	"iter"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// AnalyticQuery appends values of rows before or after within the group; groups
// are consecutive rows.
var AnalyticQuery = transform.Define[AnalyticQuerySettings](transform.About{
	ID:       "AnalyticQuery",
	Name:     "Analytic query",
	Category: transform.CategoryAggregate,
	Summary:  "Append values of the rows before or after.",
})

// AnalyticQuerySettings lists the settings in the order the form shows them.
type AnalyticQuerySettings struct {
	Group  []NamedField    `hop:"group>field" help:"Rows that follow each other with the same values form a group"`
	Fields []AnalyticField `hop:"fields>field" required:"true"`
}

// AnalyticField is one appended field.
type AnalyticField struct {
	Name    string       `hop:"aggregate" required:"true"`
	Subject string       `hop:"subject" form:"field" required:"true"`
	Type    AnalyticType `hop:"type" default:"LEAD"`
	Rows    int          `hop:"valuefield" default:"1" min:"0" unit:"rows" label:"Distance"`
}

// AnalyticType says in which direction a row is looked for.
type AnalyticType string

// The directions.
const (
	Lead AnalyticType = "LEAD"
	Lag  AnalyticType = "LAG"
)

// Choices lists the directions for forms.
func (AnalyticType) Choices() []transform.Choice {
	return []transform.Choice{{Code: string(Lead), Label: "Rows ahead"}, {Code: string(Lag), Label: "Rows before"}}
}

// Check implements transform.Checker.
func (s *AnalyticQuerySettings) Check(transform.Links, transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		for i, f := range s.Fields {
			if f.Rows < 0 && !yield(transform.Errorf(fmt.Sprintf("fields>field[%d]>valuefield", i+1), "the distance must not be negative")) {
				return
			}
		}
	}
}

// Output implements transform.Settings.
func (s *AnalyticQuerySettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	out, _, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(out)
}

func (s *AnalyticQuerySettings) schema(l transform.Links) (*batch.Schema, []int, error) {
	out := mainSchema(l)
	var at []int
	for _, a := range s.Fields {
		i, err := fieldIndex(mainSchema(l), a.Subject)
		if err != nil {
			return nil, nil, fmt.Errorf("field %q: %w", a.Name, err)
		}
		f := mainSchema(l).Fields[i]
		f.Name, f.Origin = a.Name, l.Transform
		out = out.With(f)
		at = append(at, i)
	}
	return out, at, nil
}

// Start implements transform.Settings.
func (s *AnalyticQuerySettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	out, at, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	p := &analyticQuery{env: env, out: out, at: at}
	var group []string
	for _, g := range s.Group {
		group = append(group, g.Name)
	}
	if p.keys, err = namedKeys(env.Semantics, mainSchema(l), group...); err != nil {
		return nil, fmt.Errorf("group: %w", err)
	}
	for _, f := range s.Fields {
		if f.Rows < 0 {
			return nil, fmt.Errorf("field %q: the distance must not be negative", f.Name)
		}
		distance := f.Rows
		if f.Type == Lag {
			p.back = max(p.back, f.Rows)
			distance = -distance
		} else {
			p.ahead = max(p.ahead, f.Rows)
		}
		p.distances = append(p.distances, distance)
	}
	p.src, err = newSources(env.Alloc, env.Semantics, mainSchema(l))
	return p, err
}

type analyticQuery struct {
	transform.Stateful
	transform.TakesRaw
	env         *transform.Env
	out         *batch.Schema
	at          []int // subjects
	distances   []int // below 0: back
	back, ahead int   // greatest distances
	keys        *keys
	src         *sources

	window *batch.Batch // rows that are still needed
	done   int          // of them, those that were emitted
}

// Apply implements transform.RowWise.
func (p *analyticQuery) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	if b.Rows() == 0 {
		return nil
	}
	w, err := p.join(b)
	if err != nil {
		return valueError(p.env.Transform, "", b, 0, err)
	}
	defer w.Release()
	starts, ends, err := p.groups(w)
	if err != nil {
		return err
	}
	n := w.Physical()
	ready := p.done // rows before it have all they look ahead to
	for ready < n && (ready+p.ahead < n || ends[ready] < n) {
		ready++
	}
	if err := p.emitRows(w, starts, ends, ready, emit); err != nil {
		return err
	}
	return p.keep(w, ready)
}

// join gives the window followed by b (one hold).
func (p *analyticQuery) join(b *batch.Batch) (*batch.Batch, error) {
	if p.window == nil {
		return b.Dense(), nil
	}
	p.src.reset()
	refs := make([]rowRef, 0, p.window.Physical()+b.Rows())
	id := p.src.add(p.window)
	for i := range p.window.Physical() {
		refs = append(refs, rowRef{id, uint32(i)})
	}
	id = p.src.add(b)
	for i := range b.All() {
		refs = append(refs, rowRef{id, uint32(i)})
	}
	return p.src.gather(refs)
}

// groups gives the first row of the group of each row, and the one after its last.
func (p *analyticQuery) groups(w *batch.Batch) (starts, ends []int, err error) {
	cols, field, err := p.keys.columns(nil, w)
	if err != nil {
		return nil, nil, valueError(p.env.Transform, field, w, 0, err)
	}
	n := w.Physical()
	starts, ends = make([]int, n), make([]int, n)
	for i := 1; i < n; i++ {
		starts[i] = starts[i-1]
		if p.keys.compare(cols, i-1, cols, i) != 0 {
			starts[i] = i
		}
	}
	for i := n - 1; i >= 0; i-- {
		ends[i] = n
		if i+1 < n {
			ends[i] = ends[i+1]
			if starts[i+1] == i+1 {
				ends[i] = i + 1
			}
		}
	}
	return starts, ends, nil
}

// emitRows emits the rows of the window from the first one that was not emitted
// up to ready.
func (p *analyticQuery) emitRows(w *batch.Batch, starts, ends []int, ready int, emit transform.Emit) error {
	for from := p.done; from < ready; from += batch.MaxRows {
		end := min(from+batch.MaxRows, ready)
		part := w.Slice(from, end)
		rows := part.Dense()
		part.Release()
		cols := make([]*batch.Column, len(p.at))
		refs := make([]rowRef, end-from)
		for k, at := range p.at {
			for i := range refs {
				j := from + i + p.distances[k]
				refs[i] = rowRef{0, uint32(j)}
				if j < starts[from+i] || j >= ends[from+i] {
					refs[i] = rowRef{src: noRow}
				}
			}
			c := w.Cols[at]
			cols[k] = gatherOr(newColumn(p.env.Alloc, c.Type, c.Raw), []*batch.Column{c}, refs, batch.Null(c.Type))
		}
		err := emit(transform.Main, rows.With(p.out, cols...))
		rows.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// keep keeps the rows that later ones look at.
func (p *analyticQuery) keep(w *batch.Batch, ready int) error {
	from := max(0, min(ready-p.back, w.Physical()-1)) // the last row tells whether its group goes on
	part := w.Slice(from, w.Physical())
	window := part.Dense()
	part.Release()
	p.forget()
	p.window, p.done = window, ready-from
	return nil
}

func (p *analyticQuery) forget() {
	if p.window != nil {
		p.window.Release()
		p.window = nil
	}
}

// Finish implements transform.Finisher.
func (p *analyticQuery) Finish(_ context.Context, emit transform.Emit) error {
	if p.window == nil {
		return nil
	}
	starts, ends, err := p.groups(p.window)
	if err != nil {
		return err
	}
	return p.emitRows(p.window, starts, ends, p.window.Physical(), emit)
}

// Close frees the window.
func (p *analyticQuery) Close() error {
	p.forget()
	return nil
}
