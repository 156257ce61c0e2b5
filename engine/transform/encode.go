package transform

import (
	"strconv"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/project"
)

// Encode gives the edits that bring a <transform> element from old settings, as
// Decode read them, to new ones. Only settings whose value changed are written,
// into the element that Hop reads and under the name found there; an absent setting
// that has its default stays absent. Tables change row by row: what a kept row
// holds besides its settings stays. No change gives no edit. What tags do not
// describe, such as conditions, is not looked at.
func (d Definition) Encode(el *hopxml.Element, old, changed Settings) ([]hopxml.Edit, error) {
	before, err := d.Entries(old)
	if err != nil {
		return nil, err
	}
	after, err := d.Entries(changed)
	if err != nil {
		return nil, err
	}
	return EncodeEntries(el, before, after), nil
}

// EncodeEntries is Encode for entries: old must be the entries of what was decoded
// from the element, changed holds the same settings.
func EncodeEntries(el *hopxml.Element, old, changed []Entry) []hopxml.Edit {
	c := &encoder{}
	c.entries(spot{el: el, owner: el.ID()}, old, changed)
	return c.edits
}

// NewSettings gives the elements of a new node: every setting of the entries in
// their order, as Hop writes them.
func NewSettings(entries []Entry) []hopxml.Draft {
	var out []hopxml.Draft
	for i := range entries {
		out = addDraft(out, entries[i].Setting, &entries[i])
	}
	return out
}

// encoder collects edits.
type encoder struct{ edits []hopxml.Edit }

// spot is the element that holds settings: el, or, where it is absent, what names
// lead to from owner.
type spot struct {
	el    *hopxml.Element
	owner hopxml.ID
	names []string
}

// below is the spot of a child with a path.
func (p spot) below(el *hopxml.Element, path []string) spot {
	if el != nil {
		return spot{el: el, owner: el.ID()}
	}
	return spot{owner: p.owner, names: append(append([]string(nil), p.names...), path...)}
}

func (c *encoder) entries(at spot, old, changed []Entry) {
	for i := range changed {
		if !old[i].equal(&changed[i]) {
			c.entry(at, &old[i], &changed[i])
		}
	}
}

func (c *encoder) entry(at spot, old, changed *Entry) {
	s := changed.Setting
	switch s.Kind {
	case KindGroup:
		c.entries(at.below(locate(at.el, s), s.Path), old.Items, changed.Items)
	case KindTable, KindList:
		if s.Inline {
			c.inline(at, old, changed)
		} else {
			c.table(at, old, changed)
		}
	default:
		text := fileText(s, changed.Text)
		if found := locate(at.el, s); found != nil {
			c.edits = append(c.edits, hopxml.SetText(found.ID(), text))
			return
		}
		names := append(append([]string(nil), at.names...), s.Path...)
		c.edits = append(c.edits, hopxml.SetPath(at.owner, names, text))
	}
}

// fileText is how a file stores the text of an entry.
func fileText(s *Setting, text string) string {
	switch s.Kind {
	case KindFlag:
		return flagText(parseFlag(text), s.YesNo)
	case KindType:
		if s.TypeID {
			return strconv.Itoa(int(batch.ParseType(text)))
		}
	case KindSecret:
		if text != "" && !project.IsEncodedPassword(text) {
			return project.EncodePassword(text)
		}
	}
	return text
}

// addDraft adds the element of an entry to its siblings, under those that its path
// shares with them.
func addDraft(list []hopxml.Draft, s *Setting, e *Entry) []hopxml.Draft {
	switch s.Kind {
	case KindGroup:
		for i := range e.Items {
			inner := e.Items[i].Setting
			list = addAt(list, s.Path, func(l []hopxml.Draft) []hopxml.Draft { return addDraft(l, inner, &e.Items[i]) })
		}
		return list
	case KindTable, KindList:
		return addRows(list, s, e)
	}
	last := len(s.Path) - 1
	return addAt(list, s.Path[:last], func(l []hopxml.Draft) []hopxml.Draft {
		return append(l, hopxml.Leaf(s.Path[last], fileText(s, e.Text)))
	})
}

func addRows(list []hopxml.Draft, s *Setting, e *Entry) []hopxml.Draft {
	last := len(s.Path) - 1
	if s.Inline {
		return addAt(list, s.Path, func(l []hopxml.Draft) []hopxml.Draft {
			for _, row := range e.Rows {
				l = append(l, NewSettings(row)...)
			}
			return l
		})
	}
	return addAt(list, s.Path[:last], func(l []hopxml.Draft) []hopxml.Draft {
		for _, row := range e.Rows {
			l = append(l, rowDraft(s, s.Path[last], row))
		}
		return l
	})
}

// rowDraft is the element of one row.
func rowDraft(s *Setting, name string, row []Entry) hopxml.Draft {
	if s.Kind == KindList {
		return hopxml.Leaf(name, row[0].Text)
	}
	return hopxml.Branch(name, NewSettings(row)...)
}

// addAt changes the children under a path of a list of elements, which is added
// where it is absent.
func addAt(list []hopxml.Draft, path []string, add func([]hopxml.Draft) []hopxml.Draft) []hopxml.Draft {
	if len(path) == 0 {
		return add(list)
	}
	for i := range list {
		if list[i].Name == path[0] && list[i].Text == "" {
			list[i].Children = addAt(list[i].Children, path[1:], add)
			return list
		}
	}
	return append(list, hopxml.Branch(path[0], addAt(nil, path[1:], add)...))
}
