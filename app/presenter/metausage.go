package presenter

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"sluice/engine/hopxml"
)

// MetaUse is a node of a pipeline or workflow that names a metadata object.
type MetaUse struct{ File, Node string }

// maxUses bounds what is listed.
const maxUses = 200

var errEnough = errors.New("enough found")

// FindUses looks in the pipelines and workflows of a folder for nodes that name an
// object. It reads the disk.
func FindUses(ctx context.Context, home string, t MetaType, name string) ([]MetaUse, error) {
	var uses []MetaUse
	if len(t.Tags) == 0 {
		return nil, nil
	}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if d.IsDir() && path != home && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !IsHopFile(path) {
			return nil
		}
		doc, err := hopxml.Open(path)
		if err != nil {
			return nil //nolint:nilerr // a file that cannot be read is told of where it is opened
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		for _, node := range nodesNaming(doc, t.Tags, name) {
			if uses = append(uses, MetaUse{rel, node}); len(uses) >= maxUses {
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return uses, err
}

// nodesNaming lists the transforms or actions of a file that have such a setting.
func nodesNaming(doc *hopxml.Document, tags []string, name string) []string {
	var nodes []string
	add := func(node string, e *hopxml.Element) {
		if refersTo(e, tags, name) {
			nodes = append(nodes, node)
		}
	}
	if p, err := doc.Pipeline(); err == nil && doc.Kind() == hopxml.PipelineKind {
		for _, t := range p.Transforms {
			add(t.Name, t.Element)
		}
		return nodes
	}
	if w, err := doc.Workflow(); err == nil {
		for _, a := range w.Actions {
			add(a.Name, a.Element)
		}
	}
	return nodes
}

func refersTo(e *hopxml.Element, tags []string, name string) bool {
	for _, child := range e.Elements() {
		if slices.Contains(tags, child.Name()) && child.Text() == name || refersTo(child, tags, name) {
			return true
		}
	}
	return false
}
