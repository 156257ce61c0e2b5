package presenter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"sluice/app/workspace"
	"sluice/engine/batch"
	"sluice/engine/gate"
	"sluice/engine/transform"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// MaxSnapshotRows bounds the rows of a snapshot that are shown; an export has all.
const MaxSnapshotRows = 1_000_000

// SnapshotRows are rows of one part of a snapshot while they are shown. They stay
// as columns, and become text where they are looked at. Its methods are safe for
// many goroutines; Close releases the rows.
type SnapshotRows struct {
	Title string
	Total int64 // rows of the part
	of    *SnapshotSource
	part  int

	mu      sync.Mutex // guards what follows
	fields  []Field
	codecs  []*batch.Codec
	batches []*batch.Batch
	ends    []int // rows up to the end of each batch
	done    bool
	closed  bool
	err     error
}

// SnapshotSource is an opened snapshot whose rows are shown, compared and exported.
// Close ends its connections.
type SnapshotSource struct {
	src   *gate.Source
	ws    *workspace.Workspace
	view  GateView
	Parts []string // "port:copy"
	First int      // the part to show first
}

// Several tells whether more than one part has rows.
func (s *SnapshotSource) Several() bool {
	n := 0
	for _, p := range s.src.Manifest().Parts {
		if p.Rows > 0 {
			n++
		}
	}
	return n > 1
}

// firstPart is the main output's first part with rows, else the first one with rows,
// else the main output's.
func firstPart(src *gate.Source) int {
	best, score := 0, -1
	for i, p := range src.Parts() {
		n := 0
		if src.Manifest().Parts[i].Rows > 0 {
			n += 2
		}
		if p.Port == transform.Main {
			n++
		}
		if n > score {
			best, score = i, n
		}
	}
	return best
}

// OpenSnapshot opens the snapshot of a gate or cache. It reads its location.
func OpenSnapshot(ctx context.Context, ws *workspace.Workspace, v GateView) (*SnapshotSource, error) {
	place, err := placeOf(ctx, ws, v)
	if err == nil {
		var src *gate.Source
		if src, err = gate.OpenSource(ctx, place, storage.SnapshotRef{Gate: v.ID, ID: v.Snapshot}, ws.Runner.Alloc); err == nil {
			return &SnapshotSource{src: src, ws: ws, view: v, Parts: src.PartNames(), First: firstPart(src)}, nil
		}
	}
	return nil, errors.Join(err, ws.Places.Close(context.WithoutCancel(ctx)))
}

// placeOf opens the place of a gate's snapshots.
func placeOf(ctx context.Context, ws *workspace.Workspace, v GateView) (*gate.Place, error) {
	if v.Cache {
		return ws.Places.Local(gate.KindCache)
	}
	return ws.Places.Place(ctx, v.Location)
}

// Close ends the connections.
func (s *SnapshotSource) Close() error { return s.ws.Places.Close(context.Background()) }

// Rows gives the rows of a part; nothing is read before Load.
func (s *SnapshotSource) Rows(part int) *SnapshotRows {
	m := s.src.Manifest().Parts[part]
	title := "Snapshot of " + s.view.Node
	if s.Several() {
		title += ", " + s.Parts[part]
	}
	schema := s.src.Parts()[part].Schema
	r := &SnapshotRows{Title: title, Total: m.Rows, of: s, part: part, fields: fieldsOf(schema)}
	r.codecs, r.err = batch.DefaultSemantics(nil).Codecs(schema)
	return r
}

// Load reads the rows, up to MaxSnapshotRows, each segment verified before its rows
// are shown.
func (r *SnapshotRows) Load(ctx context.Context) {
	for b, err := range r.of.src.Read(ctx, r.part) {
		if err != nil {
			r.end(err)
			return
		}
		if !r.add(b) {
			break
		}
	}
	r.end(nil)
}

// ExportCSV implements RowSource: the snapshot is read, not what is shown.
func (r *SnapshotRows) ExportCSV(ctx context.Context, path string) (rows int64, err error) {
	err = streamWhole(path, func(w io.Writer) (err error) {
		rows, err = r.of.src.ExportCSV(ctx, r.part, w)
		return err
	})
	return rows, err
}

// add takes over a batch; false when no more are wanted.
func (r *SnapshotRows) add(b *batch.Batch) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	have := 0
	if n := len(r.ends); n > 0 {
		have = r.ends[n-1]
	}
	if r.closed || r.err != nil {
		b.Release()
		return false
	}
	r.batches, r.ends = append(r.batches, b), append(r.ends, min(have+b.Rows(), MaxSnapshotRows))
	return have+b.Rows() < MaxSnapshotRows
}

func (r *SnapshotRows) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	if r.err == nil {
		r.err = err
	}
}

// Close releases the rows; there are none any more.
func (r *SnapshotRows) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.batches {
		b.Release()
	}
	r.batches, r.ends, r.closed = nil, nil, true
}

// Fields are the fields of the rows.
func (r *SnapshotRows) Fields() []Field { return r.fields }

