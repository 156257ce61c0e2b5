package transform

import (
	"reflect"
	"sync"

	"sluice/engine/hopxml"
)

// Layout reads and checks one type of settings struct by its tags, for what is
// no transform but has settings of the same form, such as actions. It is safe
// for many goroutines.
type Layout struct {
	typ  reflect.Type
	once sync.Once
	list settingList
}

// NewLayout makes the layout of settings struct S; the tags are read when they
// are first needed.
func NewLayout[S any]() *Layout { return &Layout{typ: reflect.TypeFor[S]()} }

// Settings lists the settings in the order of the struct. The error names a tag
// that is wrong.
func (l *Layout) Settings() ([]Setting, error) {
	l.once.Do(func() { l.list.settings, l.list.err = parseSettings(l.typ, "") })
	return l.list.settings, l.list.err
}

// Defaults puts every default in place; s points to the settings struct.
func (l *Layout) Defaults(s any) {
	if list, err := l.Settings(); err == nil {
		setDefaults(reflect.ValueOf(s).Elem(), list)
	}
}

// Decode reads settings from the children of an element; s points to the
// settings struct. Problems tell of values that cannot be read.
func (l *Layout) Decode(s any, el *hopxml.Element) []Problem {
	list, err := l.Settings()
	if err != nil {
		return []Problem{Errorf("", "%v", err)}
	}
	dec := decoder{}
	dec.settings(reflect.ValueOf(s).Elem(), list, el)
	if a, ok := s.(AfterDecoder); ok {
		a.AfterDecode(el)
	}
	return dec.problems
}

// Missing tells of required settings that are empty and of numbers out of range;
// s points to the settings struct.
func (l *Layout) Missing(s any) ([]Problem, error) {
	list, err := l.Settings()
	if err != nil {
		return nil, err
	}
	var c presence
	c.group(reflect.ValueOf(s).Elem(), list, "")
	return c.problems, nil
}
