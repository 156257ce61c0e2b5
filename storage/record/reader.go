package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
)

// Loaded is the newest state of one root execution that verifies.
type Loaded struct {
	Record // Runs have no rows and Definitions are empty; see Rows and Definition
	Writer string
	Seq    int64
	Digest string
	Signed bool
	// Damaged are heads that were passed over, and why.
	Damaged []error

	remote storage.Remote
	blobs  map[storage.ActionKey]string
}

// Origins lists the chains of replays that have a record at a location, oldest
// first.
func Origins(ctx context.Context, remote storage.Remote) ([]string, error) {
	list, err := remote.List(ctx, rootFolder)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	var origins []string
	for _, o := range list {
		if id := path.Base(o.Name); o.Dir && storage.CheckExecutionID(id) == nil {
			origins = append(origins, id)
		}
	}
	return origins, nil
}

// Load gives the records of a chain of replays, the original first, each in
// its newest valid state. ErrNotFound when there is none. Where heads exist
// for an execution and none of them is valid, the error tells why.
func Load(ctx context.Context, remote storage.Remote, o Options, origin string) ([]*Loaded, error) {
	if err := storage.CheckExecutionID(origin); err != nil {
		return nil, err
	}
	list, err := remote.List(ctx, folder(origin))
	if err != nil {
		return nil, fmt.Errorf("list record of %s: %w", origin, err)
	}
	chains := map[[2]string][]int64{} // execution, writer → seqs
	for _, object := range list {
		if execution, nonce, seq, ok := parseHeadName(object.Name); ok && !object.Dir {
			key := [2]string{execution, nonce}
			chains[key] = append(chains[key], seq)
		}
	}
	if len(chains) == 0 {
		return nil, fmt.Errorf("record of execution %s: %w", origin, storage.ErrNotFound)
	}
	best, failed := map[string]*Loaded{}, map[string]error{}
	for key, seqs := range chains {
		l, err := loadChain(ctx, remote, o, chain{origin, key[0], key[1], seqs})
		switch {
		case err != nil:
			failed[key[0]] = errors.Join(failed[key[0]], err)
		case best[key[0]] == nil || l.after(best[key[0]]):
			best[key[0]] = l
		}
	}
	for execution, err := range failed {
		if best[execution] == nil {
			return nil, fmt.Errorf("record of execution %s: %w", execution, err)
		}
		best[execution].Damaged = append(best[execution].Damaged, err)
	}
	return slices.SortedFunc(maps.Values(best), func(a, b *Loaded) int { return strings.Compare(a.Root().ID, b.Root().ID) }), nil
}

func (l *Loaded) after(o *Loaded) bool {
	return cmp.Or(cmp.Compare(l.Seq, o.Seq), strings.Compare(l.Writer, o.Writer)) > 0
}

// chain are the heads of one writer.
type chain struct {
	origin, execution, nonce string
	seqs                     []int64
}

// loadChain finds the newest head that verifies and agrees with all valid ones
// before it.
func loadChain(ctx context.Context, remote storage.Remote, o Options, c chain) (*Loaded, error) {
	slices.Sort(c.seqs)
	var newest *head
	var damaged []error
	for _, seq := range c.seqs {
		name := headName(c.execution, c.nonce, seq)
		h, err := readHead(ctx, remote, o, c, seq)
		if err == nil && newest != nil && newest.Seq == seq-1 && h.Previous != newest.Digest {
			err = corrupt("it does not follow the head before it")
		}
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrNotFound) {
				return nil, fmt.Errorf("%s: %w", name, err) // nobody knows, or nobody may know
			}
			damaged = append(damaged, fmt.Errorf("%s: %w", name, err))
			continue
		}
		newest = h
	}
	if newest == nil {
		return nil, errors.Join(damaged...)
	}
	l := &Loaded{
		Record: newest.Record, Writer: newest.Writer, Seq: newest.Seq, Digest: newest.Digest, Signed: newest.MAC != "",
		Damaged: damaged, remote: remote, blobs: map[storage.ActionKey]string{},
	}
	return l, l.readRuns(ctx, newest)
}

func readHead(ctx context.Context, remote storage.Remote, o Options, c chain, seq int64) (*head, error) {
	data, err := storage.ReadAll(ctx, remote, path.Join(folder(c.origin), headName(c.execution, c.nonce, seq)), maxHeadBytes)
	if err != nil {
		return nil, err
	}
	h, err := parseHead(data, o.Keys)
	if err != nil {
		return nil, err
	}
	if h.Origin != c.origin || h.Root().ID != c.execution || h.Writer != c.nonce || h.Seq != seq || h.Root().Origin != c.origin {
		return nil, corrupt("it belongs to another place")
	}
	return h, nil
}

func (l *Loaded) readRuns(ctx context.Context, h *head) error {
	var all []run
	for i, hash := range h.Pages {
		data, err := l.blob(ctx, hash)
		if err != nil {
			return fmt.Errorf("page %d of action runs: %w", i, err)
		}
		var p page
		if err := decode(data, pageFormat, &p); err != nil {
			return fmt.Errorf("page %d of action runs: %w", i, err)
		}
		all = append(all, p.Runs...)
	}
	for _, r := range append(all, h.Tail...) {
		l.Runs = append(l.Runs, r.ActionRun)
		if r.RowsBlob != "" {
			l.blobs[r.ActionKey] = r.RowsBlob
		}
	}
	return nil
}

