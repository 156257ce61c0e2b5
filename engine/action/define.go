package action

import (
	"fmt"
	"slices"
	"strings"

	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Definition is one action type.
type Definition struct {
	About
	layout *transform.Layout
	fresh  func() Settings
}

// SettingsOf is satisfied by pointers to settings structs.
type SettingsOf[S any] interface {
	*S
	Settings
}

// Define makes the definition of the action with settings struct S.
func Define[S any, P SettingsOf[S]](about About) Definition {
	return Definition{About: about, layout: transform.NewLayout[S](), fresh: func() Settings { return P(new(S)) }}
}

// Settings lists the settings in the order of the struct. The error names a tag
// that is wrong; a test over all definitions finds it.
func (d Definition) Settings() ([]transform.Setting, error) { return d.layout.Settings() }

// Default gives settings with every default in place, as a new action has them.
func (d Definition) Default() Settings {
	s := d.fresh()
	d.layout.Defaults(s)
	return s
}

// Decode reads the settings of an <action> element by the rules of transforms
// (reference 1.3). Problems tell of values that cannot be read.
func (d Definition) Decode(el *hopxml.Element) (Settings, []transform.Problem) {
	s := d.fresh()
	return s, d.layout.Decode(s, el)
}

// Entries gives settings as entries, in the order of the struct.
func (d Definition) Entries(s Settings) ([]transform.Entry, error) { return d.layout.Entries(s) }

// Missing tells of required settings that are empty and of numbers out of range.
func (d Definition) Missing(s Settings) ([]transform.Problem, error) { return d.layout.Missing(s) }

// Registry finds definitions by type id. It is immutable and safe to share.
type Registry struct {
	list []Definition
	byID map[string]int
}

// NewRegistry joins families. Two definitions with one id are an error of the
// program and panic.
func NewRegistry(families ...[]Definition) *Registry {
	r := &Registry{byID: map[string]int{}}
	for _, d := range slices.Concat(families...) {
		for _, id := range append([]string{d.ID}, d.Aliases...) {
			key := strings.ToLower(id)
			if _, taken := r.byID[key]; taken {
				panic(fmt.Sprintf("action: type id %s is defined twice", id))
			}
			r.byID[key] = len(r.list)
		}
		r.list = append(r.list, d)
	}
	return r
}

// Find gives the definition of a type id; case does not matter.
func (r *Registry) Find(id string) (Definition, bool) {
	i, ok := r.byID[strings.ToLower(strings.TrimSpace(id))]
	if !ok {
		return Definition{}, false
	}
	return r.list[i], true
}

// All lists the definitions in family order.
func (r *Registry) All() []Definition { return slices.Clone(r.list) }