// Len is how many rows can be shown now.
func (r *SnapshotRows) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ends) == 0 {
		return 0
	}
	return r.ends[len(r.ends)-1]
}

// Row gives a row as text; nil when there is none.
func (r *SnapshotRows) Row(i int) []Cell {
	r.mu.Lock()
	defer r.mu.Unlock()
	lo, hi := 0, len(r.ends)
	for lo < hi {
		if mid := (lo + hi) / 2; r.ends[mid] <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(r.ends) || i < 0 {
		return nil
	}
	if lo > 0 {
		i -= r.ends[lo-1]
	}
	b := r.batches[lo]
	row, err := cells(b, b.Row(i), r.codecs)
	if err != nil && r.err == nil {
		r.err = err
	}
	return row
}

// Caption tells how far the rows are loaded.
func (r *SnapshotRows) Caption() string {
	n := int64(r.Len())
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.Title + ": " + Plural(n, "row")
	switch {
	case r.err != nil:
		message, _ := Explain(r.err)
		text += ": " + message
	case !r.done:
		text += " of " + Grouped(r.Total) + " loaded"
	case n < r.Total:
		text = fmt.Sprintf("%s: the first %s of %s; an export has all", r.Title, Plural(n, "row"), Grouped(r.Total))
	}
	return text
}

// SnapshotComparison is how the two newest snapshots of a gate differ.
type SnapshotComparison struct {
	*gate.Comparison
	Older, Newer snapshot.Summary
	Fields       []string // of the rows that differ
}

// mostDifferences bounds the rows that a comparison shows.
const mostDifferences = 200

// ErrOneSnapshot is told when there is nothing to compare with.
var ErrOneSnapshot = errors.New("this gate has one sealed snapshot only: run again to have another to compare with")

// CompareSnapshots compares the newest sealed snapshot of a gate with the one before.
func CompareSnapshots(ctx context.Context, ws *workspace.Workspace, v GateView) (_ *SnapshotComparison, err error) {
	defer func() { err = errors.Join(err, ws.Places.Close(context.WithoutCancel(ctx))) }()
	place, err := placeOf(ctx, ws, v)
	if err != nil {
		return nil, err
	}
	list, err := place.Store.List(ctx, v.ID)
	if err != nil {
		return nil, err
	}
	var sealed []snapshot.Summary // newest first
	for _, s := range list {
		if s.State == storage.SnapshotSealed {
			sealed = append(sealed, s)
		}
	}
	if len(sealed) < 2 {
		return nil, ErrOneSnapshot
	}
	c := &SnapshotComparison{Older: sealed[1], Newer: sealed[0]}
	var sources [2]*gate.Source
	for i, s := range []snapshot.Summary{c.Older, c.Newer} {
		if sources[i], err = gate.OpenSource(ctx, place, s.Ref, ws.Runner.Alloc); err != nil {
			return nil, err
		}
	}
	for _, f := range fieldsOf(sources[1].Parts()[firstPart(sources[1])].Schema) {
		c.Fields = append(c.Fields, f.Name)
	}
	c.Comparison, err = gate.Compare(ctx, sources[0], sources[1], mostDifferences)
	return c, err
}

// VerifySnapshot reads and hashes every segment of a snapshot. What does not match is
// an error.
func VerifySnapshot(ctx context.Context, ws *workspace.Workspace, v GateView) (_ *snapshot.Verification, err error) {
	defer func() { err = errors.Join(err, ws.Places.Close(context.WithoutCancel(ctx))) }()
	place, err := placeOf(ctx, ws, v)
	if err != nil {
		return nil, err
	}
	sn, err := place.Store.Load(ctx, storage.SnapshotRef{Gate: v.ID, ID: v.Snapshot})
	if err != nil {
		return nil, err
	}
	proof, err := sn.Verify(ctx, snapshot.Full, nil)
	if err == nil {
		err = proof.Err()
	}
	return proof, err
}

// ListSnapshots gives the snapshots of a gate, newest first.
func ListSnapshots(ctx context.Context, ws *workspace.Workspace, v GateView) (_ []snapshot.Summary, err error) {
	defer func() { err = errors.Join(err, ws.Places.Close(context.WithoutCancel(ctx))) }()
	place, err := placeOf(ctx, ws, v)
	if err != nil {
		return nil, err
	}
	return place.Store.List(ctx, v.ID)
}

// ClearCache removes what is cached of a node, and gives the bytes freed.
func ClearCache(ctx context.Context, ws *workspace.Workspace, v GateView) (_ int64, err error) {
	place, err := ws.Places.Local(gate.KindCache)
	if err != nil {
		return 0, err
	}
	return gate.ClearCache(ctx, place, v.ID)
}

// SnapshotWhy is why a snapshot cannot be used, without what its line says already.
func SnapshotWhy(s snapshot.Summary) string {
	if s.Why == nil {
		return ""
	}
	return GateView{gate.Standing{State: s.State, Snapshot: s.Ref.ID, Why: s.Why.Error()}}.Reason()
}
