package transform

import (
	"fmt"
	"reflect"
	"strings"

	"sluice/engine/batch"
)

// Kind is what a setting holds, for codecs and forms.
type Kind int

// The kinds of settings.
const (
	KindText   Kind = iota // string
	KindExpr               // Expr: text, number or flag that may hold a variable
	KindNumber             // int, int64, float64
	KindFlag               // bool
	KindChoice             // a string type with Choices
	KindType               // batch.Type
	KindSecret             // Secret
	KindTable              // slice of structs
	KindList               // slice of strings
	KindGroup              // nested struct
)

// Setting is one field of a settings struct as its tags describe it:
//
//	hop:"fields>field,alias=old,inline"   element path below the transform, other names it may have
//	default:"…"    value when the element is absent; a flag without one is false
//	label, help, unit, min, max, form, ref, required, advanced
//
// A path ending in a repeated element ("fields>field") is used for slices. inline
// marks old tables whose columns repeat inside one element. typeid stores a
// batch.Type by its number.
type Setting struct {
	Name     string // Go field name
	Path     []string
	Aliases  [][]string
	Kind     Kind
	Inline   bool
	TypeID   bool
	YesNo    bool // written yes/no in the file
	Default  string
	HasDef   bool
	Label    string
	Help     string
	Unit     string
	Min, Max string
	Form     string // "field", "file", "folder", "connection", "transform", "sql", "script", "multiline", "mask" …
	Required bool
	Advanced bool
	Items    []Setting // of a table or group
	index    []int
	typ      reflect.Type
}

// Key is the path as written in the tag: "fields>field".
func (s *Setting) Key() string { return strings.Join(s.Path, ">") }

// Title is what a form shows: the label, or one made from the Go name.
func (s *Setting) Title() string {
	if s.Label != "" {
		return s.Label
	}
	var b strings.Builder
	for i, r := range s.Name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Choice is one value of an enumerated setting.
type Choice struct{ Code, Label, Help string }

// Choices is implemented by string types whose values are enumerated.
type Choices interface{ Choices() []Choice }

var (
	choicesType = reflect.TypeFor[Choices]()
	exprType    = reflect.TypeFor[exprText]()
	secretType  = reflect.TypeFor[Secret]()
	batchType   = reflect.TypeFor[batch.Type]()
	trimType    = reflect.TypeFor[batch.Trim]()
)

var knownTags = map[string]bool{
	"hop": true, "default": true, "label": true, "help": true, "unit": true, "min": true, "max": true,
	"form": true, "required": true, "advanced": true, "json": true,
}

// parseSettings reads the tags of a settings struct. Embedded structs are
// flattened; fields without a hop tag are not settings.
func parseSettings(t reflect.Type, where string) ([]Setting, error) {
	var list []Setting
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("hop")
		if !ok && f.Anonymous && f.Type.Kind() == reflect.Struct {
			inner, err := parseSettings(f.Type, where)
			if err != nil {
				return nil, err
			}
			for k := range inner {
				inner[k].index = append([]int{i}, inner[k].index...)
			}
			list = append(list, inner...)
			continue
		}
		if !ok {
			continue
		}
		s, err := parseSetting(f, tag)
		if err != nil {
			return nil, fmt.Errorf("%s.%s%s: %w", t.Name(), where, f.Name, err)
		}
		s.index = []int{i}
		list = append(list, s)
	}
	return list, nil
}

func parseSetting(f reflect.StructField, tag string) (Setting, error) {
	s := Setting{Name: f.Name, typ: f.Type}
	if err := checkTags(string(f.Tag)); err != nil {
		return s, err
	}
	words := strings.Split(tag, ",")
	if words[0] != "" {
		s.Path = strings.Split(words[0], ">")
	}
	for _, w := range words[1:] {
		switch {
		case strings.HasPrefix(w, "alias="):
			s.Aliases = append(s.Aliases, strings.Split(w[len("alias="):], ">"))
		case w == "inline":
			s.Inline = true
		case w == "typeid":
			s.TypeID = true
		case w == "yesno":
			s.YesNo = true
		default:
			return s, fmt.Errorf("unknown word %q in hop tag", w)
		}
	}
	s.Default, s.HasDef = f.Tag.Lookup("default")
	s.Label, s.Help, s.Unit = f.Tag.Get("label"), f.Tag.Get("help"), f.Tag.Get("unit")
	s.Min, s.Max, s.Form = f.Tag.Get("min"), f.Tag.Get("max"), f.Tag.Get("form")
	s.Required, s.Advanced = f.Tag.Get("required") == "true", f.Tag.Get("advanced") == "true"
	return s, s.classify(f.Type)
}

func checkTags(tag string) error {
	for rest := tag; strings.TrimSpace(rest) != ""; {
		name, after, ok := strings.Cut(strings.TrimSpace(rest), ":\"")
		if !ok {
			return fmt.Errorf("malformed tag %q", rest)
		}
		if !knownTags[name] {
			return fmt.Errorf("unknown tag %q", name)
		}
		end := closingQuote(after)
		if end < 0 {
			return fmt.Errorf("malformed tag %q", rest)
		}
		rest = after[end+1:]
	}
	return nil
}

func closingQuote(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

func (s *Setting) classify(t reflect.Type) error {
	switch {
	case t == secretType:
		s.Kind = KindSecret
	case t == batchType:
		s.Kind = KindType
	case t == trimType:
		s.Kind = KindChoice
	case t.Implements(exprType):
		s.Kind = KindExpr
	case t.Kind() == reflect.String && t.Implements(choicesType):
		s.Kind = KindChoice
	case t.Kind() == reflect.String:
		s.Kind = KindText
	case t.Kind() == reflect.Bool:
		s.Kind = KindFlag
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64, t.Kind() == reflect.Float64:
		s.Kind = KindNumber
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		s.Kind = KindList
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		s.Kind = KindTable
		return s.items(t.Elem())
	case t.Kind() == reflect.Struct:
		s.Kind = KindGroup
		return s.items(t)
	default:
		return fmt.Errorf("type %s cannot be a setting", t)
	}
	return nil
}

func (s *Setting) items(t reflect.Type) (err error) {
	s.Items, err = parseSettings(t, s.Name+".")
	return err
}
