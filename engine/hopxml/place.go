package hopxml

import (
	"fmt"
	"slices"
	"strings"
)

type placeKind uint8

const (
	atEnd placeKind = iota
	before
	after
	inOrder
	canonical
)

// Place says where among the children of an element a new one goes. The zero
// Place is the end.
type Place struct {
	kind    placeKind
	sibling ID
	order   []string
}

// AtEnd is behind the last child.
func AtEnd() Place { return Place{} }

// Before is in front of a sibling and of the comment lines above it.
func Before(sibling ID) Place { return Place{kind: before, sibling: sibling} }

// After is behind a sibling and a comment on its line.
func After(sibling ID) Place { return Place{kind: after, sibling: sibling} }

// anyName stands in an order for all names it does not list.
const anyName = "*"

// InOrder is the place that an order of names gives: behind the last child
// whose name comes no later in it. "*" stands for all names not listed; without
// it they are passed over. A name that is not in the order goes to the end.
func InOrder(names ...string) Place { return Place{kind: inOrder, order: names} }

// Canonical is the place where Hop's writer puts the element: InOrder with the
// order for the parent, and the end in a parent whose order is not known.
func Canonical() Place { return Place{kind: canonical} }

var canonicalOrders = map[string][]string{
	"pipeline": {"info", "notepads", "order", "transform", "transform_error_handling", "attributes", anyName},
	"info": {
		"name", "name_sync_with_filename", "description", "extended_description", "pipeline_version", "pipeline_type",
		"pipeline_status", "parameters", "capture_transform_performance", "transform_performance_capturing_delay",
		"transform_performance_capturing_size_limit", "created_user", "created_date", "modified_user", "modified_date", anyName,
	},
	"transform": {
		"name", "type", "description", "distribute", "custom_distribution", "copies", "partitioning", anyName,
		"target_transform_partitioning", "attributes", "cluster_schema", "remotesteps", "GUI",
	},
	"GUI":          {"xloc", "yloc", "draw"},
	"partitioning": {"method", "schema_name", anyName},
	"workflow": {
		"name", "name_sync_with_filename", "description", "extended_description", "workflow_version", "workflow_status",
		"created_user", "created_date", "modified_user", "modified_date", anyName, "parameters", "actions", "hops", "notepads", "attributes",
	},
	"action": {"name", "description", "type", "attributes", anyName, "parallel", "nr", "xloc", "yloc", "attributes_hac"},
	"hop":    {"from", "to", "from_nr", "to_nr", "enabled", "evaluation", "unconditional", anyName},
	"error": {
		"source_transform", "target_transform", "is_enabled", "nr_valuename", "descriptions_valuename", "fields_valuename",
		"codes_valuename", "max_errors", "max_pct_errors", "min_pct_rows", anyName,
	},
	"notepad": {
		"note", "markdown", "notetype", "fontname", "fontsize", "fontbold", "fontitalic", "fontcolorred", "fontcolorgreen", "fontcolorblue",
		"backgroundcolorred", "backgroundcolorgreen", "backgroundcolorblue", "bordercolorred", "bordercolorgreen", "bordercolorblue",
		"xloc", "yloc", "width", "heigth", "height", anyName,
	},
	"parameter": {"name", "default_value", "description", anyName},
	"group":     {"name", "attribute"},
	"attribute": {"key", "value"},
}

func canonicalOrder(parent string) []string {
	for name, order := range canonicalOrders {
		if strings.EqualFold(name, parent) {
			return order
		}
	}
	return nil
}

// index gives the position in the content of parent.
func (at Place) index(parent *Element, name string) (int, error) {
	switch at.kind {
	case before, after:
		i := slices.IndexFunc(parent.content, func(n node) bool { return n.elem != nil && n.elem.id == at.sibling })
		if i < 0 || at.sibling == 0 {
			return 0, fmt.Errorf("place <%s> in <%s>: no such sibling: %w", name, parent.name, ErrNotFound)
		}
		if at.kind == before {
			return frontOf(parent.content, i), nil
		}
		return behind(parent.content, i), nil
	case inOrder:
		return orderedIndex(parent, name, at.order), nil
	case canonical:
		return orderedIndex(parent, name, canonicalOrder(parent.name)), nil
	default:
		return endOf(parent), nil
	}
}

func orderedIndex(parent *Element, name string, order []string) int {
	rank := func(name string) int {
		i := slices.IndexFunc(order, func(s string) bool { return strings.EqualFold(s, name) })
		if i < 0 {
			i = slices.Index(order, anyName)
		}
		return i
	}
	own := rank(name)
	if own < 0 {
		return endOf(parent)
	}
	last, next := -1, -1
	for i := range parent.content {
		c := parent.content[i].elem
		if c == nil {
			continue
		}
		switch r := rank(c.name); {
		case r < 0:
		case r <= own:
			last = i
		case next < 0:
			next = i
		}
	}
	switch {
	case last >= 0:
		return behind(parent.content, last)
	case next >= 0:
		return frontOf(parent.content, next)
	default:
		return endOf(parent)
	}
}

// endOf is the position behind the last piece that is not the white space
// before the end tag.
func endOf(e *Element) int {
	n := len(e.content)
	if n > 0 && e.content[n-1].isBlank() {
		n--
	}
	return n
}

// frontOf is the position before the element at i, its white space and the
// comments that stand on lines of their own above it.
func frontOf(content []node, i int) int {
	for {
		if i > 0 && content[i-1].isBlank() {
			i--
		}
		if i < 2 || content[i-1].kind != commentNode || !content[i-2].isBlank() || !hasLineEnd(content[i-2].raw) {
			return i
		}
		i--
	}
}

// behind is the position after the element at i and comments on its line.
func behind(content []node, i int) int {
	for i++; i < len(content); i++ {
		blank := content[i].isBlank() && !hasLineEnd(content[i].raw) && i+1 < len(content) && content[i+1].kind == commentNode
		if !blank && content[i].kind != commentNode {
			break
		}
	}
	return i
}
