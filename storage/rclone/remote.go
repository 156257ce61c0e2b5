package rclone

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/hash"
	"github.com/rclone/rclone/fs/object"
	"golang.org/x/time/rate"

	"sluice/storage"
)

// place is one pinned Fs with what was found out about it.
type place struct {
	fs       fs.Fs
	client   *Client
	location storage.Location
	where    string // printable
	secrets  *secrets
	outage   outage

	mu          sync.Mutex
	conditional *bool // nil until probed

	first  sync.Mutex  // held while bytes move, until some have
	proven atomic.Bool // they have
}

// kind is the Go package of the backend behind all aliases: "s3", "local".
func (p *place) kind() string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", p.fs), "*"), ".")
	return kind
}

// localRoot is the folder behind a plain local remote: storage.Folder does it
// better, since rclone never syncs.
func (p *place) localRoot() (string, bool) { return p.fs.Root(), p.kind() == "local" }

// firstAlone moves bytes, alone until that has worked once: the HDFS client asks
// its server for defaults on first use, and keeps them unguarded.
func (p *place) firstAlone(transfer func() error) error {
	if p.proven.Load() {
		return transfer()
	}
	p.first.Lock()
	if p.proven.Load() {
		p.first.Unlock()
		return transfer()
	}
	defer p.first.Unlock()
	err := transfer()
	if err == nil || errors.Is(err, io.EOF) {
		p.proven.Store(true)
	}
	return err
}

func (p *place) explain(ctx context.Context, op, name string, err error) error {
	return explain(ctx, p.secrets, op, joinPrintable(p.where, name), err)
}

func joinPrintable(where, name string) string {
	if name == "" || strings.HasSuffix(where, ":") || strings.HasSuffix(where, "/") {
		return where + name
	}
	return where + "/" + name
}

// Remote is a storage.Remote over one rclone backend.
type Remote struct {
	place   *place
	limits  []*rate.Limiter
	backoff storage.Backoff
}

var (
	_ storage.Remote            = (*Remote)(nil)
	_ storage.ConditionalPutter = (*Remote)(nil)
	_ storage.Mover             = (*Remote)(nil)
	_ storage.FolderMaker       = (*Remote)(nil)
	_ storage.FolderRemover     = (*Remote)(nil)
	_ storage.Hasher            = (*Remote)(nil)
	_ storage.SpaceReporter     = (*Remote)(nil)
)

// realMD5 lists the backends whose MD5 comes from the stored bytes. Others
// give none, or what the client claimed.
var realMD5 = []string{"s3", "azureblob", "googlecloudstorage", "sftp", "local", "memory", "swift", "drive"}

// Capabilities follow from rclone's feature flags.
func (r *Remote) Capabilities() storage.Capabilities {
	features := r.place.fs.Features()
	c := storage.Capabilities{
		AtomicPut: features.BucketBased || features.Move != nil,
		Folders:   features.CanHaveEmptyDirectories && !features.BucketBased,
	}
	if r.place.fs.Hashes().Contains(hash.MD5) && slices.Contains(realMD5, r.place.kind()) {
		c.Hash = "md5"
	}
	return c
}

// viaTemporary tells whether a Put must be renamed into place: the backend
// would leave a torn object under the final name, and can rename.
func (r *Remote) viaTemporary() bool {
	features := r.place.fs.Features()
	return features.Move != nil && !features.BucketBased
}

// Put stores the content in one known-size put. Each attempt has a temporary
// name of its own, so a zombie of an earlier one cannot hit it.
func (r *Remote) Put(ctx context.Context, name string, content storage.Content) error {
	var left []string // temporary objects of failed attempts
	err := r.attempt(ctx, "write", name, func(ctx context.Context, n int) error {
		if !r.viaTemporary() {
			_, err := r.put(ctx, name, content)
			return err
		}
		temporary := temporaryName(name, n)
		err := r.putAndMove(ctx, name, temporary, content)
		if err != nil {
			left = append(left, temporary)
		}
		return err
	})
	if errors.Is(err, storage.ErrUnreachable) {
		return err // nobody to ask for their removal; pruning finds them
	}
	for _, temporary := range left {
		r.discard(ctx, temporary)
	}
	return err
}

