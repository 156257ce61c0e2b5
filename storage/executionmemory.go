package storage

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// MemoryExecutions is an ExecutionStore that forgets everything when the
// process ends: for previews, dry runs and tests. It is never declared dead,
// so Lost never closes. The zero value is ready for use.
type MemoryExecutions struct {
	// Redact takes secrets out of stored texts; set it before the first call.
	Redact Redactor
	// Now is the clock of stored times; nil is time.Now.
	Now func() time.Time

	mu          sync.Mutex
	closed      bool
	executions  map[string]*memoryExecution
	definitions map[string][]byte
	runs        map[string][]ActionRun // by root
	seals       map[SnapshotRef]string
	log         []LogEntry
	seq         int64
	leases      map[string]*memoryLease
}

type memoryExecution struct {
	Execution
	lease     HeldLease
	metrics   []TransformMetrics
	snapshots []SnapshotLink
}

type memoryLease struct {
	epoch     int64
	held      bool
	execution string
	since     time.Time
}

var _ ExecutionStore = (*MemoryExecutions)(nil)

func (m *MemoryExecutions) now() time.Time {
	now := time.Now
	if m.Now != nil {
		now = m.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// enter locks the store for one call.
func (m *MemoryExecutions) enter(ctx context.Context) (leave func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, ErrClosed
	}
	if m.executions == nil {
		m.executions, m.definitions, m.runs = map[string]*memoryExecution{}, map[string][]byte{}, map[string][]ActionRun{}
		m.seals, m.leases = map[SnapshotRef]string{}, map[string]*memoryLease{}
	}
	return m.mu.Unlock, nil
}

func (m *MemoryExecutions) find(id string) (*memoryExecution, error) {
	e := m.executions[id]
	if e == nil {
		return nil, fmt.Errorf("execution %s: %w", id, ErrNotFound)
	}
	return e, nil
}

// writable finds an execution that has not ended and whose lease is held.
func (m *MemoryExecutions) writable(id string) (*memoryExecution, error) {
	e, err := m.find(id)
	if err != nil {
		return nil, err
	}
	if err := m.holds(e.lease); err != nil {
		return nil, err
	}
	if e.State.Ended() {
		return nil, fmt.Errorf("execution %s is %s: %w", id, e.State, ErrEnded)
	}
	return e, nil
}

func (m *MemoryExecutions) holds(l HeldLease) error {
	if l.Name == "" {
		return nil
	}
	if have := m.leases[l.Name]; have == nil || !have.held || have.epoch != l.Epoch {
		return fmt.Errorf("lease %s, epoch %d: %w", l.Name, l.Epoch, ErrLeaseLost)
	}
	return nil
}

// Create adds an execution.
func (m *MemoryExecutions) Create(ctx context.Context, n NewExecution) (Execution, error) {
	now := m.now()
	if n.ID == "" {
		id, err := NewExecutionID(now, rand.Reader)
		if err != nil {
			return Execution{}, err
		}
		n.ID = id
	}
	n, err := n.Clean(m.Redact)
	if err != nil {
		return Execution{}, err
	}
	leave, err := m.enter(ctx)
	if err != nil {
		return Execution{}, err
	}
	defer leave()
	if m.executions[n.ID] != nil {
		return Execution{}, fmt.Errorf("create execution %s: %w", n.ID, ErrExists)
	}
	e := &memoryExecution{Execution: n.Execution}
	if n.Lease != nil {
		e.lease = *n.Lease
	}
	if err := m.place(e); err != nil {
		return Execution{}, fmt.Errorf("create execution %s: %w", n.ID, err)
	}
	e.Ended, e.Definition = time.Time{}, ""
	if e.State == StateQueued {
		e.Started = time.Time{}
	} else if e.Started.IsZero() {
		e.Started = now
	}
	if e.Host == "" {
		e.PID = os.Getpid()
		e.Host, _ = os.Hostname()
	}
	if n.Content != nil {
		sum := sha256.Sum256(n.Content)
		e.Definition = hex.EncodeToString(sum[:])
		m.definitions[e.Definition] = n.Content
	}
	m.executions[n.ID] = e
	return e.Execution, nil
}

// place finds root, origin and lease, as execdb does.
func (m *MemoryExecutions) place(e *memoryExecution) error {
	given := e.Origin
	e.Root, e.Origin = e.ID, e.ID
	if e.ReplayOf != "" {
		of, err := m.find(e.ReplayOf)
		switch {
		case errors.Is(err, ErrNotFound) && given != "":
			e.Origin = given // it ran on another machine
		case err != nil:
			return fmt.Errorf("replay: %w", err)
		default:
			e.Origin = of.Origin
		}
	}
	if e.Parent != "" {
		parent, err := m.find(e.Parent)
		if err != nil {
			return fmt.Errorf("parent: %w", err)
		}
		e.Root, e.Origin = parent.Root, parent.Origin
		if e.lease.Name == "" {
			e.lease = parent.lease
		}
	}
	return m.holds(e.lease)
}

// Transition moves an execution by compare and set.
func (m *MemoryExecutions) Transition(ctx context.Context, id string, c Change) (ExecutionHead, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return ExecutionHead{}, err
	}
	defer leave()
	e, err := m.find(id)
	if err == nil {
		err = CheckTransition(id, e.State, c)
	}
	if err == nil {
		err = m.holds(e.lease)
	}
	if err != nil {
		return ExecutionHead{}, fmt.Errorf("make execution %s %s: %w", id, c.To, err)
	}
	at := c.At.UTC().Truncate(time.Millisecond)
	if c.At.IsZero() {
		at = m.now()
	}
	e.State = c.To
	if c.To == StateRunning {
		e.Started = at
	}
	if c.To.Ended() {
		e.Ended = at
		if at.Before(e.Started) {
			e.Ended = e.Started
		}
	}
	if c.Message != "" {
		e.Message = m.Redact.Text(c.Message)
	}
	return e.ExecutionHead, nil
}