func (l *Loaded) blob(ctx context.Context, hash string) ([]byte, error) {
	name := path.Join(folder(l.Root().Origin), blobName(hash))
	if !blobPattern.MatchString(path.Base(name)) {
		return nil, corrupt("hash %q", hash)
	}
	data, err := storage.ReadAll(ctx, l.remote, name, maxBlobBytes)
	if err != nil {
		return nil, err
	}
	if sum(data) != hash {
		return nil, corrupt("%s has other bytes", name)
	}
	return data, nil
}

// Definition reads a definition as run. ErrCorrupt when its bytes have changed.
func (l *Loaded) Definition(ctx context.Context, hash string) ([]byte, error) {
	return l.blob(ctx, hash)
}

// Rows reads the result rows of an action run, nil when only a count was kept.
func (l *Loaded) Rows(ctx context.Context, key storage.ActionKey) ([]byte, error) {
	hash, ok := l.blobs[key]
	if !ok {
		return nil, nil
	}
	return l.blob(ctx, hash)
}

// Life is what is known about the writer at work in a folder of records.
type Life string

// The verdicts.
const (
	Alive   Life = "ALIVE"
	Dead    Life = "DEAD"  // ended without saving an end
	Ended   Life = "ENDED" // saved its end, or there is no lease at all
	Unknown Life = "UNKNOWN"
)

// Look tells at once whether a writer is at work on a chain of replays, and on
// which execution. On a remote without locks only Watch can tell ALIVE from
// DEAD: the verdict is UNKNOWN. It is so, and of no execution, when the lease is torn.
func Look(ctx context.Context, remote storage.Remote, origin string) (life Life, execution string, err error) {
	l, err := readLease(ctx, remote, origin)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return Ended, "", nil
	case storage.Torn(err):
		return Unknown, "", nil
	case err != nil:
		return Unknown, "", err
	case l.Ended:
		return Ended, l.Execution, nil
	case !l.Locked:
		return Unknown, l.Execution, nil
	}
	free, err := lockFree(ctx, remote, writerLock(origin, l.Nonce))
	switch {
	case err != nil:
		return Unknown, l.Execution, err
	case free:
		return Dead, l.Execution, nil
	}
	return Alive, l.Execution, nil
}

func readLease(ctx context.Context, remote storage.Remote, origin string) (*lease, error) {
	data, err := storage.ReadAll(ctx, remote, path.Join(folder(origin), leaseName), maxSmallBytes)
	if err != nil {
		return nil, err
	}
	return parseLease(data)
}

// seenLease is readLease for observing; a torn lease is empty and of the usual interval.
func seenLease(ctx context.Context, remote storage.Remote, origin string) (*lease, storage.Lease, error) {
	l, err := readLease(ctx, remote, origin)
	switch {
	case err == nil:
		return l, l.seen(), nil
	case storage.Torn(err):
		return &lease{}, storage.TornLease(snapshot.DefaultHeartbeat), nil
	}
	return nil, storage.Lease{}, err
}

// Watch is Look with patience: it observes the lease until the writer shows
// life, or stood still for ten of its intervals.
func Watch(ctx context.Context, remote storage.Remote, origin string) (life Life, execution string, err error) {
	life, execution, err = Look(ctx, remote, origin)
	if err != nil || life != Unknown {
		return life, execution, err
	}
	first, last, err := seenLease(ctx, remote, origin)
	if err != nil {
		return Unknown, execution, err
	}
	var watch storage.LeaseWatch
	watch.Observe(last, time.Now())
	ticker := time.NewTicker(max(last.Interval, 10*time.Millisecond))
	defer ticker.Stop()
	for {
		if err := next(ctx, ticker); err != nil {
			return Unknown, execution, err
		}
		// A read that failed says nothing.
		now, seen, err := seenLease(ctx, remote, origin)
		switch {
		case err != nil:
		case now.Ended:
			return Ended, now.Execution, nil
		case now.Nonce != "" && first.Nonce != "" && seen != last:
			return Alive, now.Execution, nil
		case watch.Observe(seen, time.Now()):
			return Dead, now.Execution, nil
		}
		if err == nil && first.Nonce == "" {
			first, last = now, seen // it was torn
		}
	}
}

// Remove deletes all records of a chain of replays. What is left after a
// failure never shows an older state as the newest.
func Remove(ctx context.Context, remote storage.Remote, origin string) error {
	if err := storage.CheckExecutionID(origin); err != nil {
		return err
	}
	list, err := remote.List(ctx, folder(origin))
	if err != nil {
		return err
	}
	rank := func(o storage.Object) int { return removalRank(path.Base(o.Name)) }
	slices.SortStableFunc(list, func(a, b storage.Object) int { return cmp.Compare(rank(a), rank(b)) })
	claims, err := remote.List(ctx, path.Join(folder(origin), claimFolder))
	if err != nil {
		return err
	}
	for _, o := range append(list, claims...) {
		if o.Dir {
			continue
		}
		if err := remote.Delete(ctx, o.Name); err != nil {
			return fmt.Errorf("remove record of %s: %w", origin, err)
		}
	}
	if folders, ok := remote.(storage.FolderRemover); ok {
		err := errors.Join(folders.RemoveFolder(ctx, path.Join(folder(origin), claimFolder)), folders.RemoveFolder(ctx, folder(origin)))
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("remove record of %s: %w", origin, err)
		}
	}
	return nil
}

// removalRank: heads first, of each writer the oldest first (names sort so),
// then everything else, then blobs.
func removalRank(name string) int {
	_, _, _, isHead := parseHeadName(name)
	switch {
	case isHead:
		return 0
	case blobPattern.MatchString(name):
		return 2
	}
	return 1
}
