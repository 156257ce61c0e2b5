package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// CheckPorts is the check that every hop behind the gate finds its rows.
const CheckPorts = "ports"

// starting is one start from gates while it is judged.
type starting struct {
	session *Session
	p       *pipeline.Preparation
	marks   *Marks
	bound   map[string]*Source // by lower-case name of the node
	checks  []Check
	restore map[string]string
}

// startFrom judges a start from gates and puts the snapshots in place. Nothing is
// written, and nothing above a gate is opened.
func (s *Session) startFrom(ctx context.Context, p *pipeline.Preparation, marks *Marks, from []Start) error {
	st := &starting{session: s, p: p, marks: marks, bound: map[string]*Source{}, restore: map[string]string{}}
	run, err := st.weigh(ctx, from)
	if err != nil {
		return err
	}
	err = refused(st.checks, s.o.Overrides)
	s.mu.Lock()
	s.checks = append(s.checks, st.checks...)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for _, c := range st.checks {
		if c.Overridden {
			s.o.Log.Warn("Check overridden", "check", c.ID, "transform", c.Gate, "what", c.What, "reason", s.o.Reason)
		}
	}
	return st.place(ctx, run)
}

// weigh binds the gates, fills in the checks, and gives the transforms that run.
func (st *starting) weigh(ctx context.Context, from []Start) (run map[string]bool, err error) {
	for _, f := range from {
		if err := st.bind(ctx, f); err != nil {
			return nil, err
		}
	}
	if len(st.bound) == 0 {
		return map[string]bool{}, nil
	}
	return st.runSet(ctx)
}

func (st *starting) add(node string, checks ...Check) {
	for _, c := range checks {
		c.Gate = node
		st.checks = append(st.checks, c)
	}
}

// bind judges one gate and its snapshot. The error is for what cannot be judged.
func (st *starting) bind(ctx context.Context, from Start) error {
	g := st.marks.Gate(from.Node)
	if g == nil {
		st.add(from.Node, Check{ID: CheckGate, Status: Block, What: fmt.Sprintf("%q is no gate in this file", from.Node), Do: "see sluice gate list FILE"})
		return nil
	}
	c, err := g.Resolve(st.p.Options.Vars)
	if err != nil {
		return err
	}
	if from.Location != "" {
		c.Location = from.Location
	}
	place, err := st.session.o.Places.Place(ctx, c.Location)
	if err != nil {
		return explain(g.Node, nil, err)
	}
	src, err := choose(ctx, place, g.ID, from.Snapshot, st.p.Options.Alloc)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		st.add(g.Node, whyNot(err))
		return nil
	}
	st.bound[strings.ToLower(g.Node)] = src
	if from.Digest != "" && src.Manifest().Digest != from.Digest {
		st.add(g.Node, Check{
			ID: CheckManifest, Status: Block, What: fmt.Sprintf("the manifest of snapshot %s is not the one that was checked", src.Ref.ID),
			Then: from.Digest, Now: src.Manifest().Digest, Do: "run the pre-flight again",
		})
	}
	return st.judge(ctx, g, c, src)
}

func (st *starting) judge(ctx context.Context, g *Gate, c Config, src *Source) error {
	m := src.Manifest()
	if src.Kind() != KindGate {
		st.add(g.Node, Check{ID: CheckSnapshot, Status: Block, What: fmt.Sprintf("snapshot %s was made by the %s and is no sealed gate", src.Ref.ID, src.Kind())})
		return nil
	}
	st.add(g.Node, Check{ID: CheckSealed, Status: OK, What: fmt.Sprintf("snapshot %s is sealed: %d rows, %s", src.Ref.ID, m.RowCount, m.Ended.UTC().Format(time.RFC3339))})
	segments, err := verify(ctx, src.Place, src.snapshot, st.session.o.Quick)
	if err != nil {
		return err
	}
	st.add(g.Node, segments)
	variables, restore := newScene(st.p, st.session.o.Secrets).checkVariables(m.Variables, st.session.o.Given)
	st.add(g.Node, variables...)
	maps.Copy(st.restore, restore)
	st.add(g.Node, checkUpstream(src.Record, st.asRecorded(m).fingerprint(g.Node))...)
	st.add(g.Node, checkRules(c, m, src.parts, st.p.Options.Now())...)
	st.add(g.Node, st.checkPorts(g, src)...)
	return nil
}

