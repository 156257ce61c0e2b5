package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"

	"sluice/engine"
	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// markInput is the kind of source mark with which the safe engine keeps which
// sealed rows a transform has read.
const markInput = "input"

// safeRun is a run in which the output of every transform is sealed on this
// machine. What the same file sealed before, from the same inputs, is used again.
type safeRun struct {
	place  *Place
	ids    map[string]string  // snapshot ids by lower-case node, as the cuts begin or are reused
	reused map[string]*Source // by lower-case node
	spools map[string]*Spool
}

func safeID(file, node string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	sum := sha256.Sum256([]byte("safe\x00" + file + "\x00" + strings.ToLower(node)))
	return hex.EncodeToString(sum[:6])
}

var errNoLocal = errors.New("there is no folder on this machine to keep rows in")

func (s *Session) localPlace(kind Kind) (*Place, error) {
	if s.o.Local == nil {
		return nil, errNoLocal
	}
	return s.o.Local(kind)
}

// safely seals every output, and continues where the last run of the file failed.
// Gates are kept by the safe engine too, on this machine.
func (s *Session) safely(ctx context.Context, p *pipeline.Preparation, marks *Marks, callPath engine.CallPath) error {
	place, err := s.localPlace(KindSafe)
	if err != nil {
		return err
	}
	r := &safeRun{place: place, ids: map[string]string{}, reused: map[string]*Source{}, spools: map[string]*Spool{}}
	sc := newScene(p, s.o.Secrets)
	nodes := inOrder(p.Graph)
	for _, n := range nodes {
		if !s.o.Fresh && len(p.Options.Bound) == 0 {
			if err := s.safeReuse(ctx, sc, r, n); err != nil {
				return err
			}
		}
	}
	s.bindSafe(p, r, nodes)
	for _, g := range marks.Gates {
		if runs(p, g.Node) {
			s.o.Log.Info("The safe engine keeps the rows of this gate on this machine only", "transform", g.Node)
		}
	}
	for _, n := range nodes {
		if runs(p, n.Name) {
			if err := s.cutSafe(sc, r, n, callPath); err != nil {
				return err
			}
		}
	}
	s.mu.Lock()
	s.safe = r
	s.atEnd = append(s.atEnd, func(ctx context.Context, succeeded bool) error { return s.tidySafe(ctx, p, r, succeeded) })
	s.mu.Unlock()
	return nil
}

// inOrder lists the nodes that run, inputs first.
func inOrder(g *pipeline.Graph) []*pipeline.Node {
	var list []*pipeline.Node
	done := map[string]bool{}
	var visit func(n *pipeline.Node)
	visit = func(n *pipeline.Node) {
		key := strings.ToLower(n.Name)
		if done[key] || n.Disabled {
			return
		}
		done[key] = true
		for _, h := range g.Hops {
			if from := g.Node(h.From); from != nil && strings.EqualFold(h.To, n.Name) {
				visit(from)
			}
		}
		list = append(list, n)
	}
	for _, n := range g.Nodes {
		visit(n)
	}
	return list
}

func isLeaf(g *pipeline.Graph, name string) bool {
	for _, h := range g.Hops {
		if strings.EqualFold(h.From, name) {
			return false
		}
	}
	return true
}

// safeReuse looks for sealed rows of a transform. They fit only if those that
// they were made of are used too.
func (s *Session) safeReuse(ctx context.Context, sc *scene, r *safeRun, n *pipeline.Node) error {
	key := strings.ToLower(n.Name)
	for _, u := range Upstream(sc.p.Graph, n.Name) {
		if k := strings.ToLower(u.Name); k != key && r.reused[k] == nil {
			return nil // something above runs again
		}
	}
	src, err := s.keptRows(ctx, sc, r.place, safeID(sc.p.Pipeline.Document.Name(), n.Name), n.Name, KindSafe, func(src *Source) error {
		if src.kind.Rows != nil && !isLeaf(sc.p.Graph, n.Name) {
			return &staleError{"its rows were not kept, since nothing followed it"}
		}
		for _, m := range src.Manifest().Sources {
			if m.Kind == markInput && r.ids[strings.ToLower(m.Node)] != m.Value {
				return &staleError{"it was made of other rows of " + m.Node}
			}
		}
		return nil
	})
	var stale *staleError
	switch {
	case errors.As(err, &stale):
		s.noteStale(n.Name, err)
		return nil
	case err != nil || src == nil:
		return err
	}
	r.reused[key], r.ids[key] = src, src.Ref.ID
	return nil
}

// bindSafe binds what is used again: transforms that feed one that runs, and
// those that end a branch, whose effects are wanted.
func (s *Session) bindSafe(p *pipeline.Preparation, r *safeRun, nodes []*pipeline.Node) {
	if len(r.reused) == 0 {
		return
	}
	if len(r.reused) == len(nodes) { // the last run ended before it could tidy up
		r.reused, r.ids = map[string]*Source{}, map[string]string{}
		return
	}
	run := map[string]bool{}
	for _, n := range nodes {
		if key := strings.ToLower(n.Name); r.reused[key] == nil {
			run[key] = true
		}
	}
	for _, n := range nodes {
		key := strings.ToLower(n.Name)
		src := r.reused[key]
		if src == nil {
			continue
		}
		s.noteReused(n.Name, src)
		needed := isLeaf(p.Graph, n.Name)
		for _, h := range p.Graph.Hops {
			needed = needed || strings.EqualFold(h.From, n.Name) && r.reused[strings.ToLower(h.To)] == nil
		}
		if needed {
			s.use(p, n.Name, src)
		}
	}
	for key := range p.Options.Bound {
		run[key] = true
	}
	p.Options.Run = run
}

func (s *Session) cutSafe(sc *scene, r *safeRun, n *pipeline.Node, callPath engine.CallPath) error {
	most := int64(-1)
	if isLeaf(sc.p.Graph, n.Name) {
		most = 0
	}
	c := localConfig(safeID(sc.p.Pipeline.Document.Name(), n.Name), ReleaseSealed)
	if err := s.cut(sc, c, cutting{kind: KindSafe, node: n.Name, place: r.place, callPath: callPath, most: most}); err != nil {
		return err
	}
	key := strings.ToLower(n.Name)
	s.mu.Lock()
	sp := s.spools[len(s.spools)-1]
	s.mu.Unlock()
	r.spools[key] = sp
	marks := sp.sealing
	sp.sealing = func(ctx context.Context) snapshot.Sealing {
		x := marks(ctx)
		for _, u := range Upstream(sc.p.Graph, n.Name) {
			k := strings.ToLower(u.Name)
			if k == key {
				continue
			}
			id := r.ids[k]
			if up := r.spools[k]; up != nil {
				id = up.Outcome().Snapshot
			}
			x.Sources = append(x.Sources, snapshot.SourceMark{Node: u.Name, Kind: markInput, Value: id})
		}
		return x
	}
	return nil
}

// tidySafe removes what no later run will use: everything after a success, what
// was superseded after a failure.
func (s *Session) tidySafe(ctx context.Context, p *pipeline.Preparation, r *safeRun, succeeded bool) error {
	var errs []error
	for _, n := range p.Graph.Nodes {
		key := strings.ToLower(n.Name)
		keep := keepNone
		if !succeeded {
			current := r.ids[key]
			if sp := r.spools[key]; sp != nil {
				current = sp.Outcome().Snapshot
			}
			keep = func(ref storage.SnapshotRef) bool { return ref.ID == current }
		}
		_, err := forget(ctx, r.place, safeID(p.Pipeline.Document.Name(), n.Name), keep)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
