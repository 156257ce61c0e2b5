package transform

import (
	"fmt"
	"reflect"
	"strconv"

	"sluice/engine/batch"
)

// Entry is the value of one setting as text, in a tree that a form can edit: what
// a person types need not be a value of the setting's type. Flags are "Y" or "N",
// types and choices are their codes, everything else is as a file stores it.
type Entry struct {
	Setting *Setting
	Text    string    // of a simple setting
	Items   []Entry   // of a group
	Rows    [][]Entry // of a table: one entry per column; of a list: one entry
}

// Entries gives settings as entries, in the order of the struct. The error is that
// of Settings.
func (d Definition) Entries(s Settings) ([]Entry, error) {
	list, err := d.Settings()
	if err != nil {
		return nil, err
	}
	return entriesOf(reflect.ValueOf(s).Elem(), list), nil
}

// Entries gives settings as entries; s points to the settings struct.
func (l *Layout) Entries(s any) ([]Entry, error) {
	list, err := l.Settings()
	if err != nil {
		return nil, err
	}
	return entriesOf(reflect.ValueOf(s).Elem(), list), nil
}

func entriesOf(v reflect.Value, list []Setting) []Entry {
	out := make([]Entry, len(list))
	for i := range list {
		s := &list[i]
		f := v.FieldByIndex(s.index)
		e := Entry{Setting: s}
		switch s.Kind {
		case KindGroup:
			e.Items = entriesOf(f, s.Items)
		case KindTable:
			for n := range f.Len() {
				e.Rows = append(e.Rows, entriesOf(f.Index(n), s.Items))
			}
		case KindList:
			for n := range f.Len() {
				e.Rows = append(e.Rows, []Entry{{Setting: s, Text: f.Index(n).String()}})
			}
		default:
			e.Text = entryText(f)
		}
		out[i] = e
	}
	return out
}

// NewRow gives a row of a table with every default in place, or an empty item of a
// list; nil for other kinds.
func (s *Setting) NewRow() []Entry {
	switch s.Kind {
	case KindTable:
		row := reflect.New(s.typ.Elem()).Elem()
		setDefaults(row, s.Items)
		return entriesOf(row, s.Items)
	case KindList:
		return []Entry{{Setting: s}}
	}
	return nil
}

// CloneEntries copies entries, rows and groups included.
func CloneEntries(list []Entry) []Entry {
	if list == nil {
		return nil
	}
	out := make([]Entry, len(list))
	for i, e := range list {
		e.Items = CloneEntries(e.Items)
		rows := e.Rows
		e.Rows = nil
		for _, r := range rows {
			e.Rows = append(e.Rows, CloneEntries(r))
		}
		out[i] = e
	}
	return out
}

// EqualEntries tells whether two lists of entries of the same settings hold the
// same values.
func EqualEntries(a, b []Entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].equal(&b[i]) {
			return false
		}
	}
	return true
}

func (e *Entry) equal(f *Entry) bool {
	if e.Text != f.Text || len(e.Rows) != len(f.Rows) || !EqualEntries(e.Items, f.Items) {
		return false
	}
	for n := range e.Rows {
		if !EqualEntries(e.Rows[n], f.Rows[n]) {
			return false
		}
	}
	return true
}

// entryText gives the value of a simple setting as an entry has it.
func entryText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case exprText:
		return x.exprText()
	case Secret:
		return string(x)
	case batch.Type:
		return x.String()
	case batch.Trim:
		return x.String()
	case bool:
		return flagText(x, false)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

func flagText(on, words bool) string {
	switch {
	case words && on:
		return "yes"
	case words:
		return "no"
	case on:
		return "Y"
	}
	return "N"
}

// SetText gives a simple top-level setting a text, as reading it from a file does;
// false when it cannot be read, or is a table, list or group.
func SetText(settings Settings, s *Setting, text string) bool {
	switch s.Kind {
	case KindTable, KindList, KindGroup:
		return false
	}
	return setText(reflect.ValueOf(settings).Elem().FieldByIndex(s.index), s, text) == nil
}
