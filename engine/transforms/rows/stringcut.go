package rows

import (
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// StringCut keeps a part of a text. Positions count UTF-16 code units from 0, the
// first is included and the last is not; negative ones count from the end.
var StringCut = transform.Define[StringCutSettings](transform.About{
	ID:            "StringCut",
	Name:          "Strings cut",
	Category:      transform.Reshape,
	Summary:       "Keep a part of a text by position.",
	HandlesErrors: true,
})

// StringCutSettings lists the settings in the order the form shows them.
type StringCutSettings struct {
	Fields []StringCutField `hop:"fields>field" required:"true"`
}

// StringCutField is one cut. Both positions negative: the text from -To to -From,
// counted from the end; From 0 and To negative: the last -To characters.
type StringCutField struct {
	In   string                 `hop:"in_stream_name" form:"field" required:"true" label:"Field"`
	Out  transform.Expr[string] `hop:"out_stream_name" label:"Output field" help:"Empty changes the field in place"`
	From transform.Expr[string] `hop:"cut_from"`
	To   transform.Expr[string] `hop:"cut_to"`
}

func (s *StringCutSettings) edits(r transform.Resolver) ([]textEdit, error) {
	var list []textEdit
	for _, f := range s.Fields {
		out, err := resolved(r, "output field", f.Out)
		if err != nil {
			return nil, err
		}
		list = append(list, textEdit{in: f.In, out: out, length: -1})
	}
	return list, nil
}

// Output implements transform.Settings.
func (s *StringCutSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	edits, err := s.edits(d)
	if err != nil {
		return nil, err
	}
	schema, _, _, err := textLayout(l, edits)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *StringCutSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	edits, err := s.edits(env)
	if err != nil {
		return nil, err
	}
	p := &textProcessor{env: env}
	if p.schema, p.in, p.out, err = textLayout(l, edits); err != nil {
		return nil, err
	}
	var cuts []cut
	for _, f := range s.Fields {
		from, err := resolved(env, "cut from", f.From)
		if err != nil {
			return nil, err
		}
		to, err := resolved(env, "cut to", f.To)
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, cut{int(wholeNumber(from, 0)), int(wholeNumber(to, 0))})
	}
	p.apply = func(k int, b *batch.Batch, col *batch.Column, _ *failures) (*batch.Column, error) {
		return mapText(b, col, cuts[k].append), nil
	}
	return p, nil
}

type cut struct{ from, to int }

// append implements Hop's rules, odd cases included: an impossible cut is null,
// and one that mixes a positive and a negative position leaves the text whole.
func (c cut) append(dst, text []byte) ([]byte, bool) {
	if len(text) == 0 {
		return dst, true
	}
	n, from, to := units(text), c.from, c.to
	switch {
	case from >= 0 && to >= 0 && (from > n || to < from):
		return dst, false
	case from < 0 && to < 0 && (from < -n || from < to):
		return dst, false
	case from >= 0 && to > 0:
		to = min(to, n)
	case from < 0 && to < 0:
		from, to = n+max(to, -n), n+from
	case from == 0 && to < 0:
		from, to = n+max(to, -n), n
	default:
		return append(dst, text...), true
	}
	return append(dst, text[unitOffset(text, from):unitOffset(text, to)]...), true
}
