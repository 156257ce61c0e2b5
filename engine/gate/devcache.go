package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/engine"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/storage"
)

// CacheGroup is the root attribute group of dev cache marks.
const CacheGroup = "dev-cache"

// KeyCacheRows is the setting of a dev cache mark that bounds the rows of each
// part; "all" keeps all.
const KeyCacheRows = "rows"

// ReadCacheMarks gives the transforms whose output is cached for development.
func ReadCacheMarks(d *hopxml.Document) (*Marks, error) { return readMarks(d, CacheGroup) }

// MarkCache asks for the output of a transform to be cached, rows of each part at
// most; 0 caches all.
func MarkCache(name string, rows int64, ids io.Reader) hopxml.Edit {
	limit := "all"
	if rows > 0 {
		limit = fmt.Sprint(rows)
	}
	return markIn(CacheGroup, name, map[string]string{KeyCacheRows: limit}, ids)
}

// UnmarkCache takes the mark away. Cached rows stay until they are cleared.
func UnmarkCache(name string) hopxml.Edit { return unmarkIn(CacheGroup, name) }

func cacheRows(g *Gate, p *pipeline.Preparation) (int64, error) {
	text, err := p.Options.Vars.Resolve(g.Settings[KeyCacheRows])
	if err != nil {
		return 0, err
	}
	if text = strings.TrimSpace(text); text == "" || strings.EqualFold(text, "all") {
		return -1, nil
	}
	return parseCount(text)
}

// devCache binds cached rows when the run asks for them, and caches those that
// run. Nothing of it keeps a pipeline from running.
func (s *Session) devCache(ctx context.Context, p *pipeline.Preparation, callPath engine.CallPath) error {
	marks, err := ReadCacheMarks(p.Pipeline.Document)
	if err != nil {
		return err
	}
	for _, problem := range marks.Problems {
		s.noteStale(problem.Node, problem)
	}
	if len(marks.Gates) == 0 {
		return nil
	}
	place, err := s.localPlace(KindCache)
	if err != nil {
		return err
	}
	sc := newScene(p, s.o.Secrets)
	if s.o.FromCache {
		if err := s.fromCache(ctx, sc, place, marks); err != nil {
			return err
		}
	}
	gates, err := ReadMarks(p.Pipeline.Document)
	if err != nil {
		return err
	}
	for _, g := range marks.Gates {
		if !runs(p, g.Node) || gates.Gate(g.Node) != nil {
			continue // a gate spools its rows already
		}
		most, err := cacheRows(g, p)
		if err != nil {
			s.noteStale(g.Node, err)
			continue
		}
		c := localConfig(g.ID, ReleaseStreaming)
		c.StopOnFailure = true
		if err := s.cut(sc, c, cutting{kind: KindCache, node: g.Node, place: place, callPath: callPath, most: most}); err != nil {
			return err
		}
		s.tidyCache(place, g.ID)
	}
	return nil
}

// tidyCache keeps the newest sealed entry of a mark only.
func (s *Session) tidyCache(place *Place, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.atEnd = append(s.atEnd, func(ctx context.Context, _ bool) error {
		newest := ""
		ids, err := place.Store.IDs(ctx, id)
		if err != nil {
			return err
		}
		for _, x := range ids {
			if _, err := place.Store.Load(ctx, storage.SnapshotRef{Gate: id, ID: x}); err == nil {
				newest = x
				break
			}
		}
		_, err = forget(ctx, place, id, func(ref storage.SnapshotRef) bool { return ref.ID == newest })
		return err
	})
}

// fromCache binds every cached output that is not stale, and runs what does not
// lead to bound ones only.
func (s *Session) fromCache(ctx context.Context, sc *scene, place *Place, marks *Marks) error {
	p := sc.p
	for _, g := range marks.Gates {
		if !runs(p, g.Node) {
			continue
		}
		src, err := s.keptRows(ctx, sc, place, g.ID, g.Node, KindCache, nil)
		var stale *staleError
		switch {
		case errors.As(err, &stale):
			s.noteStale(g.Node, err)
		case err != nil:
			return err
		case src == nil:
			s.noteStale(g.Node, errors.New("nothing is cached yet"))
		default:
			s.use(p, g.Node, src)
		}
	}
	if len(p.Options.Bound) == 0 {
		return nil
	}
	run := neededFrom(p)
	for key, b := range p.Options.Bound {
		src, ok := b.(*Source)
		switch {
		case !run[key]:
			delete(p.Options.Bound, key) // another one below stands for it
		case ok:
			s.noteReused(p.Graph.Node(key).Name, src)
		}
	}
	p.Options.Run = run
	return nil
}

// neededFrom gives the transforms that ends of the pipeline need, no further up
// than bound ones.
func neededFrom(p *pipeline.Preparation) map[string]bool {
	run := map[string]bool{}
	var need func(name string)
	need = func(name string) {
		key := strings.ToLower(name)
		if run[key] {
			return
		}
		run[key] = true
		if p.Options.Bound[key] != nil {
			return
		}
		for _, h := range p.Graph.Hops {
			if strings.EqualFold(h.To, name) {
				need(h.From)
			}
		}
	}
	for _, n := range p.Graph.Nodes {
		if !n.Disabled && isLeaf(p.Graph, n.Name) {
			need(n.Name)
		}
	}
	return run
}

// ClearCache removes the cached rows of a mark, of all marks when id is "", and
// gives the bytes freed.
func ClearCache(ctx context.Context, place *Place, id string) (int64, error) {
	ids := []string{id}
	if id == "" {
		var err error
		if ids, err = place.Store.Gates(ctx); err != nil {
			return 0, err
		}
	}
	var total int64
	for _, x := range ids {
		n, err := forget(ctx, place, x, keepNone)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