func temporaryName(name string, attempt int) string {
	var nonce [6]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return storage.TemporaryName(name, hex.EncodeToString(nonce[:]), attempt)
}

func (r *Remote) putAndMove(ctx context.Context, name, temporary string, content storage.Content) error {
	stored, err := r.put(ctx, temporary, content)
	if err != nil {
		return err
	}
	return r.rename(ctx, stored, name)
}

var (
	errShortContent = fmt.Errorf("the content is shorter than declared: %w", storage.ErrCorrupt)
	errCutOff       = fmt.Errorf("the connection ended early: %w", storage.ErrUnreachable)
)

// put stores under exactly this name and compares the size.
func (r *Remote) put(ctx context.Context, name string, content storage.Content, options ...fs.OpenOption) (fs.Object, error) {
	var hashes map[hash.Type]string
	if len(content.MD5) > 0 {
		hashes = map[hash.Type]string{hash.MD5: hex.EncodeToString(content.MD5)}
	}
	info := object.NewStaticObjectInfo(name, time.Now(), content.Size, true, hashes, nil)
	body := &bodyReader{ctx, content.Reader(), r.limits, content.Size, errShortContent}
	var stored fs.Object
	err := r.place.firstAlone(func() (err error) {
		stored, err = r.place.fs.Put(ctx, body, info, options...)
		return err
	})
	if err != nil {
		return nil, err
	}
	// Some backends stop reading at the declared size, some do not read at
	// all when it is 0; none may have read less.
	if body.left > 0 {
		return nil, fmt.Errorf("%d bytes were not read: %w", body.left, storage.ErrCorrupt)
	}
	// crypt and compressing backends report the size of the content too.
	if size := stored.Size(); size >= 0 && size != content.Size {
		return nil, fmt.Errorf("%d of %d bytes are stored: %w", size, content.Size, io.ErrShortWrite)
	}
	return stored, nil
}

// rename moves an object to its final name. A server that does not replace a
// target gets it removed first: readers of the one name that is replaced, the
// lease, ignore single misses.
func (r *Remote) rename(ctx context.Context, from fs.Object, to string) error {
	move := r.place.fs.Features().Move
	_, err := move(ctx, from, to)
	if err == nil || context.Cause(ctx) != nil || storage.IsRetryable(r.place.explain(ctx, "move", to, err)) {
		return err
	}
	target, statErr := r.place.fs.NewObject(ctx, to)
	if statErr != nil {
		return err
	}
	if removeErr := target.Remove(ctx); removeErr != nil {
		return err
	}
	_, err = move(ctx, from, to)
	return err
}

// discard removes a temporary object as well as it can.
func (r *Remote) discard(ctx context.Context, name string) {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(onlyOurRetries(context.WithoutCancel(ctx)), patience)
	defer cancel()
	if o, err := r.place.fs.NewObject(ctx, name); err == nil {
		_ = o.Remove(ctx)
	}
}

// PutIfAbsent is an S3 put with If-None-Match. ErrUnsupported on every other
// backend (WebDAV would even delete the winner's object), and where the
// server was found to ignore the header. A retried put may report ErrExists
// about an object that an earlier attempt of its own stored.
func (r *Remote) PutIfAbsent(ctx context.Context, name string, content storage.Content) error {
	ok, err := r.conditional(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("put if absent: %w", errors.ErrUnsupported)
	}
	return r.attempt(ctx, "write", name, func(ctx context.Context, _ int) error {
		_, err := r.put(ctx, name, content, ifAbsent)
		return err
	})
}

var ifAbsent = &fs.HTTPOption{Key: "If-None-Match", Value: "*"}

