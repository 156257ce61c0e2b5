// Package storage holds the nouns of what Sluice keeps: remotes and the
// snapshots on them, executions and their records, leases and checkpoints.
// It defines the errors, small interfaces, and implementations that need
// nothing but the standard library.
//
// A Remote is a flat store of named objects below one location: a local
// folder (Folder), memory (Memory) or anything rclone reaches
// (storage/rclone). A Location is how a person writes down a place. What is
// stored there in which order is the business of storage/snapshot.
package storage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Remote stores named objects below one location. Names are relative,
// slash-separated paths that pass CheckName. A Remote is safe for many
// goroutines.
//
// Every method returns one of this package's sentinels (wrapped) where the
// condition is known; IsRetryable tells what to do with the others.
type Remote interface {
	// Put stores the content under name and replaces what was there. When it
	// returns nil, the object is stored whole and durable, as far as the
	// remote can tell. When it returns an error, or the process dies, name
	// holds the former object, the new one, or (only where
	// Capabilities.AtomicPut is false) a torn one. Left-over temporary
	// objects have names for which IsTemporary is true.
	Put(ctx context.Context, name string, content Content) error

	// Open reads length bytes of the object, beginning at offset; a negative
	// length reads to the end. A range beyond the end gives what there is.
	// The caller closes the reader. ErrNotFound when there is no such object.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)

	// Stat describes the object. ErrNotFound means that it is certainly not
	// there; any other error means that nobody knows.
	Stat(ctx context.Context, name string) (Object, error)

	// List gives the direct children of dir ("" is the root), sorted by name.
	// A missing folder is an empty one, since object stores know no
	// difference. Temporary objects are listed too.
	List(ctx context.Context, dir string) ([]Object, error)

	// Delete removes one object. It is not an error when there is none.
	Delete(ctx context.Context, name string) error

	// Capabilities states what callers may rely on. It does no I/O.
	Capabilities() Capabilities
}

// Capabilities are facts about a remote, not settings.
type Capabilities struct {
	Local     bool   // a disk of this machine: no cache copy, liveness by process lock
	AtomicPut bool   // a killed Put never leaves a torn object under the final name
	Folders   bool   // folders exist by themselves and stay when they are empty
	Hash      string // "md5" when StoredHash is computed from the stored bytes, else ""
}

// Object describes one object or folder.
type Object struct {
	Name     string    // relative to the remote's root, slash-separated
	Size     int64     // bytes; 0 for a folder
	Modified time.Time // information only; zero where the remote keeps none
	Dir      bool
}

// Content is what a Put stores: exactly Size bytes of Body, read from offset
// 0 and, after a failed attempt, once more. Body must not change until Put
// returns. MD5 (16 bytes) is optional; remotes that check it on arrival get
// it.
type Content struct {
	Body io.ReaderAt
	Size int64
	MD5  []byte
}

// Bytes is the content of a byte slice.
func Bytes(b []byte) Content {
	return Content{Body: bytes.NewReader(b), Size: int64(len(b))}
}

// Reader gives a fresh reader over the content.
func (c Content) Reader() *io.SectionReader {
	return io.NewSectionReader(c.Body, 0, c.Size)
}

// The abilities below are optional; find them by assertion. Each may still
// return errors.ErrUnsupported when the place turns out not to have it.
type (
	// A ConditionalPutter creates an object only where there is none, decided
	// by the remote. ErrExists when there is one.
	ConditionalPutter interface {
		PutIfAbsent(ctx context.Context, name string, content Content) error
	}

	// A Mover renames an object atomically and replaces the target.
	Mover interface {
		Move(ctx context.Context, from, to string) error
	}

	// A FolderMaker creates a folder and its parents. It is not an error when
	// there is one.
	FolderMaker interface {
		MakeFolder(ctx context.Context, dir string) error
	}

	// A FolderRemover removes an empty folder. It is not an error when there
	// is none.
	FolderRemover interface {
		RemoveFolder(ctx context.Context, dir string) error
	}

	// A Hasher gives the hash, in lower-case hex, of the kind that
	// Capabilities.Hash names, computed by the remote from the stored bytes.
	Hasher interface {
		StoredHash(ctx context.Context, name string) (string, error)
	}

	// A Locker takes an exclusive lock that the operating system frees when
	// the process dies and keeps while the machine sleeps. ErrLocked when
	// somebody (this process too) holds it, ErrNotFound when the object is
	// missing.
	Locker interface {
		TryLock(ctx context.Context, name string) (release func() error, err error)
	}

	// A SpaceReporter tells how many bytes this user may still write.
	SpaceReporter interface {
		FreeSpace(ctx context.Context) (int64, error)
	}
)

// ReadAll reads a whole object of at most limit bytes. ErrCorrupt when it is
// larger.
func ReadAll(ctx context.Context, r Remote, name string, limit int64) ([]byte, error) {
	in, err := r.Open(ctx, name, 0, limit+1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if closeErr := in.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: more than %d bytes: %w", name, limit, ErrCorrupt)
	}
	return data, nil
}

// temporaryMark is what every temporary name holds; a snapshot's own names
// never do.
const temporaryMark = ".tmp-"

// TemporaryName is the name under which attempt number n of the writer with
// this nonce stores an object before it is renamed.
func TemporaryName(name, nonce string, attempt int) string {
	return fmt.Sprintf("%s%s%s-%d", name, temporaryMark, nonce, attempt)
}

// IsTemporary tells whether the object is the left-over of an unfinished Put.
// Readers ignore it.
func IsTemporary(name string) bool {
	return strings.Contains(path.Base(name), temporaryMark)
}

// maxNameBytes bounds a whole name; S3 allows 1,024, Linux 4,096.
const maxNameBytes = 1024

// CheckName refuses names that could leave the remote's root or that not
// every remote can hold. The error is ErrBadName.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("empty name: %w", ErrBadName)
	case len(name) > maxNameBytes:
		return fmt.Errorf("name of %d bytes: %w", len(name), ErrBadName)
	case !utf8.ValidString(name):
		return fmt.Errorf("name %q is not UTF-8: %w", name, ErrBadName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("name %q has control characters: %w", name, ErrBadName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("name %q: %w", name, ErrBadName)
		}
	}
	return nil
}

// checkDir is CheckName for folders, where "" is the root.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	return CheckName(dir)
}
