package presenter

import (
	"slices"
	"strings"
)

// KeyRow is an action as the list of keys shows it.
type KeyRow struct{ Title, Keys, Menu string }

// KeyRows lists the actions in the order of the menus, those with all words of a
// search in their name, keys or menu. The order of modifiers does not matter.
func KeyRows(search string) []KeyRow {
	var rows []KeyRow
	words := strings.Fields(lower(search))
	for i, w := range words {
		if k, err := ParseKey(w); err == nil && strings.Contains(w, "+") {
			words[i] = lower(k.String())
		}
	}
	for _, menu := range append(Menus(), "") {
		for _, a := range Actions() {
			if a.Menu != menu {
				continue
			}
			r := KeyRow{strings.TrimSuffix(a.Title, "…"), strings.Join(a.Keys, "  or  "), a.Menu}
			text := []string{lower(r.Title), lower(r.Menu)}
			for _, key := range a.Keys {
				if k, err := ParseKey(key); err == nil {
					text = append(text, lower(k.String()))
				}
			}
			all := strings.Join(text, " ")
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}
