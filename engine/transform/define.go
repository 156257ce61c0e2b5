package transform

import (
	"reflect"
	"sync"

	"sluice/engine/hopxml"
)

// Category groups transforms in the palette.
type Category string

// The categories, in palette order.
const (
	CategoryInput     Category = "Input"
	CategoryOutput    Category = "Output"
	Reshape           Category = "Transform"
	CategoryFlow      Category = "Flow"
	CategoryJoin      Category = "Joins"
	CategoryLookup    Category = "Lookup"
	CategoryAggregate Category = "Aggregate"
	CategoryScript    Category = "Scripting"
	CategoryDatabase  Category = "Database"
	CategoryWeb       Category = "Web"
	CategoryStream    Category = "Streaming"
)

// About is what a person reads of a transform, and its id.
type About struct {
	ID       string   // value of <type>; never changes; matched without regard to case
	Aliases  []string // other ids of the same transform
	Name     string
	Category Category
	Summary  string // one sentence
	// HandlesErrors says that an error hop may be drawn from the transform.
	HandlesErrors bool
	// Sink says that the transform writes outside of the pipeline: a preview
	// suppresses it.
	Sink bool
	// RowNeutral lists settings (tag paths) that never change the rows, such as
	// buffer sizes; they are left out of fingerprints.
	RowNeutral []string
	// Semantics is raised when a release makes other rows of the same settings
	// and input, so that snapshots made before are not taken for the same.
	Semantics int
}

// Definition is one transform type.
type Definition struct {
	About
	typ   reflect.Type
	fresh func() Settings
	once  *sync.Once
	list  *settingList
}

type settingList struct {
	settings []Setting
	err      error
}

// SettingsOf is satisfied by pointers to settings structs.
type SettingsOf[S any] interface {
	*S
	Settings
}

// Define makes the definition of the transform with settings struct S. The tags
// are read when they are first needed, so a program start pays nothing.
func Define[S any, P SettingsOf[S]](about About) Definition {
	return Definition{
		About: about,
		typ:   reflect.TypeFor[S](),
		fresh: func() Settings { return P(new(S)) },
		once:  &sync.Once{},
		list:  &settingList{},
	}
}

// Settings lists the settings in the order of the struct. The error names a tag
// that is wrong; a test over all definitions finds it.
func (d Definition) Settings() ([]Setting, error) {
	d.once.Do(func() { d.list.settings, d.list.err = parseSettings(d.typ, "") })
	return d.list.settings, d.list.err
}

// Default gives settings with every default in place, as a new node has them.
func (d Definition) Default() Settings {
	s := d.fresh()
	list, err := d.Settings()
	if err == nil {
		setDefaults(reflect.ValueOf(s).Elem(), list)
	}
	return s
}

// Decode reads the settings of a <transform> element: absent settings keep their
// default, except booleans without one, which are false (reference 1.3). Problems
// tell of values that cannot be read.
func (d Definition) Decode(el *hopxml.Element) (Settings, []Problem) {
	s := d.fresh()
	list, err := d.Settings()
	if err != nil {
		return s, []Problem{Errorf("", "%v", err)}
	}
	dec := decoder{}
	dec.settings(reflect.ValueOf(s).Elem(), list, el)
	if a, ok := s.(AfterDecoder); ok {
		a.AfterDecode(el)
	}
	return s, dec.problems
}

// AfterDecoder is implemented by settings with a default that depends on other
// elements, or with a layout that tags cannot say.
type AfterDecoder interface {
	AfterDecode(el *hopxml.Element)
}
