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
	markFile  = "file"
	markQuery = "query"
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
