package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage/snapshot"
)

// The kinds of source marks.
const (
	markFile = "file"
	// markBeside is a file that the pipeline reads beside what is above the gate.
	markBeside = "file-beside"
	markQuery  = "query"
)

// cheapHash is the size up to which a source file is hashed.
const cheapHash = 64 << 20

// sources marks what the nodes above a gate have read: files by size, time of
// change and hash, databases by the time of the query.
func (s *scene) sources(ctx context.Context, node string) []snapshot.SourceMark {
	var list []snapshot.SourceMark
	for _, n := range Upstream(s.p.Graph, node) {
		list = append(list, s.marksOf(ctx, n)...)
	}
	return list
}

// marksOnce gives the marks of one transform as they were when first asked for.
func (s *scene) marksOnce(ctx context.Context, node string) []snapshot.SourceMark {
	key := strings.ToLower(node)
	list, known := s.marks[key]
	n := s.p.Graph.Node(node)
	if !known && n != nil {
		list = s.marksOf(ctx, n)
		s.marks[key] = list
	}
	return list
}

func (s *scene) marksOf(ctx context.Context, n *pipeline.Node) []snapshot.SourceMark {
	if n.Definition.Sink || n.Settings == nil {
		return nil
	}
	var list []snapshot.SourceMark
	add := func(m snapshot.SourceMark) {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	_ = n.Definition.Walk(n.Settings, func(x transform.Value) {
		if x.Text == "" {
			return
		}
		switch x.Setting.Form {
		case formFile:
			name, err := s.p.Options.Vars.Resolve(x.Text)
			if err != nil || isLogic(x) {
				return
			}
			if value := s.fileMark(ctx, name); value != "" {
				add(snapshot.SourceMark{Node: n.Name, Kind: markFile, Value: s.portable(name) + " " + value})
			}
		case formConnection:
			add(snapshot.SourceMark{Node: n.Name, Kind: markQuery, Value: s.p.Options.Now().UTC().Format(time.RFC3339Nano)})
		}
	}) // an error is told by the fingerprint
	return list
}

// beside marks the files that sources which are not above the node have read, so
// that a start from its rows can tell whether they are the same by then. What a
// hash does not cover is left out.
func (s *scene) beside(ctx context.Context, node string) []snapshot.SourceMark {
	up := map[string]bool{}
	for _, n := range Upstream(s.p.Graph, node) {
		up[n.Name] = true
	}
	var list []snapshot.SourceMark
	for _, n := range s.p.Graph.Nodes {
		if !n.Disabled && !up[n.Name] && isSource(s.p.Graph, n.Name) {
			list = append(list, s.filesOf(ctx, n)...)
		}
	}
	return list
}

// filesOf marks the files of a source that reads nothing else; nil when it does, or
// when one of them has no hash.
func (s *scene) filesOf(ctx context.Context, n *pipeline.Node) []snapshot.SourceMark {
	if n.Definition.Sink || n.Settings == nil {
		return nil
	}
	var list []snapshot.SourceMark
	whole := true
	err := n.Definition.Walk(n.Settings, func(x transform.Value) {
		if x.Text == "" {
			return
		}
		switch x.Setting.Form {
		case formConnection:
			whole = false
		case formFile:
			name, err := s.p.Options.Vars.Resolve(x.Text)
			if err != nil {
				whole = false
				return
			}
			value := s.fileMark(ctx, name)
			whole = whole && hashIn(value) != ""
			list = append(list, snapshot.SourceMark{Node: n.Name, Kind: markBeside, Value: s.portable(name) + " " + value})
		}
	})
	if err != nil || !whole {
		return nil
	}
	return list
}

// sameBeside tells whether a source that is read now has the very files that it had
// when the rows were sealed.
func (s *scene) sameBeside(ctx context.Context, m *snapshot.Manifest, n *pipeline.Node) bool {
	now := s.filesOf(ctx, n)
	var then []snapshot.SourceMark
	for _, mark := range m.Sources {
		if mark.Kind == markBeside && mark.Node == n.Name {
			then = append(then, mark)
		}
	}
	return len(now) > 0 && slices.EqualFunc(then, now, func(a, b snapshot.SourceMark) bool {
		x, _, _ := strings.Cut(a.Value, " size=")
		y, _, _ := strings.Cut(b.Value, " size=")
		return x == y && hashIn(a.Value) == hashIn(b.Value)
	})
}

// isSource says that no hop leads to a transform.
func isSource(g *pipeline.Graph, name string) bool {
	return !slices.ContainsFunc(g.Hops, func(h pipeline.Hop) bool { return strings.EqualFold(h.To, name) })
}

// fileMark identifies the content of a file; empty when it is not to be had.
func (s *scene) fileMark(ctx context.Context, name string) string {
	info, err := s.p.Options.Files.Stat(ctx, name)
	if err != nil || info.Folder {
		return ""
	}
	mark := fmt.Sprintf("size=%d", info.Size)
	if !info.ModTime.IsZero() {
		mark += " modified=" + info.ModTime.UTC().Format(time.RFC3339Nano)
	}
	if info.Size > cheapHash || strings.Contains(name, "://") {
		return mark
	}
	r, err := s.p.Options.Files.Open(ctx, name)
	if err != nil {
		return mark
	}
	defer func() { _ = r.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return mark
	}
	return mark + " sha256=" + hex.EncodeToString(h.Sum(nil))
}

// sameFile compares two marks of a file by hash where both have one.
func sameFile(a, b string) bool {
	x, y := hashIn(a), hashIn(b)
	if x != "" && y != "" {
		return x == y
	}
	return a == b
}

func hashIn(mark string) string {
	_, h, _ := strings.Cut(mark, " sha256=")
	return h
}
