package recorder

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/record"
)

// portable is the record at one location.
type portable struct {
	mu     sync.Mutex // one save at a time; guards what follows
	writer *record.Writer
	saved  time.Time
	later  *time.Timer
	dead   bool // it was given up
}

// saveEvery is how long the changes of actions wait for each other. The seal of a
// gate and the end wait for nothing.
const saveEvery = time.Second

// Told is gate.SessionOptions.Told: it links snapshots, and begins the portable
// record at their location before a row is extracted.
func (r *Recorder) Told(ctx context.Context, o gate.Outcome, place *gate.Place) {
	if !r.recorded(o.Execution) {
		return
	}
	r.failed("snapshot", r.o.Store.LinkSnapshot(ctx, storage.SnapshotLink{
		Execution: o.Execution, Ref: storage.SnapshotRef{Gate: o.Gate, ID: o.Snapshot}, Role: storage.SnapshotWritten,
		Location: o.Location, CallPath: string(o.CallPath), Node: o.Node,
	}))
	if o.State == storage.SnapshotSealed {
		r.failed("seal", r.o.Store.RecordSeal(ctx, storage.SnapshotRef{Gate: o.Gate, ID: o.Snapshot}, o.Digest))
	}
	r.ensurePortable(ctx, o.Location, place)
	r.touch(ctx, true)
}

// bound links the snapshots that an execution takes its rows from.
func (r *Recorder) bound(ctx context.Context, execution string) {
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session == nil {
		return
	}
	list := session.Reused()
	for i := range list {
		u := &list[i]
		if u.Gate == "" || u.Execution() != execution {
			continue
		}
		r.failed("snapshot", r.o.Store.LinkSnapshot(ctx, storage.SnapshotLink{
			Execution: u.Execution(), Ref: storage.SnapshotRef{Gate: u.Gate, ID: u.Snapshot}, Role: storage.SnapshotBound,
			Location: u.Location, CallPath: string(u.CallPath), Node: u.Node,
		}))
		if place := u.Place(); place != nil {
			r.ensurePortable(ctx, u.Location, place)
			r.touch(ctx, true)
		}
	}
}

// ensurePortable begins the record at a location that is used for the first time.
func (r *Recorder) ensurePortable(ctx context.Context, location string, place *gate.Place) {
	r.mu.Lock()
	p := r.portables[location]
	if p == nil {
		p = &portable{}
		r.portables[location] = p
	}
	root := r.root
	r.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writer != nil || p.dead {
		return
	}
	rec, err := record.Collect(ctx, r.o.Store, root)
	if err == nil {
		p.writer, err = record.Begin(ctx, place.Remote, r.o.Portable, rec)
	}
	if err != nil {
		p.dead = true
		r.failed("portable record at "+location, err)
	}
	p.saved = r.o.Now()
}

// touch saves the portable records: at once, or when they are old enough.
func (r *Recorder) touch(ctx context.Context, atOnce bool) {
	r.mu.Lock()
	root := r.root
	list := maps.Clone(r.portables)
	r.mu.Unlock()
	if len(list) == 0 {
		return
	}
	var rec *record.Record
	for location, p := range list {
		p.mu.Lock()
		if p.writer != nil && !p.dead && !atOnce && r.o.Now().Sub(p.saved) < saveEvery {
			if p.later == nil {
				p.later = time.AfterFunc(saveEvery, func() { r.touch(context.WithoutCancel(ctx), true) })
			}
			p.mu.Unlock()
			continue
		}
		if p.writer != nil && !p.dead {
			p.stopTimer()
			if rec == nil {
				c, err := record.Collect(ctx, r.o.Store, root)
				if err != nil {
					r.failed("portable record", err)
					p.mu.Unlock()
					return
				}
				rec = &c
			}
			err := p.writer.Save(ctx, *rec)
			p.saved = r.o.Now()
			if err != nil && !errors.Is(err, context.Canceled) {
				r.failed("portable record at "+location, err)
			}
		}
		p.mu.Unlock()
	}
}

func (p *portable) stopTimer() {
	if p.later != nil {
		p.later.Stop()
		p.later = nil
	}
}

func (r *Recorder) closePortables(ctx context.Context) {
	r.mu.Lock()
	list := r.portables
	r.portables = map[string]*portable{}
	rows := r.rows
	r.rows = encoded{}
	r.mu.Unlock()
	for _, b := range rows.batches {
		b.Release()
	}
	for location, p := range list {
		p.mu.Lock()
		p.stopTimer()
		if p.writer != nil {
			r.failed("portable record at "+location, p.writer.Close(ctx))
			p.writer = nil
		}
		p.mu.Unlock()
	}
}
