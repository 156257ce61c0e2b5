package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"sluice/storage"
)

// Policy says what retention may remove. A limit of 0 is no limit.
type Policy struct {
	// Executions keeps the sealed snapshots of so many root executions per
	// gate, newest first.
	Executions int
	// MaxAge removes sealed snapshots that are older.
	MaxAge time.Duration
	// MaxBytes removes the oldest sealed snapshots of a gate beyond this size.
	MaxBytes int64
	// InterruptedAge is how long interrupted snapshots stay for diagnosis.
	InterruptedAge time.Duration
	// PrunedAge is how long the record of a pruned snapshot stays.
	PrunedAge time.Duration
	// Orphans also admits snapshots of executions of which no record was
	// found. Without it they stay, since nobody knows who needs them.
	Orphans bool
	// Damaged also admits snapshots whose state is DAMAGED, under the rules of
	// interrupted ones.
	Damaged bool
}

// DefaultPolicy keeps 5 executions per gate and 14 days, interrupted ones 7
// days, records of pruned ones 90 days.
var DefaultPolicy = Policy{
	Executions: 5, MaxAge: 14 * 24 * time.Hour, InterruptedAge: 7 * 24 * time.Hour, PrunedAge: 90 * 24 * time.Hour,
}

// ExecutionFacts is what retention must know about a root execution, from the
// records at the location and the execution store.
type ExecutionFacts struct {
	Known    bool // false when there is certainly no record of it
	Ended    bool
	Failed   bool
	Replayed bool // a replay of it has succeeded
	// Err is set when nobody can tell; its snapshots stay.
	Err error
}

// ActionKind is what a plan does to a snapshot.
type ActionKind string

const (
	// Prune removes the rows and leaves open.json and a PRUNED tombstone.
	Prune ActionKind = "prune"
	// Forget removes everything.
	Forget ActionKind = "forget"
)

// Action is one step of a plan.
type Action struct {
	Ref    storage.SnapshotRef
	Kind   ActionKind
	State  storage.SnapshotState // when it was planned
	Bytes  int64                 // that it frees
	Reason string
}

// Keep is a snapshot that a plan leaves alone, and why.
type Keep struct {
	Ref    storage.SnapshotRef
	Bytes  int64
	Reason string
}

// Plan is what a prune would do. It is data: print it for a dry run, or give
// it to Store.Execute.
type Plan struct {
	Actions []Action
	Kept    []Keep
}

// Bytes is what the plan frees.
func (p Plan) Bytes() int64 {
	var n int64
	for _, a := range p.Actions {
		n += a.Bytes
	}
	return n
}

// PlanRetention decides over a list of Store.List. It does no I/O. facts is
// asked once per root execution id. What is pinned, still open, damaged, not
// ours, of an execution that has not ended, or of a failed one that was not
// replayed, stays in any case.
func PlanRetention(list []Summary, policy Policy, facts func(rootExecutionID string) ExecutionFacts, now time.Time) Plan {
	p := planner{policy: policy, facts: map[string]ExecutionFacts{}, ask: facts, now: now}
	byGate := map[string][]Summary{}
	for _, s := range list {
		byGate[s.Ref.Gate] = append(byGate[s.Ref.Gate], s)
	}
	gates := make([]string, 0, len(byGate))
	for gate := range byGate {
		gates = append(gates, gate)
	}
	slices.Sort(gates)
	for _, gate := range gates {
		p.gate(byGate[gate])
	}
	return p.plan
}

type planner struct {
	policy Policy
	ask    func(string) ExecutionFacts
	facts  map[string]ExecutionFacts
	now    time.Time
	plan   Plan
}

// gate plans the snapshots of one gate.
func (p *planner) gate(list []Summary) {
	slices.SortFunc(list, func(a, b Summary) int { return cmp.Compare(b.Ref.ID, a.Ref.ID) })
	executions := map[string]bool{}
	var bytes int64
	for _, s := range list {
		limit := ""
		if s.State == storage.SnapshotSealed {
			executions[s.Origin.RootExecutionID] = true
			bytes += s.Stored
			limit = p.overLimit(s, len(executions), bytes)
		}
		if why := p.protected(s); why != "" {
			p.plan.Kept = append(p.plan.Kept, Keep{s.Ref, s.Stored, why})
			continue
		}
		p.decide(s, limit)
	}
}

