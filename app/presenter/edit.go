package presenter

import (
	"errors"
	"math"
	"slices"

	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Move puts nodes and notes at places of the canvas.
func (f *File) Move(label string, to map[scene.Ref]scene.Point) error {
	return f.Do(label, f.moves(to)...)
}

func (f *File) moves(to map[scene.Ref]scene.Point) []hopxml.Edit {
	refs := make([]scene.Ref, 0, len(to))
	for r := range to {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b scene.Ref) int { return int(int64(ElementID(a.ID)) - int64(ElementID(b.ID))) })
	var edits []hopxml.Edit
	for _, r := range refs {
		x, y := place(to[r], r.Kind)
		edits = append(edits, hopxml.MoveNode(ElementID(r.ID), x, y))
	}
	return edits
}

// place turns a point of the canvas into what the file stores.
func place(p scene.Point, kind scene.Kind) (x, y int) {
	if kind == scene.KindNode {
		p = p.Sub(scene.Point{X: iconHalf, Y: iconHalf})
	}
	return int(math.Round(p.X)), int(math.Round(p.Y))
}

// Delete removes nodes with their hops, hops, and notes.
func (f *File) Delete(refs []scene.Ref) error {
	var edits []hopxml.Edit
	gone := map[hopxml.ID]bool{}
	for _, r := range refs {
		switch r.Kind {
		case scene.KindNode:
			id := ElementID(r.ID)
			gone[id] = true
			edits = append(edits, hopxml.RemoveNode(id))
		case scene.KindNote:
			edits = append(edits, hopxml.Remove(ElementID(r.ID)))
		}
	}
	for _, r := range refs {
		if h, ok := f.hop(ElementID(r.ID)); ok && r.Kind == scene.KindHop && !gone[h.FromID] && !gone[h.ToID] {
			edits = append(edits, f.dropHop(h)...)
		}
	}
	label := "delete"
	if len(refs) == 1 {
		label = "delete " + f.nameOf(refs[0])
	}
	return f.Do(label, edits...)
}

func (f *File) hop(id hopxml.ID) (hopxml.Hop, bool) {
	for _, h := range f.view.hops {
		if h.ID == id {
			return h, true
		}
	}
	return hopxml.Hop{}, false
}

// nameOf names a thing for the undo list and for messages.
func (f *File) nameOf(r scene.Ref) string {
	switch r.Kind {
	case scene.KindNode:
		if n, ok := f.Node(ElementID(r.ID)); ok {
			return n.Name
		}
	case scene.KindHop:
		if h, ok := f.hop(ElementID(r.ID)); ok {
			return "hop from " + h.From + " to " + h.To
		}
	case scene.KindNote:
		return "note"
	}
	return "it"
}

// dropHop removes a hop and the setting of its source that names its target.
func (f *File) dropHop(h hopxml.Hop) []hopxml.Edit {
	return append(f.retarget(h, ""), hopxml.RemoveHop(h.ID))
}

// retarget gives the settings that name an end of a hop another name: targets at
// its source, sources at its target.
func (f *File) retarget(h hopxml.Hop, name string) []hopxml.Edit {
	from, _ := f.Node(h.FromID)
	return f.renameIn(from, []string{"target", "transform"}, map[string]string{lower(h.To): name})
}

// renameIn changes settings of a node that name other nodes. Keys are lower-case
// old names.
func (f *File) renameIn(n Node, forms []string, names map[string]string) []hopxml.Edit {
	d := f.decode(n)
	if d.kind == nil {
		return nil
	}
	old, err := d.kind.entries(d.settings)
	if err != nil {
		return nil
	}
	changed := transform.CloneEntries(old)
	renameEntries(changed, forms, names)
	return transform.EncodeEntries(n.Element, old, changed)
}

func renameEntries(list []transform.Entry, forms []string, names map[string]string) {
	for i := range list {
		e := &list[i]
		renameEntries(e.Items, forms, names)
		for _, row := range e.Rows {
			renameEntries(row, forms, names)
		}
		if name, ok := names[lower(e.Text)]; ok && e.Text != "" && slices.Contains(forms, e.Setting.Form) {
			e.Text = name
		}
	}
}

