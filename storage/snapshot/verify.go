package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"sluice/storage"
)

// Level is how much of a snapshot is proved before a replay. Whatever the
// level, no row of a segment is handed out before its hash matched.
type Level int

const (
	// Quick compares sizes. It proves that nothing is missing or cut short.
	Quick Level = iota
	// Stored compares sizes, and a hash that the remote computes from the
	// stored bytes. Where it computes none, the report's Level is Quick.
	Stored
	// Full reads and hashes every segment and looks for what does not belong.
	Full
)

// String is the name of the level.
func (l Level) String() string { return [...]string{"quick", "stored", "full"}[l] }

// verifyParallel is how many segments are proved at once; where there is a cache,
// each may take 64 MiB of memory.
const verifyParallel = 3

// Verification is the outcome of Snapshot.Verify.
type Verification struct {
	Level    Level // what was reached; it may be less than what was asked for
	Segments int
	Bytes    int64
	Problems []Problem // in the order of the manifest; empty means proved
	Notes    []string  // worth showing, no reason to refuse
}

// Problem is one thing that is wrong with a snapshot.
type Problem struct {
	Name string // of the object
	Err  error
}

// Err joins the problems, nil when there are none. It wraps
// storage.ErrCorrupt when stored bytes are wrong.
func (v *Verification) Err() error {
	errs := make([]error, len(v.Problems))
	for i, p := range v.Problems {
		errs[i] = p.Err
	}
	return errors.Join(errs...)
}

// Verify proves the snapshot up to the level. Manifest and tombstone were
// proved by Load; everything else is proved here. The error is that of the
// verification, or of ctx. progress, when not nil, is called with the bytes
// proved so far, from several goroutines.
func (sn *Snapshot) Verify(ctx context.Context, level Level, progress func(bytes int64)) (*Verification, error) {
	v := &Verification{Level: level}
	hasher, ok := sn.store.remote.(storage.Hasher)
	if level == Stored && (!ok || sn.store.remote.Capabilities().Hash != "md5") {
		v.Level = Quick
		v.Notes = append(v.Notes, "the remote computes no hash of its own: only sizes were compared")
	}
	if err := sn.verifyFrame(ctx, level, v); err != nil {
		return v, about(sn.Ref, "", err)
	}
	problems := make([]error, len(sn.Manifest.Segments))
	var mu sync.Mutex
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(verifyParallel)
	for i, segment := range sn.Manifest.Segments {
		g.Go(func() error {
			problems[i] = sn.verifySegment(gctx, segment, v.Level, hasher)
			mu.Lock()
			defer mu.Unlock()
			v.Bytes += segment.Bytes
			v.Segments++
			if progress != nil {
				progress(v.Bytes)
			}
			return context.Cause(gctx)
		})
	}
	if err := g.Wait(); err != nil {
		return v, about(sn.Ref, "", err)
	}
	for i, err := range problems {
		if err != nil {
			v.Problems = append(v.Problems, Problem{sn.Manifest.Segments[i].Name, err})
		}
	}
	if err := v.Err(); err != nil {
		return v, about(sn.Ref, sn.stateOf(err), err)
	}
	return v, nil
}

func (sn *Snapshot) verifySegment(ctx context.Context, segment Segment, level Level, hasher storage.Hasher) error {
	if level == Full {
		return sn.proveSegment(ctx, segment)
	}
	name := in(sn.Ref, segment.Name)
	o, err := sn.store.remote.Stat(ctx, name)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return corrupt("segment %s is missing", segment.Name)
	case err != nil:
		return fmt.Errorf("segment %s: %w", segment.Name, err)
	case o.Size != segment.Bytes:
		return corrupt("segment %s has %d bytes, %d were sealed", segment.Name, o.Size, segment.Bytes)
	case level == Quick:
		return nil
	case segment.MD5 == "":
		return fmt.Errorf("segment %s was sealed without an MD5: verify in full: %w", segment.Name, errors.ErrUnsupported)
	}
	stored, err := hasher.StoredHash(ctx, name)
	if err != nil {
		return fmt.Errorf("segment %s: %w", segment.Name, err)
	}
	if stored != segment.MD5 {
		return corrupt("segment %s: its MD5 does not match", segment.Name)
	}
	return nil
}

// proveSegment reads and hashes a whole segment, filling the cache where there is
// one.
func (sn *Snapshot) proveSegment(ctx context.Context, segment Segment) error {
	cache := sn.cacheFor(Reading{})
	if cache == nil {
		return sn.hash(ctx, segment)
	}
	data, err := sn.download(ctx, segment, nil)
	if err != nil {
		return err
	}
	if err := cache.Put(segment.SHA256, data); err != nil {
		sn.store.o.Logger.Warn("Segment is not cached", "segment", segment.Name, "err", err)
	}
	return nil
}

// verifyFrame proves what surrounds the segments: open.json is the one the
// chain starts from, and in full also the lease and the absence of strangers.
func (sn *Snapshot) verifyFrame(ctx context.Context, level Level, v *Verification) error {
	bad := func(name string, err error) { v.Problems = append(v.Problems, Problem{name, err}) }
	record, data, err := sn.store.record(ctx, sn.Ref)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		bad(openName, corrupt("%s is missing", openName))
	case errors.Is(err, storage.ErrCorrupt):
		bad(openName, err)
	case err != nil:
		return err
	case sum(data) != sn.Manifest.OpenDigest:
		bad(openName, corrupt("%s is not the one that was sealed", openName))
	}
	if sn.Manifest.MAC != "" && len(sn.store.o.Keys) == 0 {
		v.Notes = append(v.Notes, "signed with key "+sn.Manifest.KeyID+", which is not set here: the signature was not checked")
	}
	if level != Full {
		return nil
	}
	if record != nil {
		if err := sn.verifyLease(ctx, record, bad); err != nil {
			return err
		}
	}
	return sn.findStrangers(ctx, bad)
}

func (sn *Snapshot) verifyLease(ctx context.Context, record *Record, bad func(string, error)) error {
	data, err := storage.ReadAll(ctx, sn.store.remote, in(sn.Ref, leaseName), maxSmallBytes)
	if errors.Is(err, storage.ErrNotFound) {
		bad(leaseName, corrupt("%s is missing", leaseName))
		return nil
	}
	if err != nil && !errors.Is(err, storage.ErrCorrupt) {
		return err
	}
	l, err := parseLease(data)
	switch {
	case err != nil:
		bad(leaseName, err)
	case l.Nonce != record.Nonce || l.SnapshotID != sn.Ref.ID:
		bad(leaseName, corrupt("%s belongs to another writer", leaseName))
	}
	return nil
}

// findStrangers reports objects that no writer of this snapshot made.
func (sn *Snapshot) findStrangers(ctx context.Context, bad func(string, error)) error {
	list, err := sn.store.remote.List(ctx, folder(sn.Ref))
	if err != nil {
		return err
	}
	known := []string{openName, leaseName, manifestName}
	for _, s := range sn.Manifest.Segments {
		known = append(known, s.Name)
	}
	slices.Sort(known)
	for _, o := range list {
		file := path.Base(o.Name)
		if _, ok := slices.BinarySearch(known, file); ok && !o.Dir {
			continue
		}
		if id, ok := pinID(file); ok && pinPattern().MatchString(id) || storage.IsTemporary(file) || isDropping(file) {
			continue
		}
		bad(file, corrupt("%s does not belong to the snapshot", file))
	}
	return nil
}