func (p *planner) overLimit(s Summary, executions int, bytes int64) string {
	switch {
	case p.policy.Executions > 0 && executions > p.policy.Executions:
		return fmt.Sprintf("older than the last %d executions", p.policy.Executions)
	case p.older(s.Begun, p.policy.MaxAge):
		return fmt.Sprintf("older than %s", days(p.policy.MaxAge))
	case p.policy.MaxBytes > 0 && bytes > p.policy.MaxBytes:
		return fmt.Sprintf("beyond %d bytes of this gate", p.policy.MaxBytes)
	}
	return ""
}

func (p *planner) older(t time.Time, limit time.Duration) bool {
	return limit > 0 && p.now.Sub(t) > limit
}

func days(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }

func (p *planner) decide(s Summary, limit string) {
	act := func(kind ActionKind, reason string) {
		p.plan.Actions = append(p.plan.Actions, Action{s.Ref, kind, s.State, s.Stored, reason})
	}
	switch {
	case s.Husk && p.older(s.Begun, p.policy.InterruptedAge):
		act(Forget, "never begun, older than "+days(p.policy.InterruptedAge))
	case s.State == storage.SnapshotSealed && limit != "":
		act(Prune, limit)
	case s.State == storage.SnapshotInterrupted && p.older(s.Begun, p.policy.InterruptedAge):
		act(Forget, "interrupted, older than "+days(p.policy.InterruptedAge))
	case s.State == storage.SnapshotDamaged && p.older(s.Begun, p.policy.InterruptedAge):
		act(Forget, "damaged, older than "+days(p.policy.InterruptedAge))
	case s.State == storage.SnapshotPruned && p.older(s.Ended, p.policy.PrunedAge):
		act(Forget, "pruned, older than "+days(p.policy.PrunedAge))
	case s.State == storage.SnapshotPruned && s.leftovers:
		act(Prune, "a prune did not finish")
	default:
		p.plan.Kept = append(p.plan.Kept, Keep{s.Ref, s.Stored, "within the limits"})
	}
}

// protected tells why a snapshot must stay, "" when it need not.
func (p *planner) protected(s Summary) string {
	switch {
	case s.Husk:
		return ""
	case !s.Ours:
		return "its open.json is missing or cannot be read"
	case s.State == storage.SnapshotOpen:
		return "still being written, or its writer has no verdict yet"
	case s.State == storage.SnapshotDamaged && !p.policy.Damaged, s.State == "":
		return fmt.Sprintf("its state is unclear: %v", s.Why)
	case s.Pinned(p.now) && s.State != storage.SnapshotPruned:
		return "pinned"
	case s.State == storage.SnapshotPruned:
		return ""
	}
	f := p.factsOf(s.Origin.RootExecutionID)
	switch {
	case f.Err != nil:
		return fmt.Sprintf("its execution cannot be looked up: %v", f.Err)
	case !f.Known && !p.policy.Orphans:
		return "no record of its execution was found"
	case f.Known && !f.Ended:
		return "its execution has not ended"
	case f.Known && f.Failed && !f.Replayed && s.State == storage.SnapshotSealed:
		return "its execution failed and was not replayed"
	}
	return ""
}

func (p *planner) factsOf(execution string) ExecutionFacts {
	f, ok := p.facts[execution]
	if !ok {
		f = p.ask(execution)
		p.facts[execution] = f
	}
	return f
}

// Outcome is what happened to one action.
type Outcome struct {
	Action
	Err error // nil when done; ErrPinned when a pin came in between
}

// Execute carries out a plan, one snapshot after the other. Each is looked at
// again first: one that was pinned meanwhile, or is no longer in the planned
// state, is left alone. It goes on after an error and returns them joined.
func (s *Store) Execute(ctx context.Context, p Plan) ([]Outcome, error) {
	var outcomes []Outcome
	var problems []error
	for _, a := range p.Actions {
		if err := context.Cause(ctx); err != nil {
			return outcomes, errors.Join(append(problems, err)...)
		}
		err := about(a.Ref, a.State, s.remove(ctx, a))
		outcomes = append(outcomes, Outcome{a, err})
		if err != nil {
			problems = append(problems, err)
		}
	}
	return outcomes, errors.Join(problems...)
}

