package flow

import (
	"context"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/batch/mask"
	"sluice/engine/expr/javaregex"
	"sluice/engine/transform"
)

// SimpleEval compares one value: a field of the first result row, a variable, the
// number of result files, or the log text. The outcome is the comparison's.
var SimpleEval = action.Define[SimpleEvalSettings](action.About{
	ID:        "SIMPLE_EVAL",
	Name:      "Simple evaluation",
	Category:  action.CategoryFlow,
	Summary:   "Compare a field, a variable, the result files or the log.",
	ReadsOnly: true,
})

// ValueSource says what is compared.
type ValueSource string

// Choices implements transform.Choices.
func (ValueSource) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "field", Label: "field of the first result row"},
		{Code: "variable", Label: "variable"},
		{Code: "resultfiles", Label: "number of result files"},
		{Code: "logtext", Label: "log text"},
	}
}

// ValueKind says how it is compared.
type ValueKind string

// Choices implements transform.Choices.
func (ValueKind) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "string", Label: "text"}, {Code: "number", Label: "number"}, {Code: "datetime", Label: "date"}, {Code: "boolean", Label: "true or false"},
	}
}

// TextCondition compares texts.
type TextCondition string

// Choices implements transform.Choices.
func (TextCondition) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "equal", Label: "is equal"},
		{Code: "different", Label: "differs"},
		{Code: "contains", Label: "contains"},
		{Code: "notcontains", Label: "does not contain"},
		{Code: "startswith", Label: "starts with"},
		{Code: "notstatwith", Label: "does not start with"},
		{Code: "endswith", Label: "ends with"},
		{Code: "notendwith", Label: "does not end with"},
		{Code: "regexp", Label: "matches"},
		{Code: "inlist", Label: "is in the list"},
		{Code: "notinlist", Label: "is not in the list"},
	}
}

// BooleanCondition is the truth that is wanted.
type BooleanCondition string

// Choices implements transform.Choices.
func (BooleanCondition) Choices() []transform.Choice {
	return []transform.Choice{{Code: "false", Label: "is false"}, {Code: "true", Label: "is true"}}
}

// SimpleEvalSettings lists the settings in the order the form shows them.
type SimpleEvalSettings struct {
	Source     ValueSource            `hop:"valuetype" default:"field" label:"Value"`
	Field      string                 `hop:"fieldname"`
	Variable   string                 `hop:"variablename" help:"A name, or ${NAME}"`
	Kind       ValueKind              `hop:"fieldtype" default:"string" label:"Compare as"`
	Mask       transform.Expr[string] `hop:"mask" form:"mask"`
	Compare    transform.Expr[string] `hop:"comparevalue" label:"Compare with"`
	Min        transform.Expr[string] `hop:"minvalue"`
	Max        transform.Expr[string] `hop:"maxvalue"`
	OnText     TextCondition          `hop:"successcondition" default:"equal" label:"Success when the text"`
	OnNumber   action.NumberCondition `hop:"successnumbercondition" default:"equal" label:"Success when the number"`
	OnBoolean  BooleanCondition       `hop:"successbooleancondition" default:"false" label:"Success when it"`
	WhenVarSet bool                   `hop:"successwhenvarset" label:"Success when the variable is set"`
}

// Run implements action.Settings.
func (s *SimpleEvalSettings) Run(_ context.Context, env *action.Env, r *action.Result) error {
	r.OK = false
	if s.Source == "variable" && s.WhenVarSet {
		_, r.OK = env.Vars.Get(bareName(s.Variable))
		return nil
	}
	value, found, err := s.value(env, r)
	if err != nil || !found {
		return err
	}
	ok, err := s.holds(env, value)
	if err != nil {
		return err
	}
	if r.OK = ok; ok {
		r.Errors = 0
	}
	return nil
}

// bareName gives the name of a variable that may be written ${NAME} or %%NAME%%.
func bareName(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "${"); ok {
		return strings.TrimSuffix(inner, "}")
	}
	if inner, ok := strings.CutPrefix(text, "%%"); ok {
		return strings.TrimSuffix(inner, "%%")
	}
	return text
}

