package relation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Unique passes the first of rows that follow each other with equal keys. With an
// error hop the others go there.
var Unique = transform.Define[UniqueSettings](transform.About{
	ID:            "Unique",
	Name:          "Unique rows",
	Category:      transform.Reshape,
	Summary:       "Drop rows that repeat the row before; the input is sorted.",
	HandlesErrors: true,
})

// UniqueSettings lists the settings in the order the form shows them.
type UniqueSettings struct {
	Keys             []UniqueKey `hop:"fields>field" help:"Fields to compare; none: all"`
	CountRows        bool        `hop:"count_rows" label:"Add a counter"`
	CountField       string      `hop:"count_field" label:"Counter field"`
	RejectDuplicates bool        `hop:"reject_duplicate_row" advanced:"true" help:"Duplicates go to the error hop when there is one"`
	ErrorDescription string      `hop:"error_description" help:"Description of rejected duplicates"`
}

// UniqueKey is one row of the key table.
type UniqueKey struct {
	Name            string `hop:"name" form:"field" required:"true"`
	CaseInsensitive bool   `hop:"case_insensitive"`
}

// Output implements transform.Settings.
func (s *UniqueSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema(l))
}

func (s *UniqueSettings) schema(l transform.Links) *batch.Schema {
	if !s.CountRows {
		return mainSchema(l)
	}
	return mainSchema(l).With(fieldOf(s.CountField, batch.Integer, l.Transform))
}

// Start implements transform.Settings.
func (s *UniqueSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if s.CountRows && s.CountField == "" {
		return nil, fmt.Errorf("name the counter field")
	}
	in := mainSchema(l)
	var fields []keyField
	var names []string
	for _, k := range s.Keys {
		i, err := fieldIndex(in, k.Name)
		if err != nil {
			return nil, err
		}
		fields = append(fields, keyField{index: i, fold: k.CaseInsensitive})
		names = append(names, k.Name)
	}
	why, err := duplicateError(env, s.ErrorDescription, "UNR001", names)
	if err != nil {
		return nil, err
	}
	c, err := newConsecutive(&groupPlan{env: env, out: s.schema(l)}, in, nil, allFields(in))
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		for i := range in.Fields {
			fields = append(fields, keyField{index: i})
		}
	}
	c.keys, err = newKeys(env.Semantics, in, fields)
	return &uniqueProcessor{consecutive: c, why: why, counts: s.CountRows}, err
}

func allFields(s *batch.Schema) []int {
	list := make([]int, s.Len())
	for i := range list {
		list[i] = i
	}
	return list
}

// duplicateError is what an error hop is told of a duplicate.
func duplicateError(env *transform.Env, description, code string, fields []string) (transform.RowError, error) {
	text, err := env.Resolve(description)
	return transform.RowError{Fields: strings.Join(fields, ","), Code: code, Err: errors.New(text)}, err
}

type uniqueProcessor struct {
	*consecutive
	why    transform.RowError
	counts bool
	count  int64 // rows of the open group
}

// Apply implements transform.RowWise.
func (p *uniqueProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	h, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, h, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *uniqueProcessor) ApplyEncoded(_ context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	if b.Rows() == 0 {
		return nil
	}
	h := encoded.(*groupColumns)
	open := p.last != nil // group 0 began before b
	if _, _, err := p.fold(b, h); err != nil {
		return err
	}
	rej := p.env.Rejects(b)
	first := make([]int32, 0, b.Rows())
	for n, g := range p.ids {
		i := b.Row(n)
		if (n == 0 && !open) || (n == 0 && g > 0) || (n > 0 && g != p.ids[n-1]) {
			first = append(first, int32(i))
			continue
		}
		if p.env.Errors == nil {
			continue
		}
		if err := rej.Add(i, p.why); err != nil {
			return err
		}
	}
	if err := rej.Flush(b, emit); err != nil {
		return err
	}
	if p.counts {
		return p.emitCounted(b, first, emit)
	}
	if err := p.remember(b); err != nil || len(first) == 0 {
		return err
	}
	return emit(transform.Main, b.Select(first))
}

// emitCounted emits the first rows of the groups that ended, with their numbers of
// rows; the first row of the open group is remembered.
func (p *uniqueProcessor) emitCounted(b *batch.Batch, first []int32, emit transform.Emit) error {
	// Each first row ends the group before it.
	var ends []int
	counts := p.env.Alloc.Column(batch.Integer)
	next := 0
	for n := range p.ids {
		i := b.Row(n)
		if next == len(first) || int32(i) != first[next] {
			p.count++
			continue
		}
		if p.count > 0 {
			end := -1
			if next > 0 {
				end = int(first[next-1])
			}
			ends = append(ends, end)
			counts.AppendInt(p.count)
		}
		p.count = 1
		next++
	}
	if len(ends) == 0 {
		counts.Release()
	} else {
		rows, err := p.endRows(b, ends)
		if err != nil {
			counts.Release()
			return err
		}
		err = emit(transform.Main, rows.With(p.out, counts))
		rows.Release()
		if err != nil {
			return err
		}
	}
	if len(first) == 0 {
		return nil
	}
	one := b.Select(first[len(first)-1:])
	defer one.Release()
	return p.remember(one)
}

// Finish implements transform.Finisher.
func (p *uniqueProcessor) Finish(_ context.Context, emit transform.Emit) error {
	if !p.counts || p.count == 0 {
		return nil
	}
	counts := p.env.Alloc.Column(batch.Integer)
	counts.AppendInt(p.count)
	return emit(transform.Main, p.last.With(p.out, counts))
}

// Close frees the last row.
func (p *uniqueProcessor) Close() error {
	p.forget()
	return nil
}
