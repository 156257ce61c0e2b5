package presenter

import (
	"fmt"
	"strings"

	"sluice/engine/hopxml"
)

// Difference is one thing in which two versions of a file differ.
type Difference struct {
	Where  string // name of the node, else Hop, Note or File
	What   string // such as "limit", "place", "A → B"; "transform" or "action": all of it
	Yours  string // "" where it is absent
	Theirs string
}

// maskedValue stands for a password.
const maskedValue = "••••"

// Differences tells in what two versions of a file differ: nodes by their names and
// settings, hops by their ends, notes by their texts, the rest by elements.
// Passwords are masked. An error is one of a document that cannot be shown.
func Differences(yours, theirs *hopxml.Document) ([]Difference, error) {
	a, err := newSheet(yours)
	if err != nil {
		return nil, err
	}
	b, err := newSheet(theirs)
	if err != nil {
		return nil, err
	}
	var list []Difference
	for _, n := range a.nodes {
		m, there := b.node(n.Name)
		if !there {
			list = append(list, Difference{Where: n.Name, What: a.noun, Yours: n.Type})
			continue
		}
		if n.X != m.X || n.Y != m.Y {
			list = append(list, Difference{Where: n.Name, What: "place", Yours: fmt.Sprintf("%d, %d", n.X, n.Y), Theirs: fmt.Sprintf("%d, %d", m.X, m.Y)})
		}
		list = append(list, differing(n.Name, settingsOf(n.Element), settingsOf(m.Element))...)
	}
	for _, m := range b.nodes {
		if _, there := a.node(m.Name); !there {
			list = append(list, Difference{Where: m.Name, What: a.noun, Theirs: m.Type})
		}
	}
	list = append(list, differing("Hop", a.hops, b.hops)...)
	list = append(list, differing("Note", a.notes, b.notes)...)
	return append(list, differing("File", a.rest, b.rest)...), nil
}

// facts are names with values, in the order of the file.
type facts struct {
	names  []string
	values map[string]string
}

func (f *facts) add(name, value string) {
	if f.values == nil {
		f.values = map[string]string{}
	}
	if _, twice := f.values[name]; !twice {
		f.names = append(f.names, name)
	}
	f.values[name] = value
}

func differing(where string, yours, theirs facts) []Difference {
	var list []Difference
	for _, name := range yours.names {
		if mine, other := yours.values[name], theirs.values[name]; mine != other {
			list = append(list, difference(where, name, mine, other))
		}
	}
	for _, name := range theirs.names {
		if _, there := yours.values[name]; !there && theirs.values[name] != "" {
			list = append(list, difference(where, name, "", theirs.values[name]))
		}
	}
	return list
}

func difference(where, name, mine, other string) Difference {
	return Difference{Where: where, What: name, Yours: masked(name, mine), Theirs: masked(name, other)}
}

func masked(name, value string) string {
	if value != "" && (contains(name, "password") || strings.HasPrefix(value, "Encrypted ")) {
		return maskedValue
	}
	return value
}

// sheet is a document as facts.
type sheet struct {
	noun              string // of its nodes
	nodes             []Node
	byName            map[string]Node
	hops, notes, rest facts
}

func (s *sheet) node(name string) (Node, bool) {
	n, ok := s.byName[lower(name)]
	return n, ok
}

func newSheet(doc *hopxml.Document) (*sheet, error) {
	v, err := newView(doc)
	if err != nil {
		return nil, err
	}
	s := &sheet{noun: "transform", nodes: v.nodes, byName: map[string]Node{}}
	if v.workflow != nil {
		s.noun = "action"
	}
	known := map[*hopxml.Element]bool{}
	for _, n := range v.nodes {
		s.byName[lower(n.Name)], known[n.Element] = n, true
	}
	for _, h := range v.hops {
		known[h.Element] = true
		state := "enabled"
		if !h.Enabled {
			state = "disabled"
		}
		if v.workflow != nil {
			state += [...]string{hopxml.Always: ", always", hopxml.OnSuccess: ", on success", hopxml.OnFailure: ", on failure"}[h.Condition()]
		}
		s.hops.add(h.From+" → "+h.To, state)
	}
	for i, n := range v.notes {
		known[n.Element] = true
		s.notes.add(fmt.Sprint(i+1), fmt.Sprintf("%s (%d, %d, %d × %d)", n.Text, n.X, n.Y, n.Width, n.Height))
	}
	leaves(doc.Root(), "", &s.rest, func(e *hopxml.Element) bool { return known[e] })
	return s, nil
}

// settingsOf are the settings of a node by their elements, without its name and place.
func settingsOf(e *hopxml.Element) facts {
	var f facts
	name, gui := e.Child("name"), e.Child("GUI")
	x, y := e.Child("xloc"), e.Child("yloc") // of actions
	leaves(e, "", &f, func(c *hopxml.Element) bool { return c == name || c == gui || c == x || c == y })
	return f
}

// leaves writes the elements below one as "fields / field 2 / name".
func leaves(e *hopxml.Element, path string, to *facts, skip func(*hopxml.Element) bool) {
	children := e.Elements()
	count, number := map[string]int{}, map[string]int{}
	for _, c := range children {
		count[c.Name()]++
	}
	for _, c := range children {
		number[c.Name()]++
		if skip(c) {
			continue
		}
		name := c.Name()
		if count[name] > 1 {
			name = fmt.Sprintf("%s %d", name, number[name])
		}
		if path != "" {
			name = path + " / " + name
		}
		if len(c.Elements()) > 0 {
			leaves(c, name, to, skip)
		} else {
			to.add(name, c.Text())
		}
	}
}
