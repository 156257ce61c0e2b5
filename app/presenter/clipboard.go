package presenter

import (
	"errors"
	"fmt"
	"strings"

	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// ErrNothingToPaste means that the clipboard holds no transforms or actions.
var ErrNothingToPaste = errors.New("the clipboard holds nothing that can be pasted here")

// clip are the element names of one of Hop's clipboard documents.
type clip struct{ root, nodes, hops string }

var (
	pipelineClip = clip{"pipeline-transforms", "transforms", "order"}
	workflowClip = clip{"workflow-actions", "actions", "hops"}
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func (f *File) clip() clip {
	if f.IsPipeline() {
		return pipelineClip
	}
	return workflowClip
}

// Copy gives nodes and notes, and the hops between those nodes, as the text that
// Hop puts on the clipboard; "" when nothing of it can be copied.
func (f *File) Copy(refs []scene.Ref) string {
	picked := map[hopxml.ID]bool{}
	for _, r := range refs {
		if r.Kind == scene.KindNode || r.Kind == scene.KindNote {
			picked[ElementID(r.ID)] = true
		}
	}
	if len(picked) == 0 {
		return ""
	}
	c := f.clip()
	var b strings.Builder
	b.WriteString(xmlHead + "<" + c.root + ">\n")
	section := func(name string, each func(add func(*hopxml.Element))) {
		b.WriteString("<" + name + ">\n")
		each(func(e *hopxml.Element) { b.WriteString("    " + string(e.Raw()) + "\n") })
		b.WriteString("</" + name + ">\n")
	}
	section(c.nodes, func(add func(*hopxml.Element)) {
		for _, n := range f.view.nodes {
			if picked[n.ID] {
				add(n.Element)
			}
		}
	})
	section(c.hops, func(add func(*hopxml.Element)) {
		for _, h := range f.view.hops {
			if picked[h.FromID] && picked[h.ToID] {
				add(h.Element)
			}
		}
	})
	section("notepads", func(add func(*hopxml.Element)) {
		for _, n := range f.view.notes {
			if picked[n.ID] {
				add(n.Element)
			}
		}
	})
	if f.IsPipeline() {
		section("transform_error_handling", func(add func(*hopxml.Element)) {
			for _, h := range f.view.pipeline.ErrorHandling {
				if picked[h.SourceID] && picked[h.TargetID] {
					add(h.Element)
				}
			}
		})
	}
	b.WriteString("</" + c.root + ">\n")
	return b.String()
}

// Paste adds what the clipboard holds, its top left at a place, under names that
// are free, and returns the new things. Gate marks are not pasted.
func (f *File) Paste(text string, at scene.Point) ([]scene.Ref, error) {
	p, err := f.parseClip(text)
	if err != nil {
		return nil, err
	}
	before := f.doc
	edit := p.edit(f, at)
	if err := f.Do(fmt.Sprintf("paste %s", Plural(int64(len(p.nodes)+len(p.notes)), "object")), edit); err != nil {
		return nil, err
	}
	var refs []scene.Ref
	for _, n := range f.view.nodes {
		if before.Element(n.ID) == nil {
			refs = append(refs, scene.NodeRef(SceneID(n.ID)))
		}
	}
	for _, n := range f.view.notes {
		if before.Element(n.ID) == nil {
			refs = append(refs, scene.NoteRef(SceneID(n.ID)))
		}
	}
	return refs, nil
}

// pasted is a clipboard made readable: its content as a document of its own.
type pasted struct {
	nodes    []Node
	notes    []hopxml.Note
	hops     []hopxml.Hop
	handling []hopxml.ErrorHandling
	view     *view
}

func (f *File) parseClip(text string) (*pasted, error) {
	c := f.clip()
	d, err := hopxml.Parse("the clipboard", []byte(strings.TrimSpace(text)))
	if err != nil || d.Root().Name() != c.root {
		return nil, ErrNothingToPaste
	}
	var b strings.Builder
	root := "workflow"
	if f.IsPipeline() {
		root = "pipeline"
	}
	b.WriteString("<" + root + ">\n")
	for _, e := range d.Root().Elements() {
		if f.IsPipeline() && e.Name() == c.nodes {
			for _, n := range e.Elements() {
				b.WriteString("  " + string(n.Raw()) + "\n")
			}
			continue
		}
		b.WriteString("  " + string(e.Raw()) + "\n")
	}
	b.WriteString("</" + root + ">\n")
	whole, err := hopxml.Parse("the clipboard", []byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNothingToPaste, err)
	}
	v, err := newView(whole)
	if err != nil {
		return nil, err
	}
	p := &pasted{nodes: v.nodes, notes: v.notes, hops: v.hops, view: v}
	if v.pipeline != nil {
		p.handling = v.pipeline.ErrorHandling
	}
	if len(p.nodes)+len(p.notes) == 0 {
		return nil, ErrNothingToPaste
	}
	return p, nil
}

// edit makes the whole paste one edit.
func (p *pasted) edit(f *File, at scene.Point) hopxml.Edit {
	names, taken := map[string]string{}, map[string]bool{}
	left, top := 1<<30, 1<<30
	for _, n := range p.nodes {
		name := f.uniqueName(n.Name, taken)
		names[lower(n.Name)], taken[lower(name)] = name, true
		left, top = min(left, n.X), min(top, n.Y)
	}
	for _, n := range p.notes {
		left, top = min(left, n.X), min(top, n.Y)
	}
	x, y := place(at, scene.KindNote)
	dx, dy := x-left, y-top
	return func(d *hopxml.Document) (*hopxml.Document, error) {
		var err error
		for _, n := range p.nodes {
			if d, err = p.addNode(f, d, n, names, n.X+dx, n.Y+dy); err != nil {
				return nil, err
			}
		}
		var edits []hopxml.Edit
		for _, h := range p.hops {
			h.From, h.To = names[lower(h.From)], names[lower(h.To)]
			edits = append(edits, hopxml.AddHop(h))
		}
		for _, h := range p.handling {
			if a, b := names[lower(h.Source)], names[lower(h.Target)]; a != "" && b != "" {
				h.Source, h.Target = a, b
				h.SourceID, h.TargetID = idOf(d, a), idOf(d, b)
				edits = append(edits, hopxml.SetErrorHandling(h))
			}
		}
		for _, n := range p.notes {
			n.X, n.Y = n.X+dx, n.Y+dy
			edits = append(edits, hopxml.AddNote(n))
		}
		return d.Apply(edits...)
	}
}

func idOf(d *hopxml.Document, name string) hopxml.ID {
	v, err := newView(d)
	if err != nil {
		return 0
	}
	for _, n := range v.nodes {
		if hopxml.EqualName(n.Name, name) {
			return n.ID
		}
	}
	return 0
}

// addNode adds a copy of a node of the clipboard under its new name, with the names
// of other pasted nodes in its settings changed too.
func (p *pasted) addNode(f *File, d *hopxml.Document, n Node, names map[string]string, x, y int) (*hopxml.Document, error) {
	parent := d.Root().ID()
	tag := "transform"
	if !f.IsPipeline() {
		var err error
		if d, parent, err = ensureChild(d, parent, "actions"); err != nil {
			return nil, err
		}
		tag = "action"
	}
	known := map[hopxml.ID]bool{}
	for _, e := range d.Element(parent).All(tag) {
		known[e.ID()] = true
	}
	d, err := d.Apply(hopxml.Insert(parent, hopxml.Canonical(), hopxml.From(n.Element)))
	if err != nil {
		return nil, err
	}
	for _, e := range d.Element(parent).All(tag) {
		if known[e.ID()] {
			continue
		}
		edits := []hopxml.Edit{
			hopxml.SetChild(e.ID(), "name", names[lower(n.Name)], hopxml.Canonical()),
			hopxml.MoveNode(e.ID(), x, y),
			hopxml.RemoveAttributeGroup(e.ID(), hopxml.GateGroup),
		}
		if k, ok := f.Palette().Kind(n.Type); ok {
			edits = append(edits, renamed(k, e, names)...)
		}
		return d.Apply(edits...)
	}
	return d, nil
}

func renamed(k *Kind, e *hopxml.Element, names map[string]string) []hopxml.Edit {
	s, _ := k.decode(e)
	old, err := k.entries(s)
	if err != nil {
		return nil
	}
	changed := transform.CloneEntries(old)
	renameEntries(changed, []string{"target", "transform"}, names)
	return transform.EncodeEntries(e, old, changed)
}

func ensureChild(d *hopxml.Document, parent hopxml.ID, name string) (*hopxml.Document, hopxml.ID, error) {
	if e := d.Element(parent).Child(name); e != nil {
		return d, e.ID(), nil
	}
	next, err := d.Apply(hopxml.Insert(parent, hopxml.Canonical(), hopxml.Branch(name)))
	if err != nil {
		return nil, 0, err
	}
	return next, next.Element(parent).Child(name).ID(), nil
}
