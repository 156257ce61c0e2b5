//go:build !headless

package desktop

import (
	"sluice/app/presenter"
	"sluice/canvas/scene"
)

// pickHop asks for one of the hops that fit.
func (e *editor) pickHop(title string, fits func(*scene.Hop) bool, do func(scene.ID)) {
	s := e.graph.Machine().Scene()
	var names []string
	var ids []scene.ID
	for i := range s.HopCount() {
		if h := s.HopNumber(i); fits(h) {
			names, ids = append(names, e.hopName(h.ID)), append(ids, h.ID)
		}
	}
	if len(names) == 0 {
		e.d.frame.note(title + ": there is no such hop")
		return
	}
	e.d.pick(title, "", names, func(i int) { do(ids[i]) })
}

// hopName is what a hop is called in lists.
func (e *editor) hopName(id scene.ID) string {
	h, _ := e.graph.Machine().Scene().Hop(id)
	from, _ := e.file.Node(presenter.ElementID(h.From))
	to, _ := e.file.Node(presenter.ElementID(h.To))
	return from.Name + " → " + to.Name
}

// selectHop asks for a hop to select: one of the selected nodes, or any when none is
// selected.
func (e *editor) selectHop() {
	chosen := map[scene.ID]bool{}
	for _, id := range e.selected(scene.KindNode) {
		chosen[id] = true
	}
	of := func(h *scene.Hop) bool { return len(chosen) == 0 || chosen[h.From] || chosen[h.To] }
	e.pickHop("Select hop", of, func(id scene.ID) { e.choose(scene.HopRef(id)) })
}

// rewire gives the selected hop another target.
func (e *editor) rewire() {
	hops := e.selected(scene.KindHop)
	if len(hops) != 1 {
		e.d.frame.note("Select the one hop to reconnect")
		return
	}
	h, ok := e.graph.Machine().Scene().Hop(hops[0])
	if !ok {
		return
	}
	var names []string
	var ids []scene.ID
	for _, n := range e.file.Nodes() {
		if id := presenter.SceneID(n.ID); e.file.CanConnect(h.From, id) {
			names, ids = append(names, n.Name), append(ids, id)
		}
	}
	if len(names) == 0 {
		e.d.frame.note("There is nothing else that the hop can lead to")
		return
	}
	e.d.pick("Reconnect hop", e.hopName(h.ID)+" shall lead to", names, func(i int) {
		e.try("reconnect", e.file.Rewire(h.ID, h.From, ids[i]))
	})
}

// insertSelected leads a hop, the selected one or one that it asks for, through the
// selected node.
func (e *editor) insertSelected() {
	nodes, hops := e.selected(scene.KindNode), e.selected(scene.KindHop)
	if len(nodes) != 1 {
		e.d.frame.note("Select the one " + e.file.Noun() + " to insert")
		return
	}
	insert := func(hop scene.ID) { e.try("insert", e.file.InsertInto(nodes[0], hop, nil)) }
	if len(hops) == 1 {
		insert(hops[0])
		return
	}
	e.pickHop("Insert into hop", func(h *scene.Hop) bool { return h.From != nodes[0] && h.To != nodes[0] }, insert)
}