// asRecorded is the scene with the variables that the snapshot recorded, so that
// a change of logic and one of a variable are told apart.
func (st *starting) asRecorded(m *snapshot.Manifest) *scene {
	o := *st.p.Options
	o.Vars = st.p.Options.Vars.Child()
	for _, v := range m.Variables {
		if v.Secret == "" {
			o.Vars.Set(v.Name, v.Value)
		}
	}
	p := *st.p
	p.Options = &o
	return newScene(&p, st.session.o.Secrets)
}

// checkPorts tells of hops that the snapshot has no rows for.
func (st *starting) checkPorts(g *Gate, src *Source) []Check {
	n := st.p.Graph.Node(g.Node)
	if n == nil || n.Settings == nil {
		return []Check{{ID: CheckPorts, Status: Block, What: fmt.Sprintf("the type of %q is not known here", g.Node)}}
	}
	sc := newScene(st.p, st.session.o.Secrets)
	used := map[transform.Port]string{}
	for _, h := range st.p.Graph.Hops {
		to := st.p.Graph.Node(h.To)
		if !strings.EqualFold(h.From, g.Node) || to == nil {
			continue
		}
		ports, _, _ := strings.Cut(sc.input(n, to), inputSeparator)
		for port := range strings.SplitSeq(ports, "+") {
			used[transform.Port(port)] = h.To
		}
	}
	var list []Check
	for port, to := range used {
		has := slices.ContainsFunc(src.parts, func(p pipeline.PartSpec) bool { return p.Port == port })
		if has || port == transform.Error {
			continue // without an error hop no row was ever rejected
		}
		list = append(list, Check{
			ID: CheckPorts, Status: Block, What: fmt.Sprintf("the hop to %q takes the port %q of %q, and the snapshot has no such rows", to, port, g.Node),
			Do: doAgain,
		})
	}
	slices.SortFunc(list, func(a, b Check) int { return strings.Compare(a.What, b.What) })
	return list
}

// runSet is everything downstream of the bound gates and its other inputs, up to
// gates of the same execution.
func (st *starting) runSet(ctx context.Context) (map[string]bool, error) {
	run := map[string]bool{}
	above := map[string]string{} // node above a chosen gate → that gate
	for key := range st.bound {
		run[key] = true
		for _, n := range Upstream(st.p.Graph, key) {
			if k := strings.ToLower(n.Name); k != key {
				above[k] = key
			}
		}
	}
	down := map[string]bool{}
	only, chosenOnly := st.session.o.RunOnly[st.p.Run.CallPath]
	for key := range only {
		if n := st.p.Graph.Node(key); n != nil && !n.Disabled && st.bound[key] == nil {
			down[key], run[key] = true, true
			if above[key] == "" {
				st.checkTime(ctx, n.Name)
			}
		}
	}
	for changed := !chosenOnly; changed; {
		changed = false
		for _, h := range st.p.Graph.Hops {
			from, to := strings.ToLower(h.From), strings.ToLower(h.To)
			if (down[from] || st.bound[from] != nil) && !down[to] && st.bound[to] == nil {
				down[to], run[to], changed = true, true, true
			}
		}
	}
	chosen := st.chosenRoot()
	var queue []string
	for k := range down {
		queue = append(queue, k)
	}
	slices.Sort(queue)
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		for _, h := range st.p.Graph.Hops {
			from := strings.ToLower(h.From)
			if strings.ToLower(h.To) != node || run[from] {
				continue
			}
			bound, err := st.bindBeside(ctx, h.From, chosen)
			if err != nil {
				return nil, err
			}
			run[from] = true
			if bound {
				continue
			}
			if gate, ok := above[from]; ok {
				st.add(st.p.Graph.Node(gate).Name, Check{
					ID: CheckOpenPath, Status: Block, What: fmt.Sprintf("%q is above the gate %q and also feeds %q past it", h.From, st.p.Graph.Node(gate).Name, h.To),
					Do: fmt.Sprintf("mark %q as a gate too, or %s", h.From, doAgain),
				})
				continue
			}
			st.checkTime(ctx, h.From)
			queue = append(queue, from)
		}
	}
	return run, nil
}

func (st *starting) chosenRoot() string {
	for _, src := range st.bound {
		return src.Manifest().Origin.RootExecutionID
	}
	return ""
}

