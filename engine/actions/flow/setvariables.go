package flow

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// SetVariables sets variables: those of a properties file first, then those of
// its table.
var SetVariables = action.Define[SetVariablesSettings](action.About{
	ID:        "SET_VARIABLES",
	Name:      "Set variables",
	Category:  action.CategoryGeneral,
	Summary:   "Set variables from a table or a properties file.",
	ReadsOnly: true,
})

// VariableScope says whose variable is set.
type VariableScope string

// Choices implements transform.Choices.
func (VariableScope) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "JVM", Label: "everywhere in this process"},
		{Code: "CURRENT_WORKFLOW", Label: "in this workflow"},
		{Code: "PARENT_WORKFLOW", Label: "in the parent workflow"},
		{Code: "ROOT_WORKFLOW", Label: "in the root workflow"},
	}
}

var variableScopes = map[VariableScope]action.Scope{
	"JVM": action.ScopeProcess, "CURRENT_WORKFLOW": action.ScopeWorkflow,
	"PARENT_WORKFLOW": action.ScopeParent, "ROOT_WORKFLOW": action.ScopeRoot,
}

// SetVariablesSettings lists the settings in the order the form shows them.
type SetVariablesSettings struct {
	Replace   bool                   `hop:"replacevars" label:"Substitute variables in the values"`
	File      transform.Expr[string] `hop:"filename" form:"file" label:"Properties file"`
	FileScope VariableScope          `hop:"file_variable_type" default:"CURRENT_WORKFLOW" label:"Scope of the file's variables"`
	Fields    []VariableToSet        `hop:"fields>field"`
}

// VariableToSet is one variable.
type VariableToSet struct {
	Name  string        `hop:"variable_name" required:"true"`
	Value string        `hop:"variable_value"`
	Scope VariableScope `hop:"variable_type" default:"JVM" label:"Scope"`
}

// Run implements action.Settings.
func (s *SetVariablesSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	list, err := s.fromFile(ctx, env)
	if err != nil {
		return err
	}
	for _, v := range append(list, s.Fields...) {
		if s.Replace {
			if v.Name, err = env.Resolve(v.Name); err != nil {
				return err
			}
			if v.Value, err = env.Resolve(v.Value); err != nil {
				return err
			}
		}
		if v.Name == "" {
			return &engine.Error{Message: "a variable has no name", Hint: "give its name or remove the row"}
		}
		err := env.Scopes.Set(v.Name, v.Value, variableScopes[v.Scope])
		if errors.Is(err, action.ErrNoParent) {
			return &engine.Error{Message: fmt.Sprintf("variable %s cannot be set in the parent workflow", v.Name), Hint: "no workflow runs this one; set it in the current workflow", Err: err}
		}
		if err != nil {
			return fmt.Errorf("set variable %s: %w", v.Name, err)
		}
	}
	r.Succeed()
	return nil
}

func (s *SetVariablesSettings) fromFile(ctx context.Context, env *action.Env) ([]VariableToSet, error) {
	name, err := s.File.Eval(env)
	if err != nil || name == "" {
		return nil, err
	}
	data, err := files.ReadAll(ctx, env.Files, name)
	if err != nil {
		return nil, fmt.Errorf("properties file %s: %w", name, err)
	}
	list, err := parseProperties(string(data))
	if err != nil {
		return nil, fmt.Errorf("properties file %s: %w", name, err)
	}
	for i := range list {
		list[i].Scope = s.FileScope
	}
	return list, nil
}

// parseProperties reads the format of java.util.Properties, in file order: keys
// end at the first blank, = or :, backslashes escape, a backslash at the end
// joins lines.
func parseProperties(text string) ([]VariableToSet, error) {
	var list []VariableToSet
	for n, line := range logicalLines(strings.TrimPrefix(text, "\uFEFF")) {
		end := 0
		for end < len(line) && !strings.ContainsRune(" \t\f=:", rune(line[end])) {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(line))
		rest := strings.TrimLeft(line[end:], " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		key, err := unescapeProperty(line[:end])
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", n+1, err)
		}
		value, err := unescapeProperty(rest)
		if err != nil {
			return nil, fmt.Errorf("entry %d, key %s: %w", n+1, key, err)
		}
		list = append(list, VariableToSet{Name: key, Value: value})
	}
	return list, nil
}

// logicalLines joins continued lines and drops comments and blank ones.
func logicalLines(text string) []string {
	var lines []string
	current, joined := "", false
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeft(line, " \t\f")
		if !joined && (line == "" || line[0] == '#' || line[0] == '!') {
			continue
		}
		slashes := len(line) - len(strings.TrimRight(line, `\`))
		if joined = slashes%2 == 1; joined {
			current += line[:len(line)-1]
			continue
		}
		lines = append(lines, current+line)
		current = ""
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

var propertyEscapes = map[byte]rune{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f'}

func unescapeProperty(text string) (string, error) {
	var b strings.Builder
	var units []uint16
	flush := func() {
		b.WriteString(string(utf16.Decode(units)))
		units = units[:0]
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			flush()
			r, size := utf8.DecodeRuneInString(text[i:])
			b.WriteRune(r)
			i += size - 1
			continue
		}
		i++
		if text[i] == 'u' {
			if i+5 > len(text) {
				return "", errors.New(`a \u escape needs four hexadecimal digits`)
			}
			unit, err := strconv.ParseUint(text[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf(`\u%s: four hexadecimal digits are needed`, text[i+1:i+5])
			}
			units = append(units, uint16(unit))
			i += 4
			continue
		}
		flush()
		if r, ok := propertyEscapes[text[i]]; ok {
			b.WriteRune(r)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		b.WriteRune(r)
		i += size - 1
	}
	flush()
	return b.String(), nil
}