// Detach moves a node away and joins its neighbours behind it.
func (f *File) Detach(node scene.ID, to scene.Point) error {
	id := ElementID(node)
	var in, out []hopxml.Hop
	for _, h := range f.view.hops {
		switch {
		case h.ToID == id:
			in = append(in, h)
		case h.FromID == id:
			out = append(out, h)
		}
	}
	var edits []hopxml.Edit
	for _, h := range slices.Concat(in, out) {
		edits = append(edits, hopxml.RemoveHop(h.ID))
	}
	for _, a := range in {
		for _, b := range out {
			if !f.joined(a.FromID, b.ToID) && a.FromID != b.ToID {
				edits = append(edits, hopxml.AddHop(hopxml.Hop{From: a.From, To: b.To, Enabled: a.Enabled && b.Enabled, Evaluation: a.Evaluation, Unconditional: a.Unconditional}))
			}
		}
		if len(out) == 1 {
			edits = append(edits, f.retarget(a, out[0].To)...)
		}
	}
	edits = append(edits, f.moves(map[scene.Ref]scene.Point{scene.NodeRef(node): to})...)
	return f.Do("detach "+f.nameOf(scene.NodeRef(node)), edits...)
}

func (f *File) joined(from, to hopxml.ID) bool {
	return slices.ContainsFunc(f.view.hops, func(h hopxml.Hop) bool { return h.FromID == from && h.ToID == to })
}

// InsertInto moves a node onto a hop and leads the hop through it.
func (f *File) InsertInto(node, hop scene.ID, to map[scene.Ref]scene.Point) error {
	n, ok := f.Node(ElementID(node))
	h, found := f.hop(ElementID(hop))
	if !ok || !found {
		return hopxml.ErrNotFound
	}
	return f.Do("insert "+n.Name, append(f.split(h, n.Name), f.moves(to)...)...)
}

// split leads a hop through a node.
func (f *File) split(h hopxml.Hop, name string) []hopxml.Edit {
	edits := append(f.retarget(h, name), hopxml.RemoveHop(h.ID))
	first := hopxml.Hop{From: h.From, To: name, Enabled: h.Enabled, Evaluation: h.Evaluation, Unconditional: h.Unconditional}
	second := hopxml.Hop{From: name, To: h.To, Enabled: h.Enabled, Evaluation: true, Unconditional: h.Unconditional}
	return append(edits, hopxml.AddHop(first), hopxml.AddHop(second))
}

// ToggleHops enables hops, or disables them when all are on.
func (f *File) ToggleHops(ids []scene.ID) error {
	on := true
	for _, id := range ids {
		if h, ok := f.hop(ElementID(id)); ok && !h.Enabled {
			on = false
		}
	}
	label := "enable hop"
	if on {
		label = "disable hop"
	}
	var edits []hopxml.Edit
	for _, id := range ids {
		edits = append(edits, hopxml.EnableHop(ElementID(id), !on))
	}
	return f.Do(label, edits...)
}

// Rewire gives a hop other ends.
func (f *File) Rewire(hop, from, to scene.ID) error {
	h, ok := f.hop(ElementID(hop))
	a, okA := f.Node(ElementID(from))
	b, okB := f.Node(ElementID(to))
	if !ok || !okA || !okB {
		return hopxml.ErrNotFound
	}
	var edits []hopxml.Edit
	if a.ID == h.FromID {
		edits = f.retarget(h, b.Name)
	} else {
		edits = f.retarget(h, "")
	}
	edits = append(edits, hopxml.RemoveHop(h.ID))
	h.From, h.To = a.Name, b.Name
	return f.Do("reconnect hop", append(edits, hopxml.AddHop(h))...)
}

// ResizeNote gives a note a rectangle.
func (f *File) ResizeNote(id scene.ID, r scene.Rect) error {
	for _, n := range f.view.notes {
		if n.ID == ElementID(id) {
			n.X, n.Y = place(r.Min, scene.KindNote)
			n.Width, n.Height = int(math.Round(r.W())), int(math.Round(r.H()))
			return f.Do("resize note", hopxml.SetNote(n))
		}
	}
	return hopxml.ErrNotFound
}

// SetNoteText changes what a note says.
func (f *File) SetNoteText(id scene.ID, text string) error {
	for _, n := range f.view.notes {
		if n.ID == ElementID(id) {
			n.Text = text
			return f.Do("edit note", hopxml.SetNote(n))
		}
	}
	return hopxml.ErrNotFound
}

// AddNote puts a note at a place of the canvas.
func (f *File) AddNote(at scene.Point, text string) error {
	x, y := place(at, scene.KindNote)
	return f.Do("add note", hopxml.AddNote(hopxml.Note{Text: text, X: x, Y: y, Width: 176, Height: 64, FontSize: -1}))
}

