package script

import (
	"context"
	"errors"
	"iter"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/expr/calc"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Calculator appends fields computed of others, from top to bottom; a later
// calculation may use the result of an earlier one.
var Calculator = transform.Define[CalculatorSettings](transform.About{
	ID:       "Calculator",
	Name:     "Calculator",
	Category: transform.Reshape,
	Summary:  "Append fields computed from other fields.",
})

// CalculatorSettings lists the settings in the order the form shows them.
type CalculatorSettings struct {
	FailIfNoFile bool          `hop:"failIfNoFile" label:"Fail when a file does not exist"`
	Calculations []Calculation `hop:"calculation" required:"true" help:"Computed from top to bottom"`
}

// Calculation is one new field.
type Calculation struct {
	Field     string          `hop:"field_name" label:"New field" required:"true"`
	Type      CalculationType `hop:"calc_type" label:"Calculation" default:"-" required:"true"`
	A         string          `hop:"field_a" label:"Field A" form:"field"`
	B         string          `hop:"field_b" label:"Field B" form:"field"`
	C         string          `hop:"field_c" label:"Field C" form:"field"`
	ValueType batch.Type      `hop:"value_type" default:"None" required:"true"`
	Length    int             `hop:"value_length" default:"-1"`
	Precision int             `hop:"value_precision" default:"-1"`
	Mask      string          `hop:"conversion_mask" form:"mask"`
	Decimal   string          `hop:"decimal_symbol" advanced:"true"`
	Grouping  string          `hop:"grouping_symbol" advanced:"true"`
	Currency  string          `hop:"currency_symbol" advanced:"true"`
	Remove    bool            `hop:"remove" help:"Use it in later calculations only"`
}

// CalculationType is the code of a calculation.
type CalculationType string

// Choices implements transform.Choices.
func (CalculationType) Choices() []transform.Choice {
	var list []transform.Choice
	for _, c := range calc.Codes() {
		list = append(list, transform.Choice{Code: string(c.Code), Label: c.Label})
	}
	return list
}

// AfterDecode implements transform.AfterDecoder: codes that no list knows stay as
// they are, so that they are reported and not taken for "-".
func (s *CalculatorSettings) AfterDecode(el *hopxml.Element) {
	for i, c := range el.All("calculation") {
		if text := strings.TrimSpace(c.Child("calc_type").Text()); text != "" && i < len(s.Calculations) {
			s.Calculations[i].Type = CalculationType(text)
		}
	}
}

func (c *Calculation) target(origin string) batch.Field {
	f := batch.NewField(c.Field, c.ValueType)
	f.Length, f.Precision, f.Mask, f.Origin = c.Length, c.Precision, c.Mask, origin
	f.Decimal, f.Grouping, f.Currency = c.Decimal, c.Grouping, c.Currency
	return f
}

func (s *CalculatorSettings) list(origin string) []calc.Calculation {
	list := make([]calc.Calculation, len(s.Calculations))
	for i := range s.Calculations {
		c := &s.Calculations[i]
		list[i] = calc.Calculation{Code: calc.Code(c.Type), A: c.A, B: c.B, C: c.C, Target: c.target(origin), Remove: c.Remove}
	}
	return list
}

// Output implements transform.Settings.
func (s *CalculatorSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main().With(s.kept(l.Transform)...))
}

func (s *CalculatorSettings) kept(origin string) []batch.Field {
	var fields []batch.Field
	for i := range s.Calculations {
		if !s.Calculations[i].Remove {
			fields = append(fields, s.Calculations[i].target(origin))
		}
	}
	return fields
}

// Check implements transform.Checker.
func (s *CalculatorSettings) Check(l transform.Links, d transform.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		if l.Main() == nil {
			return
		}
		if _, err := calc.Compile(l.Main(), s.list(l.Transform), calc.Options{Semantics: d.Semantics()}); err != nil {
			yield(transform.Errorf("calculation", "%v", err))
		}
	}
}

// Start implements transform.Settings.
func (s *CalculatorSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if l.Main() == nil {
		return nil, errNoInput
	}
	program, err := calc.Compile(l.Main(), s.list(l.Transform), calc.Options{
		Semantics: env.Semantics, Alloc: env.Alloc, Resolve: env.Resolve, Files: env.Files, FailIfNoFile: s.FailIfNoFile,
	})
	if err != nil {
		return nil, err
	}
	return &calculatorProcessor{env: env, program: program, schema: l.Main().With(s.kept(l.Transform)...)}, nil
}

var errNoInput = errors.New("no input; draw a hop to this transform")

type calculatorProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env     *transform.Env
	program *calc.Program
	schema  *batch.Schema
}

// Apply implements transform.RowWise.
func (p *calculatorProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	cols, err := p.program.Run(ctx, b)
	if err != nil {
		return p.failure(b, err)
	}
	return emit(transform.Main, b.With(p.schema, cols...))
}

func (p *calculatorProcessor) failure(b *batch.Batch, err error) error {
	field := ""
	if c, ok := errors.AsType[*calc.Error](err); ok {
		field = c.Field
	}
	out := rowFailure(p.env, b, field, err)
	var e *engine.Error
	if errors.Is(err, calc.ErrNoFile) && errors.As(out, &e) {
		e.Hint = `switch "Fail when a file does not exist" off to get null instead`
	}
	return out
}

// Needs implements transform.FieldUser: new fields follow those of the input.
func (s *CalculatorSettings) Needs(l transform.Links, out []bool) []bool {
	var used []string
	for _, c := range s.Calculations {
		used = append(used, c.A, c.B, c.C)
	}
	return transform.PassingNeeds(l, out, used...)
}
