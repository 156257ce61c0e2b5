package generate

import (
	"context"
	"fmt"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// DataGrid emits the rows of a table that stands in the file. The text of a cell is
// read by its field's mask; variables are not resolved, as in Hop.
var DataGrid = transform.Define[DataGridSettings](transform.About{
	ID:       "DataGrid",
	Name:     "Data grid",
	Category: transform.CategoryInput,
	Summary:  "Rows typed in by hand.",
})

// DataGridSettings lists the settings in the order the form shows them.
type DataGridSettings struct {
	Fields []GridField `hop:"fields>field" required:"true"`
	Lines  []GridLine  `hop:"data>line" label:"Data"`
}

// GridField is one column.
type GridField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Format    string     `hop:"format" form:"mask"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Currency  string     `hop:"currency" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Group     string     `hop:"group" advanced:"true"`
	Empty     bool       `hop:"set_empty_string" label:"Set empty string"`
}

// GridLine is one row; its items belong to the fields in order. An empty item is
// null.
type GridLine struct {
	Items []string `hop:"item"`
}

// schema leaves out fields without a name. Items count by the fields that are left,
// as in Hop.
func (s *DataGridSettings) schema(origin string) *batch.Schema {
	out := batch.NewSchema()
	for _, f := range s.Fields {
		if f.Name == "" {
			continue
		}
		c := cell{f.Name, f.Format, f.Currency, f.Decimal, f.Group, f.Type, f.Length, f.Precision}
		if c.typ == batch.None {
			c.typ = batch.String
		}
		out = out.With(c.field(origin))
	}
	return out
}

// Output implements transform.Settings.
func (s *DataGridSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l.Transform))
}

// Start implements transform.Settings.
func (s *DataGridSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &gridProcessor{env: env, s: s, schema: s.schema(l.Transform)}
	var err error
	p.codecs, err = env.Semantics.Codecs(p.schema)
	return p, err
}

type gridProcessor struct {
	transform.Producer
	env    *transform.Env
	s      *DataGridSettings
	schema *batch.Schema
	codecs []*batch.Codec
}

// Produce implements transform.Source.
func (p *gridProcessor) Produce(ctx context.Context, emit transform.Emit) error {
	lines := p.s.Lines
	for at := 0; at < len(lines); {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if stopping(p.env) {
			return nil
		}
		b := p.env.Alloc.Batch(p.schema)
		n := 0
		for ; at < len(lines) && n < batch.MaxRows && b.Bytesize() < batch.SoftBytes; at++ {
			if err := p.line(b, lines[at].Items, at); err != nil {
				b.Release()
				return err
			}
			n++
		}
		b.SetRows(n)
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
	return nil
}

func stopping(env *transform.Env) bool {
	select {
	case <-env.Stopping:
		return true
	default:
		return false
	}
}

func (p *gridProcessor) line(b *batch.Batch, items []string, at int) error {
	for i, col := range b.Cols {
		if p.s.Fields[i].Empty {
			col.AppendValue(batch.Value{Type: col.Type, Valid: col.Type == batch.String})
			continue
		}
		if i >= len(items) {
			return &engine.Error{
				Transform: p.env.Transform, Row: int64(at + 1), Field: p.schema.Fields[i].Name,
				Message: fmt.Sprintf("the line has %d values for %d fields", len(items), p.schema.Len()), Hint: "add the missing values; an empty one is null",
			}
		}
		if err := p.codecs[i].ParseTextInto(col, []byte(items[i]), items[i] == "", batch.TextRule{}); err != nil {
			return &engine.Error{Transform: p.env.Transform, Row: int64(at + 1), Field: p.schema.Fields[i].Name, Value: items[i], Err: err}
		}
	}
	return nil
}
