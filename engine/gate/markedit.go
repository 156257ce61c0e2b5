package gate

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sluice/engine/hopxml"
)

// Mark makes a gate of a node, or changes settings of the one it is. An empty
// value takes a setting away. ids is where a new id comes from; nil is
// crypto/rand. The errors wrap hopxml's.
func Mark(name string, settings map[string]string, ids io.Reader) hopxml.Edit {
	return markIn(hopxml.GateGroup, name, settings, ids)
}

// Unmark takes the gate from a node, or removes a mark that belongs to no node.
// Nothing of it is left. A node without a mark is an error.
func Unmark(name string) hopxml.Edit { return unmarkIn(hopxml.GateGroup, name) }

func markIn(group, name string, settings map[string]string, ids io.Reader) hopxml.Edit {
	return func(d *hopxml.Document) (*hopxml.Document, error) {
		n, err := findNode(d, name)
		if err != nil {
			return nil, err
		}
		marks, err := readMarks(d, group)
		if err != nil {
			return nil, err
		}
		var edits []hopxml.Edit
		want := map[string]string{}
		g := marks.Gate(name)
		switch {
		case g == nil:
			if slices.ContainsFunc(marks.Problems, func(p *MarkProblem) bool { return hopxml.EqualName(p.Node, name) }) {
				return nil, fmt.Errorf("the mark of %q is damaged: unmark it first: %w", n.name, hopxml.ErrInvalid)
			}
			id, err := newID(ids)
			if err != nil {
				return nil, err
			}
			want[KeyID] = id
			edits = append(edits, hopxml.SetAttribute(n.id, group, KeyID, id))
		case g.FormerName != "": // renamed elsewhere: the keys follow
			maps.Copy(want, g.Settings)
			for key := range g.Settings {
				edits = append(edits, removeKey(d, group, g.FormerName, key))
			}
		default:
			want[KeyID] = g.ID
			if a, _ := n.attributes.Get(group, KeyID); a != g.ID {
				edits = append(edits, hopxml.SetAttribute(n.id, group, KeyID, g.ID))
			}
		}
		maps.Copy(want, settings)
		root := d.Root().ID()
		for _, key := range slices.SortedFunc(maps.Keys(want), idFirst) {
			if strings.TrimSpace(want[key]) == "" {
				edits = append(edits, removeKey(d, group, n.name, key))
				continue
			}
			edits = append(edits, hopxml.SetAttribute(root, group, keyOf(d, group, n.name, key), want[key]))
		}
		return d.Apply(edits...)
	}
}

func idFirst(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == KeyID:
		return -1
	case b == KeyID:
		return 1
	}
	return strings.Compare(a, b)
}

// keyOf gives the key as the file spells it, or as a new one is spelled.
func keyOf(d *hopxml.Document, group, name, setting string) string {
	_, root, err := nodesOf(d)
	if err == nil {
		for _, e := range root.Group(group) {
			n, s, ok := hopxml.SplitNodeKey(e.Key)
			if ok && hopxml.EqualName(n, name) && strings.EqualFold(strings.TrimSpace(s), setting) {
				return e.Key
			}
		}
	}
	return hopxml.NodeKey(name, setting)
}

func removeKey(d *hopxml.Document, group, name, setting string) hopxml.Edit {
	return hopxml.RemoveAttribute(d.Root().ID(), group, keyOf(d, group, name, setting))
}

func unmarkIn(group, name string) hopxml.Edit {
	return func(d *hopxml.Document) (*hopxml.Document, error) {
		nodes, root, err := nodesOf(d)
		if err != nil {
			return nil, err
		}
		var edits []hopxml.Edit
		names := []string{name}
		if marks, err := readMarks(d, group); err == nil {
			if g := marks.Gate(name); g != nil && g.FormerName != "" {
				names = append(names, g.FormerName)
			}
		}
		for _, e := range root.Group(group) {
			n, _, ok := hopxml.SplitNodeKey(e.Key)
			if ok && slices.ContainsFunc(names, func(s string) bool { return hopxml.EqualName(n, s) }) {
				edits = append(edits, hopxml.RemoveAttribute(d.Root().ID(), group, e.Key))
			}
		}
		for _, n := range nodes {
			if hopxml.EqualName(n.name, name) && n.attributes.Group(group) != nil {
				edits = append(edits, hopxml.RemoveAttributeGroup(n.id, group))
			}
		}
		if len(edits) == 0 {
			return nil, fmt.Errorf("%q is not marked: %w", name, hopxml.ErrNotFound)
		}
		return d.Apply(edits...)
	}
}

func findNode(d *hopxml.Document, name string) (node, error) {
	nodes, _, err := nodesOf(d)
	if err != nil {
		return node{}, err
	}
	var names []string
	for _, n := range nodes {
		if hopxml.EqualName(n.name, name) {
			return n, nil
		}
		names = append(names, n.name)
	}
	return node{}, fmt.Errorf("there is no %q in the file; it has %s: %w", name, strings.Join(names, ", "), hopxml.ErrNotFound)
}

func newID(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	var b [6]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("make a gate id: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
