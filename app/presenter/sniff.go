package presenter

import (
	"strings"

	"sluice/canvas/scene"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Sniff collects rows of a transform while it runs, from one of its outputs: "" is
// any but that of errors. false when nothing runs. rows are new ones.
func (s *Session) Sniff(rows *Rows, port transform.Port) bool {
	s.mu.Lock()
	e := s.exec
	active := s.view.State.Active()
	s.mu.Unlock()
	if e == nil || !active {
		return false
	}
	rows.OnFull(func() { e.Sniff("", nil) })
	rows.unread = e.Unread(rows.Transform())
	e.Sniff(rows.Transform(), func(_ int, p transform.Port, b *batch.Batch) {
		if p == port || port == "" && p != transform.Error {
			rows.take(b)
		}
	})
	return true
}

// SniffPort is the output of its transform that a hop carries the rows of.
func (f *File) SniffPort(hop scene.ID) (from string, port transform.Port, ok bool) {
	for _, h := range f.view.hops {
		if h.ID != ElementID(hop) {
			continue
		}
		if h.Error {
			return h.From, transform.Error, true
		}
		n := f.view.nodes[f.view.byID[h.FromID]]
		for _, p := range f.ports(n).Outputs {
			if p.Target != "" && strings.EqualFold(p.Target, h.To) {
				return h.From, p.ID, true
			}
		}
		return h.From, transform.Main, true
	}
	return "", "", false
}