// conditional probes once per place whether a second conditional put fails.
func (r *Remote) conditional(ctx context.Context) (bool, error) {
	if r.place.kind() != "s3" {
		return false, nil
	}
	r.place.mu.Lock()
	defer r.place.mu.Unlock()
	if r.place.conditional != nil {
		return *r.place.conditional, nil
	}
	name := probeName()
	defer r.discard(ctx, name)
	ok := false
	err := r.retry(ctx, "probe", name, func(ctx context.Context, _ int) (err error) {
		ok, err = r.secondPutFails(ctx, name)
		return err
	})
	if err != nil {
		return false, err
	}
	r.place.conditional = &ok
	return ok, nil
}

func (r *Remote) secondPutFails(ctx context.Context, name string) (bool, error) {
	content := storage.Bytes([]byte("probe"))
	if _, err := r.put(ctx, name, content); err != nil {
		return false, err
	}
	_, err := r.put(ctx, name, content, ifAbsent)
	ok, known := isConditional(err)
	if !known {
		return false, err
	}
	return ok, nil
}

// isConditional reads the answer to a create where something is: refused, or
// accepted by a server that does not know the header, or that says so.
func isConditional(err error) (ok, known bool) {
	switch sentinel := classify(err); {
	case err == nil:
		return false, true
	case errors.Is(sentinel, storage.ErrExists):
		return true, true
	case sentinel == nil || errors.Is(sentinel, errors.ErrUnsupported):
		return false, true
	}
	return false, false
}

func probeName() string { return temporaryName("sluice-probe", 0) }

// Delete removes an object.
func (r *Remote) Delete(ctx context.Context, name string) error {
	return r.attempt(ctx, "delete", name, func(ctx context.Context, _ int) error {
		o, err := r.place.fs.NewObject(ctx, name)
		if err == nil {
			err = o.Remove(ctx)
		}
		if err = certain(err); errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		return err
	})
}

// Move renames an object where the backend does that on the server.
func (r *Remote) Move(ctx context.Context, from, to string) error {
	if r.place.fs.Features().Move == nil {
		return fmt.Errorf("move: %w", errors.ErrUnsupported)
	}
	if err := storage.CheckName(to); err != nil {
		return &storage.Error{Op: "move", Location: r.place.where, Err: err}
	}
	return r.attempt(ctx, "move", from, func(ctx context.Context, _ int) error {
		o, err := r.place.fs.NewObject(ctx, from)
		if err != nil {
			return certain(err)
		}
		return r.rename(ctx, o, to)
	})
}

// MakeFolder creates a folder where the backend has such a thing.
func (r *Remote) MakeFolder(ctx context.Context, dir string) error {
	return r.attempt(ctx, "make folder", dir, func(ctx context.Context, _ int) error {
		made := ""
		for part := range strings.SplitSeq(dir, "/") {
			made = path.Join(made, part)
			if err := r.place.fs.Mkdir(ctx, made); err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveFolder removes an empty folder; on an object store there is nothing
// to remove.
func (r *Remote) RemoveFolder(ctx context.Context, dir string) error {
	return r.attempt(ctx, "remove folder", dir, func(ctx context.Context, _ int) error {
		if !r.Capabilities().Folders {
			return nil
		}
		// Some servers remove a folder with all that is in it.
		entries, err := r.place.fs.List(ctx, dir)
		switch {
		case errors.Is(err, fs.ErrorDirNotFound):
			return nil
		case err != nil:
			return err
		case len(entries) > 0:
			return fs.ErrorDirectoryNotEmpty
		}
		if err := r.place.fs.Rmdir(ctx, dir); !errors.Is(err, fs.ErrorDirNotFound) {
			return err
		}
		return nil
	})
}

// StoredHash is the MD5 that the backend computed.
func (r *Remote) StoredHash(ctx context.Context, name string) (string, error) {
	if r.Capabilities().Hash == "" {
		return "", fmt.Errorf("hash: %w", errors.ErrUnsupported)
	}
	var sum string
	err := r.attempt(ctx, "hash", name, func(ctx context.Context, _ int) error {
		o, err := r.place.fs.NewObject(ctx, name)
		if err != nil {
			return certain(err)
		}
		sum, err = o.Hash(ctx, hash.MD5)
		if err == nil && sum == "" {
			err = fmt.Errorf("no hash of this object: %w", errors.ErrUnsupported)
		}
		return err
	})
	return sum, err
}