// bindBeside binds another gate that the same execution has sealed.
func (st *starting) bindBeside(ctx context.Context, name, root string) (bool, error) {
	g := st.marks.Gate(name)
	if g == nil {
		return false, nil
	}
	c, err := g.Resolve(st.p.Options.Vars)
	if err != nil {
		return false, err
	}
	place, err := st.session.o.Places.Place(ctx, c.Location)
	if err != nil {
		return false, explain(g.Node, nil, err)
	}
	src, err := newest(ctx, place, g.ID, func(sn *snapshot.Snapshot) (*Source, error) {
		if sn.Manifest.Origin.RootExecutionID != root {
			return nil, errNext
		}
		return sourceOf(ctx, place, sn, st.p.Options.Alloc)
	})
	var own *storage.SnapshotError
	switch {
	case errors.Is(err, storage.ErrNotFound), errors.As(err, &own):
		return false, nil
	case err != nil:
		return false, explain(g.Node, place, err)
	}
	st.bound[strings.ToLower(g.Node)] = src
	return true, st.judge(ctx, g, c, src)
}

// constants are sources whose rows are in the file itself.
var constants = []string{"RowGenerator", "DataGrid", "GenerateCalendar", "Calendar"}

// checkTime tells that a source will be read now, beside rows of another time. The
// files that were there then, unchanged, have the time of the rows.
func (st *starting) checkTime(ctx context.Context, name string) {
	n := st.p.Graph.Node(name)
	if !isSource(st.p.Graph, name) {
		return
	}
	if slices.ContainsFunc(constants, func(id string) bool { return strings.EqualFold(id, n.Type) }) {
		return
	}
	sc := newScene(st.p, st.session.o.Secrets)
	for _, src := range st.bound {
		if sc.sameBeside(ctx, src.Manifest(), n) {
			return
		}
	}
	var then time.Time
	var gate string
	for key, src := range st.bound {
		if then.IsZero() || src.Manifest().Ended.Before(then) {
			then, gate = src.Manifest().Ended, st.p.Graph.Node(key).Name
		}
	}
	st.add(gate, Check{
		ID: CheckMixedTime, Status: Block, Overridable: true, What: fmt.Sprintf("%q would be read now, beside the rows of %q of an earlier time", n.Name, gate),
		Then: then.UTC().Format(time.RFC3339), Now: st.p.Options.Now().UTC().Format(time.RFC3339),
		Do: fmt.Sprintf("mark %q as a gate too, or %s", n.Name, doAgain),
	})
}

// place binds the snapshots and keeps them from being pruned meanwhile.
func (st *starting) place(ctx context.Context, run map[string]bool) error {
	s, o := st.session, st.p.Options
	for name, value := range st.restore {
		o.Vars.Set(name, value)
	}
	o.Run = run
	if o.Bound == nil {
		o.Bound = map[string]pipeline.Bound{}
	}
	for key, src := range st.bound {
		o.Bound[key] = src
		if err := s.hold(ctx, src, o.ID); err != nil {
			return explain(key, src.Place, err)
		}
		if f, err := ParseFingerprint(src.Record.Fingerprint); err == nil && f.Zone != "" {
			if l, err := time.LoadLocation(f.Zone); err == nil {
				o.Location = l
			}
		}
		s.mu.Lock()
		s.reused = append(s.reused, st.reused(key, src))
		s.mu.Unlock()
	}
	return nil
}

func (st *starting) reused(key string, src *Source) Reused {
	m := src.Manifest()
	return Reused{
		Node: st.p.Graph.Node(key).Name, CallPath: st.p.Run.CallPath, Gate: src.Ref.Gate, Snapshot: src.Ref.ID, Digest: m.Digest,
		Location: src.Place.Location.String(), Rows: m.RowCount, Bytes: m.Bytes, Sealed: m.Ended, execution: st.p.Options.ID, place: src.Place,
	}
}

// holdFor is how long a replay's pin lasts when nobody takes it back.
const holdFor = 24 * time.Hour

// hold pins a snapshot until the session is closed. Where the location is
// read-only the rows are still safe: a vanished segment fails the replay.
func (s *Session) hold(ctx context.Context, src *Source, execution string) error {
	err := src.Place.Store.Pin(ctx, src.Ref, execution, "replay", holdFor)
	if errors.Is(err, snapshot.ErrPruned) {
		return err
	}
	if err != nil {
		s.o.Log.Warn("Snapshot is not pinned while it is replayed", "snapshot", src.Ref.ID, "err", err)
		return nil
	}
	s.mu.Lock()
	s.held = append(s.held, held{src.Place, src.Ref, execution})
	s.mu.Unlock()
	return nil
}
