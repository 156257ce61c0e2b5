package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// segmentsInFlight is how many segments of one gate are hashed and stored at a
// time while the next is encoded.
const segmentsInFlight = 2

// spaceEvery is how many segments pass between two looks at the free space of a
// remote; a local disk is asked each time.
const spaceEvery = 16

// verdictTimeout bounds how long a failed spool tries to say so.
const verdictTimeout = 30 * time.Second

// spooling are what a Spool needs beside its gate's settings.
type spooling struct {
	kind        Kind
	node        string
	place       *Place
	origin      snapshot.Origin
	fingerprint json.RawMessage
	pin         *snapshot.CachePin
	alloc       *batch.Allocator
	folder      string // of temporary files
	log         *slog.Logger
	options     *pipeline.Options // its log, where there is one, is the execution's
	// most is how many rows of a part are kept; -1 keeps all.
	most int64
	// segment is the size at which a segment is closed; 0 is the usual one.
	segment int
	// sealing gives the variables and source marks, asked at the end.
	sealing func(ctx context.Context) snapshot.Sealing
	// told hears of the snapshot when it is begun and when it has its verdict.
	told func(context.Context, Outcome, *Place)
}

// Outcome is what became of a spool.
type Outcome struct {
	Node, Gate, Snapshot string
	Location             string // as a person writes it, secrets out
	Execution            string // that spooled
	CallPath             engine.CallPath
	State                storage.SnapshotState
	Rows, Bytes          int64
	Digest               string // of the manifest, when sealed
	Reason               string // when not
	Ended                time.Time
}

// Spool is a gate at work: it encodes, hashes and stores the rows of one
// transform and seals them. It implements pipeline.Cut.
type Spool struct {
	config Config
	spooling

	writer *snapshot.Writer
	parts  []*part
	specs  []pipeline.PartSpec
	keys   *uniqueKeys
	slots  chan struct{}
	puts   sync.WaitGroup

	mu      sync.Mutex // guards what follows
	err     error      // the first failure of a put
	rows    int64
	bytes   int64
	count   int      // segments
	buffers [][]byte // of segments that are stored
	sealed  *sealedRows
	outcome Outcome
}

var _ pipeline.Cut = (*Spool)(nil)

func newSpool(c Config, s spooling) *Spool {
	return &Spool{config: c, spooling: s, slots: make(chan struct{}, segmentsInFlight), outcome: Outcome{
		Node: s.node, Gate: c.ID, Location: s.place.Location.String(), State: storage.SnapshotOpen,
		Execution: s.origin.ExecutionID, CallPath: engine.CallPath(s.origin.CallPath),
	}}
}

// Streams implements pipeline.Cut.
func (s *Spool) Streams() bool { return s.config.Release == ReleaseStreaming }

// Survives implements pipeline.Cut.
func (s *Spool) Survives() bool { return !s.config.StopOnFailure }

// Parts implements pipeline.Rows.
func (s *Spool) Parts() []pipeline.PartSpec { return s.specs }

// recorded is what open.json keeps of a gate's settings.
type recorded struct {
	Kind     Kind              `json:"kind"`
	Settings map[string]string `json:"settings,omitempty"`
	Rows     *int64            `json:"keptRows,omitempty"` // of a part at most; nil: all
}

// Begin implements pipeline.Cut: space and schema are checked before anything is
// stored.
func (s *Spool) Begin(ctx context.Context, specs []pipeline.PartSpec) error {
	s.specs = specs
	for _, spec := range specs {
		if !governs(spec.Port) {
			continue
		}
		if err := s.config.Contract.CheckSchema(spec.Schema); err != nil {
			return err
		}
	}
	if err := s.checkSpace(ctx, 0); err != nil {
		return err
	}
	r := recorded{Kind: s.kind, Settings: s.config.Raw}
	if s.most >= 0 {
		r.Rows = &s.most
	}
	settings, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.writer, err = s.place.Store.Begin(ctx, snapshot.Begin{
		Gate: s.config.ID, Origin: s.origin, Fingerprint: s.fingerprint, Settings: settings, CachePin: s.pin,
	})
	if err != nil {
		return s.explain(err)
	}
	s.outcome.Snapshot = s.writer.Ref().ID
	s.tell(ctx)
	if len(s.config.Contract.Unique) > 0 {
		s.keys = newUniqueKeys(s.config.Contract.Unique, s.folder)
	}
	for i, spec := range specs {
		p := s.newPart(i, spec, len(specs))
		s.parts = append(s.parts, p)
		if governs(spec.Port) {
			p.watch = s.config.Contract.watch(spec.Schema, s.keys)
		}
		if _, err := s.writer.AddPart(string(spec.Port), spec.Copy, p.schema); err != nil {
			return errors.Join(err, s.Interrupt(ctx, err.Error()))
		}
	}
	return nil
}

