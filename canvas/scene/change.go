package scene

// Update replaces nodes that have the same ID and returns the IDs whose
// picture changed. Unknown IDs are left out. Hops follow a node that moved.
func (s *Scene) Update(nodes ...Node) []ID {
	var changed []ID
	for _, n := range nodes {
		i, ok := s.nodeAt[n.ID]
		n.Pos = finite(n.Pos)
		if !ok || s.nodes[i] == n {
			continue
		}
		changed = append(changed, n.ID)
		old := s.nodes[i]
		s.nodes[i] = n
		lines := s.lines[i]
		if old.Label != n.Label || (old.Metric == "") != (n.Metric == "") {
			s.lines[i] = s.labelLines(i)
		}
		if old.Pos != n.Pos || lines != s.lines[i] {
			s.reindex(i)
		}
	}
	return changed
}

// UpdateHops replaces hops that have the same ID and the same ends, and
// returns the IDs whose picture changed. Unknown IDs are left out.
func (s *Scene) UpdateHops(hops ...Hop) []ID {
	var changed []ID
	for _, h := range hops {
		i, ok := s.hopAt[h.ID]
		if !ok || s.hops[i].Hop == h || s.hops[i].From != h.From || s.hops[i].To != h.To {
			continue
		}
		s.hopGrid.take(i)
		s.hops[i].Hop = h
		s.hopGrid.put(i, s.hopReach(i))
		changed = append(changed, h.ID)
	}
	return changed
}

// Move puts nodes and notes (by their top left corner) at new places, as a
// drag does while it lasts.
func (s *Scene) Move(to map[Ref]Point) {
	for ref, p := range to {
		p = finite(p)
		switch ref.Kind {
		case KindNode:
			if i, ok := s.nodeAt[ref.ID]; ok && s.nodes[i].Pos != p {
				s.nodes[i].Pos = p
				s.reindex(i)
			}
		case KindNote:
			if i, ok := s.noteAt[ref.ID]; ok {
				r := s.notes[i].Rect
				s.SetNoteRect(ref.ID, r.Move(p.Sub(r.Min)))
			}
		}
	}
}

// SetNoteRect moves or resizes a note.
func (s *Scene) SetNoteRect(id ID, r Rect) {
	i, ok := s.noteAt[id]
	if !ok {
		return
	}
	s.noteGrid.take(i)
	s.notes[i].Rect = r
	s.noteGrid.put(i, r)
}

func (s *Scene) reindex(i int) {
	s.nodeGrid.take(i)
	s.nodeGrid.put(i, s.nodeReach(i))
	for _, h := range s.hopsOf[i] {
		s.hopGrid.take(h)
		s.hopGrid.put(h, s.hopReach(h))
	}
}
