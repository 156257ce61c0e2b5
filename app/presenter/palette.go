package presenter

import (
	"slices"
	"strings"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// PaletteItem is something that can be placed on the canvas.
type PaletteItem struct{ ID, Name, Summary, Icon, Category string }

// Palette lists what can be placed in one kind of file, by category.
type Palette struct {
	kinds []*Kind
	byID  map[string]*Kind // in lower case, other ids of a type too
}

// transformCategories and actionCategories are the orders of the palettes.
var (
	transformCategories = []string{
		string(transform.CategoryInput), string(transform.CategoryOutput), string(transform.Reshape), string(transform.CategoryFlow),
		string(transform.CategoryJoin), string(transform.CategoryLookup), string(transform.CategoryAggregate), string(transform.CategoryScript),
		string(transform.CategoryDatabase), string(transform.CategoryWeb), string(transform.CategoryStream),
	}
	actionCategories = []string{
		string(action.CategoryGeneral), string(action.CategoryFlow), string(action.CategoryFiles), string(action.CategoryScript),
		string(action.CategorySQL), string(action.CategoryWeb),
	}
)

func (p *Palette) sort(categories []string) {
	slices.SortStableFunc(p.kinds, func(a, b *Kind) int {
		if c := slices.Index(categories, a.Category) - slices.Index(categories, b.Category); c != 0 {
			return c
		}
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
}

// Categories lists the categories that have items, in palette order.
func (p *Palette) Categories() []string {
	var out []string
	for _, it := range p.kinds {
		if len(out) == 0 || out[len(out)-1] != it.Category {
			out = append(out, it.Category)
		}
	}
	return out
}

// Search lists the items of a category (all when empty) that have every word of
// the text in name, id or summary; those whose name begins with it come first.
func (p *Palette) Search(text, c string) []PaletteItem {
	words := strings.Fields(strings.ToLower(text))
	var out []PaletteItem
	for _, it := range p.kinds {
		if c != "" && it.Category != c {
			continue
		}
		hay := strings.ToLower(it.Name + " " + it.ID + " " + it.Summary)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(hay, w) }) {
			out = append(out, it.PaletteItem)
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
