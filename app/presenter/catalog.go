package presenter

import (
	"strings"

	"sluice/engine/action"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Kind is a type of transform or action, as palette, canvas and forms know it.
type Kind struct {
	PaletteItem
	Outside       bool // it touches the world outside of the file
	HandlesErrors bool // an error hop may leave it

	fresh   func() any
	decode  func(*hopxml.Element) (any, []transform.Problem)
	entries func(any) ([]transform.Entry, error)
	missing func(any) ([]transform.Problem, error)
}

// defined is what the definitions of transforms and of actions have in common.
type defined[S any] interface {
	Default() S
	Decode(*hopxml.Element) (S, []transform.Problem)
	Entries(S) ([]transform.Entry, error)
	Missing(S) ([]transform.Problem, error)
}

func newKind[S any](item PaletteItem, d defined[S]) *Kind {
	return &Kind{
		PaletteItem: item,
		fresh:       func() any { return d.Default() },
		decode: func(el *hopxml.Element) (any, []transform.Problem) {
			s, problems := d.Decode(el)
			return s, problems
		},
		entries: func(s any) ([]transform.Entry, error) { return d.Entries(s.(S)) },
		missing: func(s any) ([]transform.Problem, error) { return d.Missing(s.(S)) },
	}
}

// Catalog holds the types that files may use. It is immutable.
type Catalog struct {
	transforms, actions *Palette
}

// NewCatalog makes the catalog of two registries.
func NewCatalog(transforms *transform.Registry, actions *action.Registry) *Catalog {
	c := &Catalog{transforms: &Palette{byID: map[string]*Kind{}}, actions: &Palette{byID: map[string]*Kind{}}}
	for _, d := range transforms.All() {
		k := newKind[transform.Settings](PaletteItem{ID: d.ID, Name: d.Name, Summary: d.Summary, Icon: IconOf(d), Category: string(d.Category)}, d)
		k.Outside, k.HandlesErrors = outside(d), d.HandlesErrors
		c.transforms.add(k, d.Aliases)
	}
	for _, d := range actions.All() {
		k := newKind[action.Settings](PaletteItem{ID: d.ID, Name: d.Name, Summary: d.Summary, Category: string(d.Category)}, d)
		k.Icon, k.Outside = actionLook(d)
		c.actions.add(k, d.Aliases)
	}
	c.transforms.sort(transformCategories)
	c.actions.sort(actionCategories)
	return c
}

// Palette lists what can be placed in a pipeline, or in a workflow.
func (c *Catalog) Palette(pipeline bool) *Palette {
	if pipeline {
		return c.transforms
	}
	return c.actions
}

func (p *Palette) add(k *Kind, aliases []string) {
	p.kinds = append(p.kinds, k)
	for _, id := range append([]string{k.ID}, aliases...) {
		p.byID[strings.ToLower(id)] = k
	}
}

// Kind finds a type by its id or another id of it, without regard to case.
func (p *Palette) Kind(id string) (*Kind, bool) {
	k, ok := p.byID[strings.ToLower(strings.TrimSpace(id))]
	return k, ok
}
