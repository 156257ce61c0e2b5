package presenter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/project"
)

// RemoteUse is something of a project that names a remote.
type RemoteUse struct {
	Kind     RemoteUseKind
	File     string // relative to the project's folder
	Name     string // of the gate's node, the node or the variable
	Location string // as it resolves today
	Path     string // of the file
	Gate     string // id of the gate; empty for the other kinds
}

// RemoteUseKind is what names a remote.
type RemoteUseKind int

// The kinds of uses.
const (
	UseGate RemoteUseKind = iota
	UseNode
	UseVariable
)

// String is a gate, a node or a variable in a sentence.
func (u RemoteUse) String() string {
	return fmt.Sprintf("%s %s of %s", [...]string{"gate", "node", "variable"}[u.Kind], u.Name, u.File)
}

// remoteSearch looks for the uses of one remote.
type remoteSearch struct {
	home, name string
	scope      *project.Variables // nil resolves nothing
	uses       []RemoteUse
}

// FindRemoteUses looks in the pipelines and workflows of a project, its
// configuration and its environments for what names a remote: gates, also those
// without a location whose default is there, nodes and variables. It reads the
// disk.
func FindRemoteUses(ctx context.Context, s *MetaStore, scope *project.Variables, name string) ([]RemoteUse, error) {
	r := &remoteSearch{home: s.Home, name: name, scope: scope}
	err := filepath.WalkDir(s.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if d.IsDir() && path != s.Home && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !IsHopFile(path) {
			return nil
		}
		doc, err := hopxml.Open(path)
		if err != nil {
			return nil //nolint:nilerr // a file that cannot be read is told of where it is opened
		}
		r.gates(doc, path)
		r.nodes(doc, path)
		if len(r.uses) >= maxUses {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	items := append(s.environments(), MetaItem{Ref: MetaRef{MetaProject, s.Project.Name}, Path: filepath.Join(s.Home, project.ConfigFileName)})
	for _, item := range items {
		if item.Wrong == "" {
			r.variables(s, item)
		}
	}
	return r.uses, nil
}

// there gives the location that a text means, when it is on the remote.
func (r *remoteSearch) there(text string) (string, bool) {
	if text == "" {
		return "", false
	}
	if r.scope != nil && len(project.References(text)) > 0 {
		if value, err := r.scope.Resolve(text); err == nil {
			text = value
		}
	}
	remote, _, found := strings.Cut(text, ":")
	remote, _, _ = strings.Cut(remote, ",")
	return text, found && remote == r.name
}

func (r *remoteSearch) add(u RemoteUse) {
	rel, err := filepath.Rel(r.home, u.Path)
	if err != nil {
		rel = filepath.Base(u.Path)
	}
	u.File = filepath.ToSlash(rel)
	r.uses = append(r.uses, u)
}

func (r *remoteSearch) gates(doc *hopxml.Document, path string) {
	marks, err := gate.ReadMarks(doc)
	if err != nil {
		return
	}
	for _, g := range marks.Gates {
		text := g.Settings[gate.KeyLocation]
		if text == "" {
			text = "${" + gate.VariableSnapshots + "}"
		}
		if location, ok := r.there(text); ok {
			r.add(RemoteUse{Kind: UseGate, Path: path, Name: g.Node, Gate: g.ID, Location: location})
		}
	}
}

// nodes adds the transforms and actions with a setting that is a location there.
func (r *remoteSearch) nodes(doc *hopxml.Document, path string) {
	if p, err := doc.Pipeline(); err == nil && doc.Kind() == hopxml.PipelineKind {
		for _, t := range p.Transforms {
			if location, ok := r.within(t.Element); ok {
				r.add(RemoteUse{Kind: UseNode, Path: path, Name: t.Name, Location: location})
			}
		}
		return
	}
	if w, err := doc.Workflow(); err == nil {
		for _, a := range w.Actions {
			if location, ok := r.within(a.Element); ok {
				r.add(RemoteUse{Kind: UseNode, Path: path, Name: a.Name, Location: location})
			}
		}
	}
}

func (r *remoteSearch) within(e *hopxml.Element) (string, bool) {
	children := e.Elements()
	if len(children) == 0 {
		return r.there(e.Text())
	}
	for _, child := range children {
		if child.Name() == "attributes" || child.Name() == "name" || child.Name() == "description" {
			continue
		}
		if location, ok := r.within(child); ok {
			return location, true
		}
	}
	return "", false
}

func (r *remoteSearch) variables(s *MetaStore, item MetaItem) {
	m, err := s.Load(item)
	if err != nil {
		return // the tree shows what is wrong
	}
	f := &m.Type.Fields[len(m.Type.Fields)-1]
	for _, row := range m.Rows(f) {
		// Before any other variable, so that this is about what stands there.
		if location, ok := r.there(row.Cells[1]); ok {
			r.add(RemoteUse{Kind: UseVariable, Path: item.Path, Name: row.Cells[0], Location: location})
		}
	}
}

// CountRemoteUses says how many of each kind there are.
func CountRemoteUses(uses []RemoteUse) string {
	n := [3]int64{}
	for _, u := range uses {
		n[u.Kind]++
	}
	var parts []string
	for kind, one := range []string{"gate", "node", "variable"} {
		if n[kind] > 0 {
			parts = append(parts, Plural(n[kind], one))
		}
	}
	return strings.Join(parts, ", ")
}

// HomeOfRemote is the location of the remote that a project uses most likely: its
// first gate's, else its first variable's; empty when there is none.
func HomeOfRemote(uses []RemoteUse) string {
	for _, kind := range []RemoteUseKind{UseGate, UseVariable} {
		for _, u := range uses {
			if u.Kind == kind && (kind == UseGate || u.Name == gate.VariableSnapshots) && !strings.Contains(u.Location, "://") {
				return u.Location
			}
		}
	}
	return ""
}
