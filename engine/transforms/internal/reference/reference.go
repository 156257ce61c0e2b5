// Package reference writes the reference pages of the transforms: one Markdown
// page per definition, made of its doc comment, its About and the tags of its
// settings, and an index. Nothing in them depends on the clock or on the order of
// a map, so that the same source gives the same bytes.
package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine/transform"
)

// Index is the name of the index page.
const Index = "README.md"

// Pages gives all pages by file name. docs are the doc comments by type id, as
// Comments reads them; a definition without one is an error.
func Pages(list []transform.Definition, docs map[string]string) (map[string]string, error) {
	pages := map[string]string{Index: index(list)}
	for _, d := range list {
		doc, ok := docs[d.ID]
		if !ok {
			return nil, fmt.Errorf("%s has no doc comment; write one above its Define", d.ID)
		}
		page, err := Page(d, doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.ID, err)
		}
		pages[FileName(d.ID)] = page
	}
	return pages, nil
}

// FileName is the page of a type id.
func FileName(id string) string { return id + ".md" }

// index lists the transforms by category.
func index(list []transform.Definition) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n# Transforms\n\n%d transforms, by category.\n", Generated, len(list))
	byCategory := map[transform.Category][]transform.Definition{}
	for _, d := range list {
		byCategory[d.Category] = append(byCategory[d.Category], d)
	}
	for _, c := range slices.Sorted(maps.Keys(byCategory)) {
		fmt.Fprintf(&b, "\n## %s\n\n", c)
		group := byCategory[c]
		slices.SortFunc(group, func(x, y transform.Definition) int { return strings.Compare(x.Name, y.Name) })
		for _, d := range group {
			fmt.Fprintf(&b, "- [%s](%s) `%s`: %s\n", d.Name, FileName(d.ID), d.ID, d.Summary)
		}
	}
	return b.String()
}