// SaveActionRun adds or replaces one run of an action.
func (m *MemoryExecutions) SaveActionRun(ctx context.Context, a ActionRun) error {
	a, err := a.Clean(m.Redact)
	if err != nil {
		return err
	}
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e, err := m.writable(a.Execution)
	if err == nil && e.Root != a.Root {
		err = fmt.Errorf("the root of execution %s is %s: %w", a.Execution, e.Root, ErrBadName)
	}
	if err != nil {
		return fmt.Errorf("action run %s: %w", a.ActionKey, err)
	}
	list := m.runs[a.Root]
	at := slices.IndexFunc(list, func(o ActionRun) bool { return o.ActionKey == a.ActionKey })
	switch {
	case at < 0:
		m.runs[a.Root] = append(list, a)
	case list[at].State.Ended():
		return fmt.Errorf("action run %s: %w", a.ActionKey, ErrEnded)
	default:
		list[at] = a
	}
	return nil
}

// SaveMetrics replaces the counters of transforms.
func (m *MemoryExecutions) SaveMetrics(ctx context.Context, execution string, list []TransformMetrics) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e, err := m.writable(execution)
	if err != nil {
		return err
	}
	for _, t := range list {
		t = t.Clean(m.Redact)
		at := slices.IndexFunc(e.metrics, func(o TransformMetrics) bool { return o.Transform == t.Transform && o.Copy == t.Copy })
		if at < 0 {
			e.metrics = append(e.metrics, t)
		} else {
			e.metrics[at] = t
		}
	}
	return nil
}

// LinkSnapshot joins an execution to a snapshot.
func (m *MemoryExecutions) LinkSnapshot(ctx context.Context, l SnapshotLink) error {
	l, err := l.Clean(m.Redact)
	if err != nil {
		return err
	}
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e, err := m.writable(l.Execution)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(e.snapshots, func(o SnapshotLink) bool { return o.Ref == l.Ref && o.Role == l.Role })
	if at < 0 {
		e.snapshots = append(e.snapshots, l)
	} else {
		e.snapshots[at] = l
	}
	return nil
}

// RecordSeal keeps the digest of a sealed snapshot.
func (m *MemoryExecutions) RecordSeal(ctx context.Context, ref SnapshotRef, digest string) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if digest == "" {
		return fmt.Errorf("seal of %s without a digest: %w", ref, ErrBadName)
	}
	if kept := m.seals[ref]; kept != "" && kept != digest {
		return fmt.Errorf("seal of %s: the digest %s was recorded before: %w", ref, kept, ErrExists)
	}
	m.seals[ref] = digest
	return nil
}

// SealedDigest gives the digest that was recorded for a snapshot.
func (m *MemoryExecutions) SealedDigest(ctx context.Context, ref SnapshotRef) (string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return m.seals[ref], nil
}

