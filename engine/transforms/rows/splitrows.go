package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/expr/javaregex"
	"sluice/engine/transform"
)

// SplitFieldToRows splits a text and makes one row of each part. A null text gives
// one row with an empty part; empty parts are kept, at the end too.
var SplitFieldToRows = transform.Define[SplitFieldToRowsSettings](transform.About{
	ID:       "SplitFieldToRows3",
	Name:     "Split field to rows",
	Category: transform.Reshape,
	Summary:  "Split a text and make a row of each part.",
})

// SplitFieldToRowsSettings lists the settings in the order the form shows them.
type SplitFieldToRowsSettings struct {
	Field     transform.Expr[string] `hop:"splitfield" form:"field" required:"true" label:"Field to split"`
	Delimiter transform.Expr[string] `hop:"delimiter" default:";"`
	Regex     bool                   `hop:"delimiter_is_regex" label:"The delimiter is a regular expression"`
	NewField  string                 `hop:"newfield" label:"New field" required:"true"`
	RowNumber bool                   `hop:"rownum" label:"Add a row number"`
	NumField  transform.Expr[string] `hop:"rownum_field" label:"Row number field"`
	Reset     bool                   `hop:"resetrownumber" label:"Start the row number over for each row"`
}

func (s *SplitFieldToRowsSettings) schema(l transform.Links, r transform.Resolver) (*batch.Schema, int, error) {
	if s.NewField == "" {
		return nil, 0, errors.New("the new field has no name")
	}
	name, err := s.Field.Eval(r)
	if err != nil {
		return nil, 0, fmt.Errorf("field to split: %w", err)
	}
	at, err := textIndex(inputOf(l), name)
	if err != nil {
		return nil, 0, err
	}
	fields := []batch.Field{textField(s.NewField, -1, l.Transform)}
	if s.RowNumber {
		name, err := s.NumField.Eval(r)
		if err != nil || name == "" {
			return nil, 0, missingName("the row number field", err)
		}
		fields = append(fields, integerField(name, l.Transform))
	}
	return inputOf(l).With(fields...), at, nil
}

// Output implements transform.Settings.
func (s *SplitFieldToRowsSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	schema, _, err := s.schema(l, d)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *SplitFieldToRowsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	core := splitRows{env: env, numbered: s.RowNumber, reset: s.Reset}
	var err error
	if core.schema, core.at, err = s.schema(l, env); err != nil {
		return nil, err
	}
	delimiter, err := s.Delimiter.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("delimiter: %w", err)
	}
	switch {
	case s.Regex:
		core.pattern, err = javaregex.Compile(delimiter, 0)
	case delimiter == "":
		core.pattern, err = javaregex.Compile("", 0)
	default:
		core.delimiter = []byte(delimiter)
	}
	if err != nil {
		return nil, err
	}
	if s.RowNumber && !s.Reset {
		return &splitRowsCounting{splitRows: core}, nil
	}
	return &splitRowsFree{splitRows: core}, nil
}

type splitRows struct {
	transform.TakesRaw
	env             *transform.Env
	schema          *batch.Schema
	at              int
	delimiter       []byte
	pattern         *javaregex.Regexp
	numbered, reset bool
}

// splitRowsFree numbers within a row or not at all.
type splitRowsFree struct {
	transform.Stateless
	splitRows
}

// Apply implements transform.RowWise.
func (p *splitRowsFree) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	var number int64
	return p.apply(ctx, b, emit, &number)
}

// splitRowsCounting numbers all rows it makes.
type splitRowsCounting struct {
	transform.Stateful
	splitRows
	number int64
}

// Apply implements transform.RowWise.
func (p *splitRowsCounting) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	return p.apply(ctx, b, emit, &p.number)
}

func (p *splitRows) apply(ctx context.Context, b *batch.Batch, emit transform.Emit, number *int64) error {
	x := newExpansion(p.env, p.schema, b, emit)
	defer x.release()
	source := b.Cols[p.at]
	for i := range b.All() {
		if p.reset {
			*number = 0
		}
		err := p.parts(source.Bytes(i), func(part []byte) error {
			*number++
			x.extra[0].AppendBytes(part)
			if p.numbered {
				x.extra[1].AppendInt(*number)
			}
			return x.add(ctx, i)
		})
		if err != nil {
			return err
		}
	}
	return x.flush()
}

// parts yields the pieces of a text as Java's split with a limit of -1 does.
func (p *splitRows) parts(text []byte, yield func([]byte) error) error {
	if p.pattern != nil {
		return p.matched(text, yield)
	}
	for {
		at := bytes.Index(text, p.delimiter)
		if at < 0 {
			return yield(text)
		}
		if err := yield(text[:at]); err != nil {
			return err
		}
		text = text[at+len(p.delimiter):]
	}
}

func (p *splitRows) matched(text []byte, yield func([]byte) error) error {
	at := 0
	for _, m := range p.pattern.FindAllSubmatch(text) {
		if m[1] == 0 {
			continue // an empty match at the start gives no empty piece
		}
		if err := yield(text[at:m[0]]); err != nil {
			return err
		}
		at = m[1]
	}
	return yield(text[at:])
}
