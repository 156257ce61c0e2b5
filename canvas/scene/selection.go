package scene

import (
	"cmp"
	"slices"
)

// Selection is a set of things on the canvas. The nil Selection is empty and
// may be asked, not added to.
type Selection map[Ref]struct{}

// Select builds a selection.
func Select(refs ...Ref) Selection {
	s := make(Selection, len(refs))
	for _, r := range refs {
		s[r] = struct{}{}
	}
	return s
}

// Has tells whether r is selected.
func (s Selection) Has(r Ref) bool {
	_, ok := s[r]
	return ok
}

// Toggled returns a copy of s with r added, or removed if it was in.
func (s Selection) Toggled(r Ref) Selection {
	t := s.Clone()
	if t.Has(r) {
		delete(t, r)
	} else {
		t[r] = struct{}{}
	}
	return t
}

// With returns a copy of s with the others added.
func (s Selection) With(others Selection) Selection {
	t := s.Clone()
	for r := range others {
		t[r] = struct{}{}
	}
	return t
}

// Clone returns a copy that may be changed, never nil.
func (s Selection) Clone() Selection {
	t := make(Selection, len(s)+1)
	for r := range s {
		t[r] = struct{}{}
	}
	return t
}

// Equal tells whether both hold the same things.
func (s Selection) Equal(t Selection) bool {
	if len(s) != len(t) {
		return false
	}
	for r := range s {
		if !t.Has(r) {
			return false
		}
	}
	return true
}

// Refs lists the selection: nodes, hops, notes, each by ID.
func (s Selection) Refs() []Ref {
	refs := make([]Ref, 0, len(s))
	for r := range s {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return refs
}

// IDs lists the selected IDs of one kind in order.
func (s Selection) IDs(kind Kind) []ID {
	var ids []ID
	for _, r := range s.Refs() {
		if r.Kind == kind {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Everything selects all nodes, hops and notes.
func (s *Scene) Everything() Selection {
	all := make(Selection, len(s.nodes)+len(s.hops)+len(s.notes))
	for i := range s.nodes {
		all[NodeRef(s.nodes[i].ID)] = struct{}{}
	}
	for i := range s.hops {
		all[HopRef(s.hops[i].ID)] = struct{}{}
	}
	for i := range s.notes {
		all[NoteRef(s.notes[i].ID)] = struct{}{}
	}
	return all
}

// Lasso selects what a rectangle (document units) catches: nodes by the centre
// of their tile, notes that lie in it as a whole, and hops between two caught
// nodes.
func (s *Scene) Lasso(r Rect) Selection {
	caught := make(Selection)
	for _, i := range s.NodesIn(nil, r) {
		if r.Contains(s.nodes[i].Pos) {
			caught[NodeRef(s.nodes[i].ID)] = struct{}{}
		}
	}
	for _, i := range s.NotesIn(nil, r) {
		if r.Encloses(s.notes[i].Rect) {
			caught[NoteRef(s.notes[i].ID)] = struct{}{}
		}
	}
	for _, i := range s.HopsIn(nil, r) {
		h := &s.hops[i]
		if caught.Has(NodeRef(h.From)) && caught.Has(NodeRef(h.To)) {
			caught[HopRef(h.ID)] = struct{}{}
		}
	}
	return caught
}

// Existing returns the part of a selection that the scene still has, for use
// after the graph was replaced.
func (s *Scene) Existing(sel Selection) Selection {
	kept := make(Selection, len(sel))
	for r := range sel {
		ok := false
		switch r.Kind {
		case KindNode:
			_, ok = s.nodeAt[r.ID]
		case KindHop:
			_, ok = s.hopAt[r.ID]
		case KindNote:
			_, ok = s.noteAt[r.ID]
		}
		if ok {
			kept[r] = struct{}{}
		}
	}
	return kept
}