// Log adds entries.
func (m *MemoryExecutions) Log(ctx context.Context, entries ...LogEntry) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	clean := make([]LogEntry, len(entries))
	for i, e := range entries {
		if clean[i], err = e.Clean(m.Redact, m.now()); err != nil {
			return err
		}
	}
	for _, e := range clean {
		m.seq++
		e.Seq = m.seq
		m.log = append(m.log, e)
	}
	return nil
}

// Logs gives one page of a log.
func (m *MemoryExecutions) Logs(ctx context.Context, q LogQuery) (LogPage, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return LogPage{}, err
	}
	defer leave()
	page := LogPage{Next: q.After}
	start, _ := slices.BinarySearchFunc(m.log, q.After+1, func(e LogEntry, seq int64) int { return cmp.Compare(e.Seq, seq) })
	for i := range m.log[start:] {
		e := &m.log[start+i]
		if !q.Matches(e) {
			continue
		}
		if len(page.Entries) == PageSize(q.Limit) {
			page.More = true
			break
		}
		page.Entries, page.Next = append(page.Entries, *e), e.Seq
	}
	return page, nil
}

// Execution gives all that is kept of one execution itself.
func (m *MemoryExecutions) Execution(ctx context.Context, id string) (Execution, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return Execution{}, err
	}
	defer leave()
	e, err := m.find(id)
	if err != nil {
		return Execution{}, err
	}
	return e.Execution, nil
}

// Definition gives a definition as run, redacted.
func (m *MemoryExecutions) Definition(ctx context.Context, hash string) ([]byte, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	content, ok := m.definitions[hash]
	if !ok {
		return nil, fmt.Errorf("definition %s: %w", hash, ErrNotFound)
	}
	return slices.Clone(content), nil
}

// ResolveID completes a shortened id.
func (m *MemoryExecutions) ResolveID(ctx context.Context, prefix string) (string, error) {
	normal, err := NormalizeIDPrefix(prefix)
	if err != nil {
		return "", err
	}
	page, err := m.Executions(ctx, ExecutionQuery{IDPrefix: normal, Limit: 5})
	if err != nil {
		return "", err
	}
	ids := make([]string, len(page.Executions))
	for i, h := range page.Executions {
		ids[i] = h.ID
	}
	return OnlyID(prefix, ids)
}

// Executions gives one page of a list, newest first.
func (m *MemoryExecutions) Executions(ctx context.Context, q ExecutionQuery) (ExecutionPage, error) {
	if q.IDPrefix != "" {
		var err error
		if q.IDPrefix, err = NormalizeIDPrefix(q.IDPrefix); err != nil {
			return ExecutionPage{}, err
		}
	}
	list, err := m.heads(ctx, func(h *ExecutionHead) bool { return (q.After == "" || h.ID < q.After) && q.Matches(h) })
	if err != nil {
		return ExecutionPage{}, err
	}
	slices.Reverse(list)
	page := ExecutionPage{Executions: list}
	if limit := PageSize(q.Limit); len(list) > limit {
		page.Executions, page.Next = list[:limit], list[limit-1].ID
	}
	return page, nil
}

// heads gives what matches, oldest first.
func (m *MemoryExecutions) heads(ctx context.Context, matches func(h *ExecutionHead) bool) ([]ExecutionHead, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var list []ExecutionHead
	for _, id := range slices.Sorted(maps.Keys(m.executions)) {
		if h := m.executions[id].ExecutionHead; matches(&h) {
			list = append(list, h)
		}
	}
	return list, nil
}

// Tree gives the call tree that id belongs to.
func (m *MemoryExecutions) Tree(ctx context.Context, id string) ([]ExecutionHead, error) {
	e, err := m.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	list, err := m.heads(ctx, func(h *ExecutionHead) bool { return h.Root == e.Root })
	slices.SortStableFunc(list, func(a, b ExecutionHead) int { return cmp.Compare(min(len(a.Parent), 1), min(len(b.Parent), 1)) })
	return list, err
}

// Lineage gives the chain of replays that id belongs to.
func (m *MemoryExecutions) Lineage(ctx context.Context, id string) ([]ExecutionHead, error) {
	e, err := m.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	return m.heads(ctx, func(h *ExecutionHead) bool { return h.Origin == e.Origin && h.Parent == "" })
}

// ActionRuns gives the action runs of a root execution.
func (m *MemoryExecutions) ActionRuns(ctx context.Context, root string) ([]ActionRun, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	list := slices.Clone(m.runs[root])
	slices.SortStableFunc(list, func(a, b ActionRun) int { return cmp.Compare(a.Started.UnixMilli(), b.Started.UnixMilli()) })
	return list, nil
}