// Rename renames a node everywhere it is named.
func (f *File) Rename(id hopxml.ID, name string) error {
	n, ok := f.Node(id)
	if !ok {
		return hopxml.ErrNotFound
	}
	if name == n.Name {
		return nil
	}
	return f.Do("rename "+n.Name, f.rename(n, name))
}

func (f *File) rename(n Node, name string) hopxml.Edit {
	edits := []hopxml.Edit{}
	for _, other := range f.view.nodes {
		edits = append(edits, f.renameIn(other, []string{"target", "transform"}, map[string]string{lower(n.Name): name})...)
	}
	return hopxml.Join(append(edits, hopxml.RenameNode(n.ID, name))...)
}

// Placed says where a new node goes and how it is wired.
type Placed struct {
	Type string      // of the palette
	At   scene.Point // centre of its tile
	From scene.ID    // node that feeds it, or ""
	Hop  scene.ID    // hop that leads through it, or ""
}

// Place adds a node with its default settings and returns its name on the canvas.
func (f *File) Place(p Placed) (scene.ID, error) {
	x, y := place(p.At, scene.KindNode)
	fresh := hopxml.NewNode{Type: p.Type, Name: p.Type, X: x, Y: y}
	if k, ok := f.Palette().Kind(p.Type); ok {
		entries, err := k.entries(k.fresh())
		if err != nil {
			return "", err
		}
		fresh.Type, fresh.Name, fresh.Settings = k.ID, k.Name, transform.NewSettings(entries)
	}
	if fresh.Type == hopxml.StartType && f.hasStart() {
		return "", ErrSecondStart
	}
	fresh.Name = f.uniqueName(fresh.Name, nil)
	edits := []hopxml.Edit{hopxml.AddNode(fresh)}
	if from, ok := f.Node(ElementID(p.From)); ok {
		edits = append(edits, hopxml.AddHop(hopxml.Hop{From: from.Name, To: fresh.Name, Enabled: true, Evaluation: true, Unconditional: !f.IsPipeline() && from.Type == hopxml.StartType}))
	}
	if h, ok := f.hop(ElementID(p.Hop)); ok {
		edits = append(edits, f.split(h, fresh.Name)...)
	}
	if err := f.Do("add "+fresh.Name, edits...); err != nil {
		return "", err
	}
	n, _ := f.NodeNamed(fresh.Name)
	return SceneID(n.ID), nil
}

// ErrSecondStart means that a workflow has its start already.
var ErrSecondStart = errors.New("a workflow has one Start; this one has it already")

func (f *File) hasStart() bool {
	return !f.IsPipeline() && slices.ContainsFunc(f.view.nodes, func(n Node) bool { return n.Type == hopxml.StartType })
}

// NextCondition changes when a workflow hop is followed: always, on success, on
// failure, and again.
func (f *File) NextCondition(id scene.ID) error {
	h, ok := f.hop(ElementID(id))
	if !ok {
		return hopxml.ErrNotFound
	}
	next := map[hopxml.Condition]hopxml.Condition{hopxml.Always: hopxml.OnSuccess, hopxml.OnSuccess: hopxml.OnFailure, hopxml.OnFailure: hopxml.Always}
	return f.Do("change hop", hopxml.SetCondition(h.ID, next[h.Condition()]))
}

// SetCondition says when workflow hops are followed.
func (f *File) SetCondition(ids []scene.ID, c hopxml.Condition) error {
	var edits []hopxml.Edit
	for _, id := range ids {
		edits = append(edits, hopxml.SetCondition(ElementID(id), c))
	}
	return f.Do("change hop", edits...)
}

// Find lists the nodes and notes whose name, type, description or settings hold a
// text, without regard to case.
func (f *File) Find(text string) []scene.Ref {
	var out []scene.Ref
	if text = lower(text); text == "" {
		return nil
	}
	for _, n := range f.view.nodes {
		if contains(n.Name, text) || contains(n.Type, text) || contains(string(n.Element.Raw()), text) {
			out = append(out, scene.NodeRef(SceneID(n.ID)))
		}
	}
	slices.SortStableFunc(out, func(a, b scene.Ref) int {
		rank := func(r scene.Ref) int {
			if contains(f.nameOf(r), text) {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	for _, n := range f.view.notes {
		if contains(n.Text, text) {
			out = append(out, scene.NoteRef(SceneID(n.ID)))
		}
	}
	return out
}
