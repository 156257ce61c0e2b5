package hopxml

import (
	"strings"
)

// flag reads a boolean as Hop does: y, yes, true and t in any case are true,
// all else and an absent element is false.
func flag(text string) bool {
	switch strings.ToLower(text) {
	case "y", "yes", "true", "t":
		return true
	}
	return false
}

func flagText(on bool) string {
	if on {
		return "Y"
	}
	return "N"
}

// Flag reads a boolean setting by Hop's rule: y, yes, true and t, in any case,
// are true; everything else is false, and so is an absent (nil) element.
func (e *Element) Flag() bool { return flag(e.Text()) }

// SetChild sets the text of the first child of that name, compared without
// case, under the name found; when there is none it is added at the place.
func SetChild(parent ID, name, text string, at Place) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(parent)
		if err != nil {
			return nil, err
		}
		if c := path[len(path)-1].elem.Child(name); c != nil {
			return SetText(c.id, text)(d)
		}
		return Insert(parent, at, Leaf(name, text))(d)
	}
}

// SetFlag sets a boolean child to Y or N, at its canonical place when it is
// new. An absent one counts as N and is added only to become Y, and a child
// that already means the value keeps its spelling.
func SetFlag(parent ID, name string, on bool) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(parent)
		if err != nil {
			return nil, err
		}
		if path[len(path)-1].elem.Child(name).Flag() == on {
			return d, nil
		}
		return SetChild(parent, name, flagText(on), Canonical())(d)
	}
}

// SetPath sets the text of the element that names lead to from parent, first
// match at each step, and adds what is missing at its canonical place.
func SetPath(parent ID, names []string, text string) Edit {
	return func(d *Document) (*Document, error) {
		for i, name := range names {
			if i == len(names)-1 {
				return SetChild(parent, name, text, Canonical())(d)
			}
			next, e, err := d.ensure(parent, name)
			if err != nil {
				return nil, err
			}
			d, parent = next, e.id
		}
		return d, nil
	}
}

// RemoveChild removes the first child of that name; none is no error.
func RemoveChild(parent ID, name string) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(parent)
		if err != nil {
			return nil, err
		}
		c := path[len(path)-1].elem.Child(name)
		if c == nil {
			return d, nil
		}
		return Remove(c.id)(d)
	}
}

// ensure finds or adds a child.
func (d *Document) ensure(parent ID, name string) (*Document, *Element, error) {
	path, err := d.path(parent)
	if err != nil {
		return nil, nil, err
	}
	if c := path[len(path)-1].elem.Child(name); c != nil {
		return d, c, nil
	}
	return d.insert(parent, Canonical(), Branch(name))
}
