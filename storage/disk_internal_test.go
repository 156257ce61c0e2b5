//go:build unix

package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// crashDisk models what a power cut leaves: the bytes of a file survive once
// it was synced, an entry of a folder once the folder was. It fails at the
// call that a test chooses.
type crashDisk struct {
	dirs    map[string]bool
	entries map[string]*crashFile // what programs see
	durable map[string]*crashFile // what a power cut leaves
	calls   int
	failAt  int
}

type crashFile struct {
	disk   *crashDisk
	data   []byte
	synced []byte
}

var errCut = errors.New("power cut")

func newCrashDisk(failAt int) *crashDisk {
	return &crashDisk{dirs: map[string]bool{"/": true}, entries: map[string]*crashFile{}, durable: map[string]*crashFile{}, failAt: failAt}
}

func (d *crashDisk) step() error {
	d.calls++
	if d.failAt > 0 && d.calls >= d.failAt {
		return errCut
	}
	return nil
}

func (d *crashDisk) IsDir(name string) bool { return d.dirs[name] }

func (d *crashDisk) Mkdir(name string, _ fs.FileMode) error {
	if err := d.step(); err != nil {
		return err
	}
	d.dirs[name] = true
	return nil
}

func (d *crashDisk) Create(name string, _ fs.FileMode) (diskFile, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f := &crashFile{disk: d}
	d.entries[name] = f
	return f, nil
}

func (d *crashDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.entries[to] = d.entries[from]
	delete(d.entries, from)
	// The worst case: the system writes the entry at once, the bytes not.
	d.durable[to] = d.entries[to]
	return nil
}

func (d *crashDisk) Link(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	if d.entries[to] != nil {
		return fs.ErrExist
	}
	d.entries[to] = d.entries[from]
	d.durable[to] = d.entries[to]
	return nil
}

func (d *crashDisk) Remove(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	delete(d.entries, name)
	return nil
}

func (d *crashDisk) SyncDir(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	for entry := range d.durable {
		if filepath.Dir(entry) == name && d.entries[entry] == nil {
			delete(d.durable, entry)
		}
	}
	for entry, f := range d.entries {
		if filepath.Dir(entry) == name {
			d.durable[entry] = f
		}
	}
	return nil
}

func (f *crashFile) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		f.data = append(f.data, p[:len(p)/2]...)
		return len(p) / 2, err
	}
	f.data = append(f.data, p...)
	return len(p), nil
}

func (f *crashFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	f.synced = bytes.Clone(f.data)
	return nil
}

func (f *crashFile) Close() error { return f.disk.step() }

// TestPutSurvivesAPowerCutAtEveryCall: under the final name there is only ever
// the old object or the new one, whole; and what Put reported as stored is.
func TestPutSurvivesAPowerCutAtEveryCall(t *testing.T) {
	old, fresh := bytes.Repeat([]byte("old"), 1000), bytes.Repeat([]byte("fresh"), 1000)
	for n := 1; ; n++ {
		if n > 200 {
			t.Fatal("Put does not end")
		}
		f := newFolder("/base", 0o700, 0o600)
		disk := newCrashDisk(0)
		f.disk = disk
		if err := f.Put(t.Context(), "gate/id/x", Bytes(old)); err != nil {
			t.Fatal(err)
		}
		disk.calls, disk.failAt = 0, n
		err := f.Put(t.Context(), "gate/id/x", Bytes(fresh))
		left := disk.durable["/base/gate/id/x"]
		switch {
		case left == nil:
			t.Fatalf("call %d: nothing is left", n)
		case !bytes.Equal(left.synced, old) && !bytes.Equal(left.synced, fresh):
			t.Fatalf("call %d: %d bytes of neither object", n, len(left.synced))
		case err == nil && !bytes.Equal(left.synced, fresh):
			t.Fatalf("call %d: reported as stored, and lost", n)
		}
		if err == nil && disk.calls < n {
			t.Logf("%d calls", disk.calls)
			break
		}
	}
}

// A first Put is durable with all its folders: the order of calls is the proof.
func TestPutSyncsNewFolders(t *testing.T) {
	f := newFolder("/base", 0o700, 0o600)
	log := &loggingDisk{crashDisk: newCrashDisk(0)}
	f.disk = log
	if err := f.Put(t.Context(), "g/x", Bytes([]byte("1"))); err != nil {
		t.Fatal(err)
	}
	want := []string{"mkdir /base", "sync /", "mkdir /base/g", "sync /base", "create", "rename", "sync /base/g"}
	if !slices.Equal(log.calls, want) {
		t.Errorf("calls %v, want %v", log.calls, want)
	}
	if left := slices.Collect(maps.Keys(log.durable)); !slices.Equal(left, []string{"/base/g/x"}) {
		t.Errorf("on disk: %v", left)
	}
}

type loggingDisk struct {
	*crashDisk
	calls []string
}

func (l *loggingDisk) log(format string, args ...any) {
	l.calls = append(l.calls, fmt.Sprintf(format, args...))
}

func (l *loggingDisk) Mkdir(name string, mode fs.FileMode) error {
	l.log("mkdir %s", name)
	return l.crashDisk.Mkdir(name, mode)
}

func (l *loggingDisk) Create(name string, mode fs.FileMode) (diskFile, error) {
	l.log("create")
	return l.crashDisk.Create(name, mode)
}

func (l *loggingDisk) Rename(from, to string) error {
	l.log("rename")
	return l.crashDisk.Rename(from, to)
}

func (l *loggingDisk) SyncDir(name string) error {
	l.log("sync %s", name)
	return l.crashDisk.SyncDir(name)
}

func TestSystemErrorsAreClassified(t *testing.T) {
	for errno, want := range map[syscall.Errno]error{
		syscall.ENOENT: ErrNotFound, syscall.ENOTDIR: ErrNotFound, syscall.EEXIST: ErrExists, syscall.EACCES: ErrPermission,
		syscall.EPERM: ErrPermission, syscall.EROFS: ErrPermission, syscall.ENOSPC: ErrNoSpace, syscall.EDQUOT: ErrNoSpace, syscall.EIO: syscall.EIO,
	} {
		f := newFolder("/base", 0o700, 0o600)
		f.disk = &failingDisk{newCrashDisk(0), errno}
		err := f.Put(t.Context(), "x", Bytes([]byte("x")))
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "/base") || IsRetryable(err) {
			t.Errorf("%v: %v, want %v", errno, err, want)
		}
	}
}

// failingDisk cannot create files.
type failingDisk struct {
	*crashDisk
	err error
}

func (d *failingDisk) Create(name string, _ fs.FileMode) (diskFile, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: d.err}
}