// Metrics gives the counters of an execution's transforms.
func (m *MemoryExecutions) Metrics(ctx context.Context, execution string) ([]TransformMetrics, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if e := m.executions[execution]; e != nil {
		return slices.Clone(e.metrics), nil
	}
	return nil, nil
}

// Snapshots gives the links of an execution, or of a root's whole tree.
func (m *MemoryExecutions) Snapshots(ctx context.Context, execution string) ([]SnapshotLink, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var list []SnapshotLink
	for id, e := range m.executions {
		if id == execution || e.Root == execution {
			list = append(list, e.snapshots...)
		}
	}
	for i := range list {
		list[i].Digest = m.seals[list[i].Ref]
	}
	slices.SortFunc(list, func(a, b SnapshotLink) int {
		return cmp.Or(strings.Compare(a.Execution, b.Execution), strings.Compare(a.Ref.ID, b.Ref.ID), cmp.Compare(a.Role, b.Role))
	})
	return list, nil
}

// Acquire takes a lease.
func (m *MemoryExecutions) Acquire(ctx context.Context, name, execution string) (HeldLease, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return HeldLease{}, err
	}
	defer leave()
	if name == "" {
		return HeldLease{}, fmt.Errorf("lease without a name: %w", ErrBadName)
	}
	l := m.leases[name]
	if l == nil {
		l = &memoryLease{}
		m.leases[name] = l
	}
	if l.held {
		held := &HeldError{Name: name, Execution: l.execution, PID: os.Getpid(), Since: l.since.Format(time.RFC3339)}
		held.Host, _ = os.Hostname()
		if e := m.executions[l.execution]; e != nil {
			held.Who = e.Who
		}
		return HeldLease{}, held
	}
	l.epoch++
	l.held, l.execution, l.since = true, execution, m.now()
	return HeldLease{Name: name, Epoch: l.epoch}, nil
}

// Release gives a lease back.
func (m *MemoryExecutions) Release(ctx context.Context, l HeldLease) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := m.holds(l); err != nil {
		return err
	}
	if have := m.leases[l.Name]; have != nil {
		have.held = false
	}
	return nil
}

// CheckLease is nil while the lease is held.
func (m *MemoryExecutions) CheckLease(ctx context.Context, l HeldLease) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return m.holds(l)
}

// Lost never closes.
func (m *MemoryExecutions) Lost() <-chan struct{} { return nil }

// PlanRetention decides which roots may go.
func (m *MemoryExecutions) PlanRetention(ctx context.Context, p RetentionPolicy) (RetentionPlan, error) {
	live := map[string]bool{}
	roots, err := m.heads(ctx, func(h *ExecutionHead) bool {
		if !h.State.Ended() {
			live[h.Root] = true
		}
		return h.Parent == ""
	})
	if err != nil {
		return RetentionPlan{}, err
	}
	return PlanRemoval(roots, live, p, m.now())
}

// Remove does what the plan says.
func (m *MemoryExecutions) Remove(ctx context.Context, plan RetentionPlan) (Removed, error) {
	var done Removed
	for _, item := range plan.Remove {
		why, err := plan.Needs(item.ExecutionHead)
		if err != nil {
			return done, fmt.Errorf("remove execution %s: %w", item.ID, err)
		}
		leave, err := m.enter(ctx)
		if err != nil {
			return done, err
		}
		if why == "" {
			why = m.erase(item.ID, &done)
		}
		leave()
		if why != "" {
			done.Kept = append(done.Kept, RetentionItem{item.ExecutionHead, why})
		}
	}
	return done, nil
}

func (m *MemoryExecutions) erase(root string, done *Removed) (why string) {
	for _, e := range m.executions {
		switch {
		case e.Root == root && !e.State.Ended():
			return "has not ended"
		case e.ReplayOf == root:
			return "has been replayed since"
		}
	}
	used := map[string]bool{}
	for id, e := range m.executions {
		if e.Root == root {
			delete(m.executions, id)
			done.Executions++
		} else {
			used[e.Definition] = true
		}
	}
	maps.DeleteFunc(m.definitions, func(hash string, _ []byte) bool { return !used[hash] })
	delete(m.runs, root)
	before := len(m.log)
	m.log = slices.DeleteFunc(m.log, func(e LogEntry) bool { return e.Root == root })
	done.LogEntries += int64(before - len(m.log))
	return ""
}

// Close makes every later call fail.
func (m *MemoryExecutions) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
