package generate

import (
	"context"
	"fmt"
	"iter"
	"time"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// RowGenerator emits the same row a number of times, or for ever at an interval.
// Finite runs share one batch; it is made once.
var RowGenerator = transform.Define[RowGeneratorSettings](transform.About{
	ID:       "RowGenerator",
	Name:     "Generate rows",
	Category: transform.CategoryInput,
	Summary:  "The same row many times, or one row at an interval.",
})

// RowGeneratorSettings lists the settings in the order the form shows them.
type RowGeneratorSettings struct {
	Limit    transform.Expr[int64] `hop:"limit" default:"10" unit:"rows"`
	Endless  bool                  `hop:"never_ending" label:"Never stop generating rows"`
	Interval transform.Expr[int64] `hop:"interval_in_ms" default:"5000" unit:"ms" help:"Between two rows when it never stops"`
	RowTime  string                `hop:"row_time_field" default:"now" label:"Current row time field"`
	LastTime string                `hop:"last_time_field" default:"FiveSecondsAgo" label:"Previous row time field"`
	Fields   []GeneratedField      `hop:"fields>field"`
}

// GeneratedField is one constant. Its value is read by the mask and not searched
// for variables; a field without a type is left out.
type GeneratedField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" required:"true"`
	Value     string     `hop:"nullif" label:"Value"`
	Format    string     `hop:"format" form:"mask"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Currency  string     `hop:"currency" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Group     string     `hop:"group" advanced:"true"`
	Empty     bool       `hop:"set_empty_string" label:"Set empty string"`
}

func (f *GeneratedField) field(origin string) batch.Field {
	return cell{f.Name, f.Format, f.Currency, f.Decimal, f.Group, f.Type, f.Length, f.Precision}.field(origin)
}

// times lists the fields that only an endless generator has.
func (s *RowGeneratorSettings) times(origin string) []batch.Field {
	var list []batch.Field
	for _, name := range []string{s.RowTime, s.LastTime} {
		if s.Endless && name != "" {
			f := batch.NewField(name, batch.Date)
			f.Origin = origin
			list = append(list, f)
		}
	}
	return list
}

func (s *RowGeneratorSettings) schema(origin string) *batch.Schema {
	fields := s.times(origin)
	for i := range s.Fields {
		if s.Fields[i].Type != batch.None {
			fields = append(fields, s.Fields[i].field(origin))
		}
	}
	return batch.NewSchema().With(fields...)
}

// Check implements transform.Checker.
func (s *RowGeneratorSettings) Check(transform.Links, transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		for i, f := range s.Fields {
			if f.Type != batch.None {
				continue
			}
			if !yield(transform.Warnf(fmt.Sprintf("fields>field[%d]>type", i+1), "field %q has no type and is left out", f.Name)) {
				return
			}
		}
	}
}

// Output implements transform.Settings.
func (s *RowGeneratorSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l.Transform))
}

// Start implements transform.Settings.
func (s *RowGeneratorSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &generator{env: env, s: s, schema: s.schema(l.Transform)}
	var err error
	if p.limit, err = s.Limit.Eval(env); err != nil {
		return nil, fmt.Errorf("limit: %w", err)
	}
	if p.limit < 0 {
		return nil, fmt.Errorf("limit: %d rows cannot be generated; give 0 or more", p.limit)
	}
	if s.Endless {
		ms, err := s.Interval.Or(env, 0)
		if err != nil {
			return nil, fmt.Errorf("interval: %w", err)
		}
		p.interval = time.Duration(ms) * time.Millisecond
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Type == batch.None {
			continue
		}
		v, err := f.read(env, l.Transform)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		p.values = append(p.values, v)
	}
	return p, nil
}

func (f *GeneratedField) read(env *transform.Env, origin string) (batch.Value, error) {
	if f.Empty {
		return batch.Value{Type: f.Type, Valid: f.Type == batch.String}, nil
	}
	if f.Value == "" {
		return batch.Null(f.Type), nil
	}
	field := f.field(origin)
	codec, err := env.Semantics.Codec(&field)
	if err != nil {
		return batch.Value{}, err
	}
	return codec.Parse([]byte(f.Value))
}