// value gives the text to compare; not found means that there is no result row.
func (s *SimpleEvalSettings) value(env *action.Env, r *action.Result) (string, bool, error) {
	switch s.Source {
	case "variable":
		if name := bareName(s.Variable); name == "" {
			return "", false, &engine.Error{Message: "no variable is named", Hint: "give the variable to compare"}
		}
		// An undefined variable is compared as its own token, as in Hop.
		text, err := env.Resolve("${" + bareName(s.Variable) + "}")
		return text, true, err
	case "resultfiles":
		return fmt.Sprint(len(r.ResultFiles)), true, nil
	case "logtext":
		return r.LogText, true, nil
	}
	for _, b := range r.Rows {
		if b.Rows() == 0 {
			continue
		}
		if b.Schema.Index(s.Field) < 0 {
			return "", false, &engine.Error{
				Field: s.Field, Message: "this field is not in the result rows",
				Hint: "they have " + strings.Join(b.Schema.Names(), ", "),
			}
		}
		text, _ := fieldText(env, b, s.Field)
		return text, true, nil
	}
	env.Log.Error("There is no result row to compare", "field", s.Field)
	r.Errors = 1
	return "", false, nil
}

func (s *SimpleEvalSettings) kind() ValueKind {
	switch s.Source {
	case "resultfiles":
		return "number"
	case "logtext":
		return "string"
	}
	return s.Kind
}

func (s *SimpleEvalSettings) holds(env *action.Env, value string) (bool, error) {
	var text [3]string
	for i, e := range []transform.Expr[string]{s.Compare, s.Min, s.Max} {
		var err error
		if text[i], err = e.Eval(env); err != nil {
			return false, err
		}
	}
	switch s.kind() {
	case "number":
		return action.Compare(s.OnNumber, value, text[0], text[1], text[2], action.ParseNumber, func(a, b float64) int { return batch.CompareFloats(a, b) })
	case "datetime":
		parse, err := s.dateParser(env)
		if err != nil {
			return false, err
		}
		return action.Compare(s.OnNumber, value, text[0], text[1], text[2], parse, func(a, b int64) int { return int(max(-1, min(1, a-b))) })
	case "boolean":
		return truth(value) == (s.OnBoolean == "true"), nil
	}
	return s.textHolds(value, text[0])
}

// truth reads a boolean as Hop does.
func truth(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "true", "t", "1":
		return true
	}
	return false
}

const defaultDateMask = "yyyy/MM/dd HH:mm:ss.SSS"

func (s *SimpleEvalSettings) dateParser(env *action.Env) (func(string) (int64, error), error) {
	pattern, err := s.Mask.Or(env, defaultDateMask)
	if err != nil {
		return nil, err
	}
	m, err := mask.CompileDate(pattern, mask.DateOptions{Location: env.Location, Lenient: true})
	if err != nil {
		return nil, err
	}
	return func(text string) (int64, error) {
		ms, _, err := m.ParseMillis([]byte(strings.TrimSpace(text)))
		if err != nil {
			return 0, fmt.Errorf("%q is no date of the form %s", text, pattern)
		}
		return ms, nil
	}, nil
}

func (s *SimpleEvalSettings) textHolds(value, with string) (bool, error) {
	switch s.OnText {
	case "different":
		return value != with, nil
	case "contains":
		return strings.Contains(value, with), nil
	case "notcontains":
		return !strings.Contains(value, with), nil
	case "startswith":
		return strings.HasPrefix(value, with), nil
	case "notstatwith":
		return !strings.HasPrefix(value, with), nil
	case "endswith":
		return strings.HasSuffix(value, with), nil
	case "notendwith":
		return !strings.HasSuffix(value, with), nil
	case "regexp":
		re, err := javaregex.Compile(with, 0)
		if err != nil {
			return false, err
		}
		return re.MatchWholeString(value), nil
	case "inlist", "notinlist":
		in := false
		for item := range strings.SplitSeq(with, ",") {
			in = in || strings.TrimSpace(item) == value
		}
		return in == (s.OnText == "inlist"), nil
	}
	return value == with, nil
}
