package transform

import (
	"reflect"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
)

// decoder reads settings from elements by the rules of reference 1.3.
type decoder struct {
	problems []Problem
	prefix   string
}

func (d *decoder) settings(v reflect.Value, list []Setting, el *hopxml.Element) {
	for i := range list {
		s := &list[i]
		d.setting(v.FieldByIndex(s.index), s, el)
	}
}

func (d *decoder) setting(v reflect.Value, s *Setting, el *hopxml.Element) {
	switch s.Kind {
	case KindTable:
		d.table(v, s, el)
	case KindList:
		v.Set(reflect.ValueOf(listTexts(s, el)).Convert(v.Type()))
	case KindGroup:
		d.settings(v, s.Items, locate(el, s))
	default:
		found := locate(el, s)
		if found == nil {
			setDefault(v, s)
			return
		}
		if err := setText(v, s, found.Text()); err != nil {
			d.problems = append(d.problems, Errorf(d.prefix+s.Key(), "%s", err.Error()))
			setDefault(v, s)
		}
	}
}

// locate finds the element of a setting under any of its names; the current name
// wins.
func locate(el *hopxml.Element, s *Setting) *hopxml.Element {
	if e := descend(el, s.Path); e != nil {
		return e
	}
	for _, a := range s.Aliases {
		if e := descend(el, a); e != nil {
			return e
		}
	}
	return nil
}

func descend(el *hopxml.Element, path []string) *hopxml.Element {
	for _, name := range path {
		if el = el.Child(name); el == nil {
			return nil
		}
	}
	return el
}

// itemElements gives the repeated elements of a table or list. An empty wrapper
// name in an alias means: directly in the parent.
func itemElements(el *hopxml.Element, s *Setting) []*hopxml.Element {
	for _, path := range append([][]string{s.Path}, s.Aliases...) {
		parent := descend(el, path[:len(path)-1])
		if parent == nil {
			continue
		}
		if items := parent.All(path[len(path)-1]); len(items) > 0 {
			return items
		}
	}
	return nil
}

func listTexts(s *Setting, el *hopxml.Element) []string {
	var texts []string
	for _, item := range itemElements(el, s) {
		texts = append(texts, item.Text())
	}
	return texts
}

func (d *decoder) table(v reflect.Value, s *Setting, el *hopxml.Element) {
	items := itemElements(el, s)
	prefix := d.prefix
	for n, item := range items {
		d.prefix = prefix + s.Key() + "[" + strconv.Itoa(n+1) + "]>"
		if s.Inline {
			d.inline(v, s, item)
			continue
		}
		row := reflect.New(v.Type().Elem()).Elem()
		d.settings(row, s.Items, item)
		v.Set(reflect.Append(v, row))
	}
	d.prefix = prefix
}

// inline reads a table whose columns repeat inside one element: the n-th element
// of each name makes the n-th row (reference 1.3). An element that holds each
// name once is one row.
func (d *decoder) inline(v reflect.Value, s *Setting, item *hopxml.Element) {
	rows := 0
	for i := range s.Items {
		rows = max(rows, len(item.All(s.Items[i].Path[0])))
	}
	for n := range rows {
		row := reflect.New(v.Type().Elem()).Elem()
		for i := range s.Items {
			c := &s.Items[i]
			all := item.All(c.Path[0])
			for a := 0; len(all) == 0 && a < len(c.Aliases); a++ {
				all = item.All(c.Aliases[a][0])
			}
			field := row.FieldByIndex(c.index)
			if n >= len(all) {
				setDefault(field, c)
				continue
			}
			if err := setText(field, c, all[n].Text()); err != nil {
				d.problems = append(d.problems, Errorf(d.prefix+c.Key(), "%s", err.Error()))
			}
		}
		v.Set(reflect.Append(v, row))
	}
}

func setDefaults(v reflect.Value, list []Setting) {
	for i := range list {
		f := v.FieldByIndex(list[i].index)
		switch list[i].Kind {
		case KindTable, KindList:
		case KindGroup:
			setDefaults(f, list[i].Items)
		default:
			setDefault(f, &list[i])
		}
	}
}

func setDefault(v reflect.Value, s *Setting) {
	if !s.HasDef {
		return
	}
	// A default is a literal of this program; a wrong one fails the test over all
	// definitions.
	_ = setText(v, s, s.Default)
}

// setText stores the text of an element in a setting.
func setText(v reflect.Value, s *Setting, text string) error {
	switch s.Kind {
	case KindExpr:
		v.Field(0).SetString(text)
	case KindFlag:
		v.SetBool(parseFlag(text))
	case KindNumber:
		return setNumber(v, s, text)
	case KindType:
		v.Set(reflect.ValueOf(parseTypeText(s, text)))
	case KindChoice:
		if v.Type() == trimType {
			v.Set(reflect.ValueOf(batch.ParseTrim(text)))
			return nil
		}
		v.SetString(choiceCode(v, s, text))
	default:
		v.SetString(text)
	}
	return nil
}

func parseTypeText(s *Setting, text string) batch.Type {
	if s.TypeID {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err == nil {
			return batch.TypeByID(n)
		}
	}
	return batch.ParseType(text)
}

func setNumber(v reflect.Value, s *Setting, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		setDefault(v, s)
		return nil
	}
	if v.Kind() == reflect.Float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return &numberError{text}
		}
		v.SetFloat(f)
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return &numberError{text}
	}
	v.SetInt(n)
	return nil
}

type numberError struct{ text string }

func (e *numberError) Error() string { return strconv.Quote(e.text) + " is not a whole number" }

// choiceCode gives the code as the choices spell it; an unknown or empty code is
// the default (reference 1.3, enum by code).
func choiceCode(v reflect.Value, s *Setting, text string) string {
	choices := v.Interface().(Choices).Choices()
	for _, c := range choices {
		if strings.EqualFold(c.Code, strings.TrimSpace(text)) {
			return c.Code
		}
	}
	if s.HasDef {
		return s.Default
	}
	return text
}