type generator struct {
	transform.Producer
	env      *transform.Env
	s        *RowGeneratorSettings
	schema   *batch.Schema
	values   []batch.Value
	limit    int64
	interval time.Duration
}

// Unbounded implements transform.Unbounded.
func (p *generator) Unbounded() bool { return p.s.Endless }

// Produce implements transform.Source.
func (p *generator) Produce(ctx context.Context, emit transform.Emit) error {
	if p.s.Endless {
		return p.endless(ctx, emit)
	}
	size := p.batchRows()
	full := p.rows(int(min(size, p.limit)))
	defer full.Release()
	for left := p.limit; left > 0; left -= size {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if stopping(p.env) {
			return nil
		}
		out := full.Retain()
		if left < size && left < p.limit {
			out.Release()
			out = p.rows(int(left))
		}
		if err := emit(transform.Main, out); err != nil {
			return err
		}
	}
	return nil
}

// batchRows is the number of rows of a full batch: fewer when the values are large.
func (p *generator) batchRows() int64 {
	bytes := 1
	for _, v := range p.values {
		bytes += len(v.Text)
	}
	return int64(max(1, min(batch.MaxRows, batch.SoftBytes/bytes)))
}

// rows gives a batch of n equal rows.
func (p *generator) rows(n int) *batch.Batch {
	cols := make([]*batch.Column, len(p.values))
	for i, v := range p.values {
		cols[i] = p.env.Alloc.Repeat(v, v.Type, n)
	}
	return p.env.Alloc.Assemble(p.schema, cols, n)
}

// flushEvery is how long a row of an endless generator may wait for others.
const flushEvery = 200 * time.Millisecond

// endless makes a row per interval. Rows leave together when they come faster than
// flushEvery.
func (p *generator) endless(ctx context.Context, emit transform.Emit) error {
	tick := time.NewTimer(p.interval)
	defer tick.Stop()
	fill := timedRows{p: p}
	defer fill.release()
	flushAt := time.Now().Add(flushEvery)
	for {
		fill.add()
		if p.interval >= flushEvery || fill.full() || !time.Now().Before(flushAt) {
			if err := fill.flush(emit); err != nil {
				return err
			}
			flushAt = time.Now().Add(flushEvery)
		}
		if p.interval <= 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if stopping(p.env) {
				return fill.flush(emit)
			}
			continue
		}
		tick.Reset(p.interval)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.env.Stopping:
			return fill.flush(emit)
		case <-tick.C:
		}
	}
}

// timedRows collects rows with their time and that of the row before.
type timedRows struct {
	p        *generator
	batch    *batch.Batch
	rows     int
	previous batch.Value
}

func (t *timedRows) add() {
	if t.batch == nil {
		t.batch = t.p.env.Alloc.Batch(t.p.schema)
		t.rows = 0
		if t.previous.Type == batch.None {
			t.previous = batch.Null(batch.Date)
		}
	}
	now := batch.DateValue(t.p.env.Now().UnixMilli())
	k := 0
	put := func(v batch.Value) {
		t.batch.Cols[k].AppendValue(v)
		k++
	}
	if t.p.s.RowTime != "" {
		put(now)
	}
	if t.p.s.LastTime != "" {
		put(t.previous)
	}
	for _, v := range t.p.values {
		put(v)
	}
	t.previous = now
	t.rows++
}

func (t *timedRows) full() bool { return t.rows >= batch.MaxRows || t.batch.Full() }

func (t *timedRows) flush(emit transform.Emit) error {
	b := t.batch
	if b == nil {
		return nil
	}
	t.batch = nil
	b.SetRows(t.rows)
	return emit(transform.Main, b)
}

func (t *timedRows) release() {
	if t.batch != nil {
		t.batch.Release()
		t.batch = nil
	}
}
