package presenter

import (
	"slices"
	"strings"

	"sluice/engine/transform"
)

// PaletteItem is something that can be placed on the canvas.
type PaletteItem struct {
	ID, Name, Summary, Icon string
	Category                transform.Category
}

// Palette lists what can be placed, by category.
type Palette struct{ items []PaletteItem }

// categoryOrder is the order of the palette.
var categoryOrder = []transform.Category{
	transform.CategoryInput, transform.CategoryOutput, transform.Reshape, transform.CategoryFlow, transform.CategoryJoin,
	transform.CategoryLookup, transform.CategoryAggregate, transform.CategoryScript, transform.CategoryDatabase, transform.CategoryWeb, transform.CategoryStream,
}

// NewPalette lists the transforms of a registry.
func NewPalette(r *transform.Registry) *Palette {
	p := &Palette{}
	for _, d := range r.All() {
		p.items = append(p.items, PaletteItem{ID: d.ID, Name: d.Name, Summary: d.Summary, Icon: IconOf(d), Category: d.Category})
	}
	slices.SortStableFunc(p.items, func(a, b PaletteItem) int {
		if c := slices.Index(categoryOrder, a.Category) - slices.Index(categoryOrder, b.Category); c != 0 {
			return c
		}
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return p
}

// Item finds an item by its id.
func (p *Palette) Item(id string) (PaletteItem, bool) {
	for _, it := range p.items {
		if strings.EqualFold(it.ID, id) {
			return it, true
		}
	}
	return PaletteItem{}, false
}

// Categories lists the categories that have items, in palette order.
func (p *Palette) Categories() []transform.Category {
	var out []transform.Category
	for _, it := range p.items {
		if len(out) == 0 || out[len(out)-1] != it.Category {
			out = append(out, it.Category)
		}
	}
	return out
}

// Search lists the items of a category (all when empty) that have every word of
// the text in name, id or summary; those whose name begins with it come first.
func (p *Palette) Search(text string, c transform.Category) []PaletteItem {
	words := strings.Fields(strings.ToLower(text))
	var out []PaletteItem
	for _, it := range p.items {
		if c != "" && it.Category != c {
			continue
		}
		hay := strings.ToLower(it.Name + " " + it.ID + " " + it.Summary)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(hay, w) }) {
			out = append(out, it)
		}
	}
	if len(words) > 0 {
		rank := func(it PaletteItem) int {
			name := strings.ToLower(it.Name)
			switch {
			case strings.HasPrefix(name, words[0]):
				return 0
			case strings.Contains(name, words[0]):
				return 1
			}
			return 2
		}
		slices.SortStableFunc(out, func(a, b PaletteItem) int { return rank(a) - rank(b) })
	}
	return out
}