// Add implements pipeline.Cut.
func (s *Spool) Add(ctx context.Context, part int, b *batch.Batch) error {
	if err := s.alive(); err != nil {
		return err
	}
	p := s.parts[part]
	if s.most >= 0 && p.rows+int64(b.Rows()) > s.most {
		b = b.Slice(0, int(s.most-p.rows))
		defer b.Release()
	}
	if b.Rows() == 0 {
		return nil
	}
	s.mu.Lock()
	s.rows += int64(b.Rows())
	total := s.rows
	s.mu.Unlock()
	if l := s.config.Limits.Rows; l > 0 && total > l {
		return fmt.Errorf("the gate's limit of %d rows is exceeded: raise %s, or extract less", l, KeyLimitRows)
	}
	return p.add(ctx, b)
}

// alive tells why nothing can be spooled any more.
func (s *Spool) alive() error {
	select {
	case <-s.writer.Fenced():
		return s.explain(snapshot.ErrFenced)
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// put stores a segment beside the caller, who gets memory for the next one. It
// waits while two are on their way.
func (s *Spool) put(ctx context.Context, n snapshot.NewSegment) ([]byte, error) {
	select {
	case s.slots <- struct{}{}:
	case <-s.writer.Fenced():
		return nil, s.explain(snapshot.ErrFenced)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := s.admit(ctx, n); err != nil {
		<-s.slots
		return nil, err
	}
	s.puts.Go(func() {
		defer func() { <-s.slots }()
		_, err := s.writer.PutSegment(ctx, n)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			if s.err == nil {
				s.err = s.explain(err)
			}
			return
		}
		s.buffers = append(s.buffers, n.Data[:0])
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := len(s.buffers); k > 0 {
		b := s.buffers[k-1]
		s.buffers = s.buffers[:k-1]
		return b, s.err
	}
	return nil, s.err
}

// admit checks the limits before a segment is stored.
func (s *Spool) admit(ctx context.Context, n snapshot.NewSegment) error {
	s.mu.Lock()
	s.bytes += int64(len(n.Data))
	s.count++
	total, count, err := s.bytes, s.count, s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if l := s.config.Limits.Bytes; l > 0 && total > l {
		return fmt.Errorf("the gate's limit of %d bytes is exceeded: raise %s, or extract less", l, KeyLimitBytes)
	}
	if s.place.Remote.Capabilities().Local || count%spaceEvery == 0 {
		return s.checkSpace(ctx, int64(len(n.Data)))
	}
	return nil
}

// checkSpace tells whether so many bytes leave enough free at the location.
// Where nobody knows, the put itself will tell.
func (s *Spool) checkSpace(ctx context.Context, need int64) error {
	if s.config.Limits.MinFree <= 0 {
		return nil
	}
	free := s.place.freeSpace(ctx)
	if free >= 0 && free-need < s.config.Limits.MinFree {
		return s.explain(fmt.Errorf("%d bytes are free at %s and %d must stay so (%s): %w", free, s.place.Location, s.config.Limits.MinFree, KeyMinFree, storage.ErrNoSpace))
	}
	return nil
}

// explain adds where and what to try.
func (s *Spool) explain(err error) error { return explain(s.node, s.place, err) }

// EndPart implements pipeline.Cut.
func (s *Spool) EndPart(ctx context.Context, part int) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.parts[part].end(ctx)
}

// Seal implements pipeline.Cut.
func (s *Spool) Seal(ctx context.Context, e pipeline.Effects) error {
	s.puts.Wait()
	if err := s.alive(); err != nil {
		return err
	}
	if err := s.keepContract(); err != nil {
		return err
	}
	for _, p := range s.parts {
		if err := s.writer.EndPart(p.id, p.rows, p.sum); err != nil {
			return err
		}
	}
	sealing := snapshot.Sealing{}
	if s.sealing != nil {
		sealing = s.sealing(ctx)
	}
	sealing.Effects = e.JSON()
	m, err := s.writer.Seal(ctx, sealing)
	if m == nil {
		return s.explain(err)
	}
	if err != nil {
		s.logger().Warn("The digest of a sealed snapshot is not in the execution store", "transform", s.node, "err", err)
	}
	s.mu.Lock()
	memory := &segmentMemory{free: s.buffers}
	s.outcome.State, s.outcome.Rows, s.outcome.Bytes = storage.SnapshotSealed, m.RowCount, m.Bytes
	s.outcome.Digest, s.outcome.Ended = m.Digest, m.Ended
	s.mu.Unlock()
	s.close()
	s.tell(ctx)
	s.logger().Info("Gate sealed", "transform", s.node, "snapshot", s.writer.Ref().ID, "rows", m.RowCount, "bytes", m.Bytes)
	if s.Streams() {
		return nil
	}
	sn, err := s.place.Store.Load(ctx, s.writer.Ref())
	if err != nil {
		return s.explain(err)
	}
	s.sealed = &sealedRows{snapshot: sn, parts: s.specs, alloc: s.alloc, memory: memory}
	return nil
}

func (s *Spool) keepContract() error {
	var rows int64
	for _, p := range s.parts {
		if governs(p.spec.Port) {
			rows += p.rows
		}
	}
	if err := s.config.Contract.CheckRows(rows); err != nil {
		return err
	}
	if s.keys != nil {
		return s.keys.check()
	}
	return nil
}

// Read implements pipeline.Rows, once sealed.
func (s *Spool) Read(ctx context.Context, part int) iter.Seq2[*batch.Batch, error] {
	return s.sealed.Read(ctx, part)
}

// Interrupt implements pipeline.Cut.
func (s *Spool) Interrupt(ctx context.Context, reason string) error {
	if s.writer == nil {
		return nil
	}
	s.mu.Lock()
	if s.err == nil {
		s.err = errors.New(reason)
	}
	sealed := s.outcome.State == storage.SnapshotSealed
	if !sealed {
		s.outcome.State, s.outcome.Reason = storage.SnapshotInterrupted, reason
	}
	s.mu.Unlock()
	s.puts.Wait()
	s.close()
	if sealed {
		return nil
	}
	// A server that is gone must not hold the execution up: an observer gives the
	// verdict then.
	ctx, cancel := context.WithTimeout(ctx, verdictTimeout)
	defer cancel()
	err := s.writer.Interrupt(ctx, reason)
	s.tell(ctx)
	return err
}

func (s *Spool) logger() *slog.Logger {
	if s.options != nil && s.options.Log != nil {
		return s.options.Log
	}
	return s.log
}

func (s *Spool) tell(ctx context.Context) {
	if s.told != nil && (s.kind == KindGate || s.kind == KindAction) {
		s.told(ctx, s.Outcome(), s.place)
	}
}

// close gives back what the parts hold; it is idempotent.
func (s *Spool) close() {
	for _, p := range s.parts {
		p.finishDigest()
		p.writer, p.next = nil, nil
	}
	if s.keys != nil {
		s.keys.close()
	}
	s.mu.Lock()
	s.buffers = nil
	s.mu.Unlock()
}

// Outcome tells what became of it; while it is open, how far it is.
func (s *Spool) Outcome() Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.outcome
	if o.State == storage.SnapshotOpen {
		o.Rows, o.Bytes = s.rows, s.bytes
	}
	return o
}

// effectsOf reads the effects of a manifest back.
func effectsOf(m *snapshot.Manifest) (pipeline.Effects, error) {
	var e pipeline.Effects
	if len(m.Effects) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(m.Effects, &e); err != nil {
		return e, fmt.Errorf("effects of snapshot %s: %w", m.SnapshotID, err)
	}
	return e, nil
}
