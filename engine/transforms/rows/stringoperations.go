package rows

import (
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// StringOperations trims, changes case, pads, escapes and cleans text, in that
// order. A step is left out for a null or empty text.
var StringOperations = transform.Define[StringOperationsSettings](transform.About{
	ID:            "StringOperations",
	Name:          "String operations",
	Category:      transform.Reshape,
	Summary:       "Trim, change case, pad, escape and clean text.",
	HandlesErrors: true,
})

// StringOperationsSettings lists the settings in the order the form shows them.
type StringOperationsSettings struct {
	Fields []StringOperation `hop:"fields>field" required:"true"`
}

// StringOperation is one field with its steps.
type StringOperation struct {
	In      string                 `hop:"in_stream_name" form:"field" required:"true" label:"Field"`
	Out     transform.Expr[string] `hop:"out_stream_name" label:"Output field" help:"Empty changes the field in place"`
	Trim    batch.Trim             `hop:"trim_type" default:"none"`
	Case    LetterCase             `hop:"lower_upper" default:"none" label:"Lower or upper"`
	Padding PaddingSide            `hop:"padding_type" default:"none"`
	PadChar transform.Expr[string] `hop:"pad_char"`
	PadLen  transform.Expr[string] `hop:"pad_len" label:"Pad length"`
	InitCap bool                   `hop:"init_cap,yesno" label:"Capitalise words"`
	Mask    TextMask               `hop:"mask_xml" default:"none" label:"Escape"`
	Digits  DigitFilter            `hop:"digits" default:"none"`
	Special SpecialFilter          `hop:"remove_special_characters" default:"none" label:"Remove special characters"`
}

// LetterCase is a change of case.
type LetterCase string

// Choices implements transform.Choices.
func (LetterCase) Choices() []transform.Choice {
	return []transform.Choice{{Code: "none", Label: "None"}, {Code: "lower", Label: "Lower"}, {Code: "upper", Label: "Upper"}}
}

// PaddingSide is where a text is filled up.
type PaddingSide string

// Choices implements transform.Choices.
func (PaddingSide) Choices() []transform.Choice {
	return []transform.Choice{{Code: "none", Label: "None"}, {Code: "left", Label: "Left"}, {Code: "right", Label: "Right"}}
}

// TextMask is a way to escape a text.
type TextMask string

// Choices implements transform.Choices.
func (TextMask) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "none", Label: "None"},
		{Code: "escapexml", Label: "Escape XML"},
		{Code: "cdata", Label: "Use CDATA"},
		{Code: "unescapexml", Label: "Unescape XML"},
		{Code: "escapesql", Label: "Escape SQL"},
		{Code: "escapehtml", Label: "Escape HTML"},
		{Code: "unescapehtml", Label: "Unescape HTML"},
	}
}

// DigitFilter keeps or drops digits.
type DigitFilter string

// Choices implements transform.Choices.
func (DigitFilter) Choices() []transform.Choice {
	return []transform.Choice{{Code: "none", Label: "None"}, {Code: "digits_only", Label: "Digits only"}, {Code: "remove_digits", Label: "Remove digits"}}
}

// SpecialFilter drops control characters or blanks.
type SpecialFilter string

// Choices implements transform.Choices.
func (SpecialFilter) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "none", Label: "None"},
		{Code: "cr", Label: "Carriage return"},
		{Code: "lf", Label: "Line feed"},
		{Code: "crlf", Label: "Carriage return and line feed"},
		{Code: "tab", Label: "Tab"},
		{Code: "espace", Label: "Blank"},
	}
}

// newTextLength is the length that Hop gives to fields of this transform.
const newTextLength = 100

func (s *StringOperationsSettings) edits(r transform.Resolver) ([]textEdit, error) {
	var list []textEdit
	for i := range s.Fields {
		f := &s.Fields[i]
		out, err := resolved(r, "output field", f.Out)
		if err != nil {
			return nil, err
		}
		e := textEdit{in: f.In, out: out, length: newTextLength, grow: -1}
		if f.Padding == "left" || f.Padding == "right" {
			n, err := resolved(r, "pad length", f.PadLen)
			if err != nil {
				return nil, err
			}
			e.grow = int(wholeNumber(n, 0))
		}
		list = append(list, e)
	}
	return list, nil
}

// Output implements transform.Settings.
func (s *StringOperationsSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
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
func (s *StringOperationsSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	edits, err := s.edits(env)
	if err != nil {
		return nil, err
	}
	p := &textProcessor{env: env}
	if p.schema, p.in, p.out, err = textLayout(l, edits); err != nil {
		return nil, err
	}
	var steps [][]textStep
	for i := range s.Fields {
		list, err := s.Fields[i].steps(env)
		if err != nil {
			return nil, err
		}
		steps = append(steps, list)
	}
	p.apply = func(k int, b *batch.Batch, col *batch.Column, _ *failures) (*batch.Column, error) {
		if len(steps[k]) == 0 {
			return col.Retain(), nil
		}
		run := stepRun{steps: steps[k]}
		return mapText(b, col, run.append), nil
	}
	return p, nil
}

// textStep appends the changed text to dst.
type textStep func(dst, text []byte) []byte

func (f *StringOperation) steps(env *transform.Env) ([]textStep, error) {
	var list []textStep
	if trim := f.Trim; trim != batch.TrimNone {
		list = append(list, func(dst, text []byte) []byte { return append(dst, trim.Apply(text)...) })
	}
	switch f.Case {
	case "lower":
		list = append(list, appendLower)
	case "upper":
		list = append(list, appendUpper)
	}
	pad, err := f.padding(env)
	if err != nil {
		return nil, err
	}
	if pad != nil {
		list = append(list, pad)
	}
	if f.InitCap {
		list = append(list, appendInitCap)
	}
	for _, step := range []textStep{maskSteps[f.Mask], digitSteps[f.Digits], specialSteps[f.Special]} {
		if step != nil {
			list = append(list, step)
		}
	}
	return list, nil
}

func (f *StringOperation) padding(env *transform.Env) (textStep, error) {
	if f.Padding != "left" && f.Padding != "right" {
		return nil, nil
	}
	filler, err := resolved(env, "pad character", f.PadChar)
	if err != nil {
		return nil, err
	}
	text, err := resolved(env, "pad length", f.PadLen)
	if err != nil {
		return nil, err
	}
	p := padding{filler: []byte(filler), size: int(wholeNumber(text, 0))}
	if len(p.filler) == 0 || p.size <= 0 {
		return nil, nil
	}
	if f.Padding == "left" {
		return p.left, nil
	}
	return p.right, nil
}

// stepRun runs the steps of one entry over one column, with scratch memory of its
// own.
type stepRun struct {
	steps []textStep
	a, b  []byte
}

func (r *stepRun) append(dst, text []byte) ([]byte, bool) {
	last := len(r.steps) - 1
	for k, step := range r.steps {
		if len(text) == 0 {
			return dst, true
		}
		if k == last {
			return step(dst, text), true
		}
		r.a = step(r.a[:0], text)
		text = r.a
		r.a, r.b = r.b, r.a
	}
	return dst, true
}
