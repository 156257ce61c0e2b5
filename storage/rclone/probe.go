package rclone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"sluice/storage"
)

// Step is one thing that a test of a remote tried.
type Step struct {
	Name    string // "write", "read back", ...
	Took    time.Duration
	Err     error  // nil when it worked
	Remark  string // what was found out
	Skipped bool   // the remote has no such ability, which is fine
}

// Report is the outcome of Test.
type Report struct {
	Location     string
	Capabilities storage.Capabilities
	Conditional  bool // exactly one of several writers wins, decided by the remote
	Steps        []Step

	each func(Step)
}

// Err is the first failure, nil when everything worked.
func (r *Report) Err() error {
	for _, s := range r.Steps {
		if s.Err != nil {
			return s.Err
		}
	}
	return nil
}

// Test writes, reads, replaces, lists, renames and deletes a small object
// below the location and tells what worked. It stops at the first failure,
// and removes what it wrote.
func (c *Client) Test(ctx context.Context, l storage.Location) *Report {
	return c.TestEach(ctx, l, func(Step) {})
}

// TestEach is Test that tells of each step as it ends.
func (c *Client) TestEach(ctx context.Context, l storage.Location, each func(Step)) *Report {
	report := &Report{Location: l.String(), each: each}
	var remote storage.Remote
	if !report.step("open", func() (string, error) {
		var err error
		remote, err = c.Open(ctx, l)
		return "", err
	}) {
		return report
	}
	report.Capabilities = remote.Capabilities()
	t := &trial{remote: remote, report: report, dir: probeName(), data: bytes.Repeat([]byte("sluice\n"), 1000)}
	t.run(ctx)
	return report
}

func (r *Report) step(name string, run func() (string, error)) bool {
	start := time.Now()
	remark, err := run()
	s := Step{Name: name, Took: time.Since(start), Err: err, Remark: remark}
	if errors.Is(err, errors.ErrUnsupported) {
		s.Err, s.Skipped = nil, true
	}
	r.Steps = append(r.Steps, s)
	r.each(s)
	return s.Err == nil
}

// trial is one run of Test in a folder of its own.
type trial struct {
	remote storage.Remote
	report *Report
	dir    string
	data   []byte
}

func (t *trial) name(file string) string { return path.Join(t.dir, file) }

func (t *trial) run(ctx context.Context) {
	defer t.cleanUp(ctx)
	for _, s := range []struct {
		name string
		run  func(ctx context.Context) (string, error)
	}{
		{"write", t.write},
		{"read back", t.read},
		{"replace", t.replace},
		{"list", t.list},
		{"rename", t.rename},
		{"create if absent", t.conditional},
		{"hash", t.hash},
		{"delete", t.delete},
	} {
		if !t.report.step(s.name, func() (string, error) { return s.run(ctx) }) {
			return
		}
	}
}

func (t *trial) write(ctx context.Context) (string, error) {
	return "", t.remote.Put(ctx, t.name("a"), storage.Bytes(t.data))
}

func (t *trial) read(ctx context.Context) (string, error) { return "", t.expect(ctx, "a", t.data) }

func (t *trial) expect(ctx context.Context, file string, data []byte) error {
	got, err := storage.ReadAll(ctx, t.remote, t.name(file), int64(len(data))+1)
	if err == nil && !bytes.Equal(got, data) {
		err = fmt.Errorf("read back %d bytes that differ: %w", len(got), storage.ErrCorrupt)
	}
	return err
}

func (t *trial) replace(ctx context.Context) (string, error) {
	shorter := t.data[:len(t.data)/2]
	if err := t.remote.Put(ctx, t.name("a"), storage.Bytes(shorter)); err != nil {
		return "", err
	}
	t.data = shorter
	return "", t.expect(ctx, "a", shorter)
}

func (t *trial) list(ctx context.Context) (string, error) {
	list, err := t.remote.List(ctx, t.dir)
	if err != nil {
		return "", err
	}
	for _, o := range list {
		if o.Name == t.name("a") && o.Size == int64(len(t.data)) {
			return "", nil
		}
	}
	return "a list may lag behind; snapshots do not depend on it", nil
}

func (t *trial) rename(ctx context.Context) (string, error) {
	m, ok := t.remote.(storage.Mover)
	if !ok {
		return "", errors.ErrUnsupported
	}
	if err := t.remote.Put(ctx, t.name("b"), storage.Bytes([]byte("old"))); err != nil {
		return "", err
	}
	if err := m.Move(ctx, t.name("a"), t.name("b")); err != nil {
		return "", err
	}
	if err := t.expect(ctx, "b", t.data); err != nil {
		return "", err
	}
	return "", t.remote.Put(ctx, t.name("a"), storage.Bytes(t.data))
}

func (t *trial) conditional(ctx context.Context) (string, error) {
	p, ok := t.remote.(storage.ConditionalPutter)
	if !ok {
		return "", errors.ErrUnsupported
	}
	if err := p.PutIfAbsent(ctx, t.name("c"), storage.Bytes(t.data)); err != nil {
		return "", err
	}
	if err := p.PutIfAbsent(ctx, t.name("c"), storage.Bytes(t.data)); !errors.Is(err, storage.ErrExists) {
		return "", fmt.Errorf("a second create gave %w, not %w", errors.Join(err), storage.ErrExists)
	}
	t.report.Conditional = true
	return "", nil
}

func (t *trial) hash(ctx context.Context) (string, error) {
	h, ok := t.remote.(storage.Hasher)
	if !ok || t.report.Capabilities.Hash == "" {
		return "", errors.ErrUnsupported
	}
	return t.report.Capabilities.Hash, func() error { _, err := h.StoredHash(ctx, t.name("a")); return err }()
}

func (t *trial) delete(ctx context.Context) (string, error) {
	if err := t.remote.Delete(ctx, t.name("a")); err != nil {
		return "", err
	}
	if _, err := t.remote.Stat(ctx, t.name("a")); !errors.Is(err, storage.ErrNotFound) {
		return "", fmt.Errorf("a deleted object is still there: %w", errors.Join(err, storage.ErrCorrupt))
	}
	return "", nil
}

func (t *trial) cleanUp(ctx context.Context) {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for _, file := range []string{"a", "b", "c"} {
		_ = t.remote.Delete(ctx, t.name(file))
	}
	if f, ok := t.remote.(storage.FolderRemover); ok {
		_ = f.RemoveFolder(ctx, t.dir)
	}
}