// remove is the delete order of FORMAT.md: bury, look for pins, manifest,
// rows, then (Forget) tombstone and open.json last.
func (s *Store) remove(ctx context.Context, a Action) error {
	now := s.Inspect(ctx, a.Ref)
	switch {
	case a.Kind == Forget && now.Husk && a.State == now.State:
		return s.removeHusk(ctx, a.Ref)
	case !now.Ours:
		return fmt.Errorf("open.json is missing or cannot be read: %w", storage.ErrCorrupt)
	case now.State != a.State:
		return fmt.Errorf("was %s when planned and is %s now: plan again", a.State, now.State)
	case a.Kind == Prune && a.State != storage.SnapshotSealed && a.State != storage.SnapshotPruned, a.State == storage.SnapshotOpen:
		return fmt.Errorf("%s of an %s snapshot: %w", a.Kind, a.State, errors.ErrUnsupported)
	case now.State != storage.SnapshotPruned && now.Pinned(s.o.Now()):
		return ErrPinned
	}
	stone := Tombstone{Status: storage.SnapshotPruned, Reason: a.Reason, Rows: now.Rows, Bytes: now.Stored, Digest: now.Digest}
	if a.State == storage.SnapshotInterrupted || a.State == storage.SnapshotDamaged {
		stone = Tombstone{Status: storage.SnapshotInterrupted, Reason: a.Reason}
	}
	standing, mine, err := s.bury(ctx, a.Ref, stone)
	if err != nil {
		return err
	}
	if a.State == storage.SnapshotSealed && standing.Status != storage.SnapshotPruned {
		return fmt.Errorf("declared dead meanwhile: plan again: %w", storage.ErrExists)
	}
	if err := s.stillUnpinned(ctx, a, standing, mine); err != nil {
		return err
	}
	return s.erase(ctx, a)
}

// stillUnpinned looks for pins after the tombstone stands (Store.Pin does it
// the other way round), and withdraws the tombstone for one.
func (s *Store) stillUnpinned(ctx context.Context, a Action, stone *Tombstone, mine bool) error {
	if a.State == storage.SnapshotPruned {
		return nil
	}
	var again Summary
	again.Ref = a.Ref
	err := s.inspectFolder(ctx, &again)
	if err == nil && again.Pinned(s.o.Now()) {
		err = ErrPinned
	}
	if err != nil && mine {
		err = errors.Join(err, s.withdraw(ctx, a.Ref, stone))
	}
	return err
}

// erase deletes below a standing tombstone.
func (s *Store) erase(ctx context.Context, a Action) error {
	if err := s.remote.Delete(ctx, in(a.Ref, manifestName)); err != nil {
		return err
	}
	list, err := s.remote.List(ctx, folder(a.Ref))
	if err != nil {
		return err
	}
	for _, o := range list {
		file := path.Base(o.Name)
		if o.Dir || file == openName || file == tombstoneName || file == manifestName || !isErasable(file) {
			continue
		}
		if err := s.remote.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	if a.Kind == Prune {
		return nil
	}
	for _, file := range []string{tombstoneName, openName} {
		if err := s.remote.Delete(ctx, in(a.Ref, file)); err != nil {
			return err
		}
	}
	s.removeFolders(ctx, a.Ref)
	return nil
}

// removeHusk removes a folder that no writer has begun.
func (s *Store) removeHusk(ctx context.Context, ref storage.SnapshotRef) error {
	list, err := s.remote.List(ctx, folder(ref))
	if err != nil {
		return err
	}
	for _, o := range list {
		if o.Dir || !storage.IsTemporary(o.Name) {
			return fmt.Errorf("%s came meanwhile: plan again: %w", path.Base(o.Name), storage.ErrExists)
		}
		if err := s.remote.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	s.removeFolders(ctx, ref)
	return nil
}

// isErasable tells whether a file is one that this package or an operating
// system puts into a snapshot's folder. A stranger's file is not deleted.
func isErasable(file string) bool {
	if _, pin := pinID(file); pin {
		return true
	}
	return file == leaseName || segmentPattern().MatchString(file) || storage.IsTemporary(file) || isDropping(file)
}

// removeFolders tidies up empty folders where the remote has such a thing.
func (s *Store) removeFolders(ctx context.Context, ref storage.SnapshotRef) {
	remover, ok := s.remote.(storage.FolderRemover)
	if !ok || !s.remote.Capabilities().Folders {
		return
	}
	for _, dir := range []string{folder(ref), ref.Gate} {
		if err := remover.RemoveFolder(ctx, dir); err != nil {
			return // not empty
		}
	}
}

// String is the plan for people, one line for each snapshot.
func (p Plan) String() string {
	var b strings.Builder
	for _, a := range p.Actions {
		fmt.Fprintf(&b, "%-6s %s  %d bytes  %s\n", a.Kind, a.Ref, a.Bytes, a.Reason)
	}
	for _, k := range p.Kept {
		fmt.Fprintf(&b, "%-6s %s  %d bytes  %s\n", "keep", k.Ref, k.Bytes, k.Reason)
	}
	return b.String()
}
