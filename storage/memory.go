package storage

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5" // the hash that remotes offer, not a protection
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a Remote that forgets everything when the process ends: for
// tests, previews and dry runs. The zero value is ready for use.
type Memory struct {
	mu      sync.Mutex
	objects map[string]memoryObject
}

type memoryObject struct {
	data     []byte
	modified time.Time
}

var (
	_ Remote            = (*Memory)(nil)
	_ ConditionalPutter = (*Memory)(nil)
	_ Mover             = (*Memory)(nil)
	_ Hasher            = (*Memory)(nil)
)

// Capabilities of an object store with a checked MD5.
func (m *Memory) Capabilities() Capabilities {
	return Capabilities{AtomicPut: true, Hash: "md5"}
}

// Put stores a copy of the content.
func (m *Memory) Put(ctx context.Context, name string, content Content) error {
	return m.put(ctx, name, content, false)
}

// PutIfAbsent stores a copy of the content unless name is taken.
func (m *Memory) PutIfAbsent(ctx context.Context, name string, content Content) error {
	return m.put(ctx, name, content, true)
}

func (m *Memory) put(ctx context.Context, name string, content Content, absent bool) error {
	if err := CheckName(name); err != nil {
		return err
	}
	data, err := io.ReadAll(NewContextReader(ctx, content.Reader()))
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	if int64(len(data)) != content.Size {
		return fmt.Errorf("put %s: %d of %d bytes: %w", name, len(data), content.Size, io.ErrUnexpectedEOF)
	}
	if sum := md5.Sum(data); len(content.MD5) > 0 && !bytes.Equal(sum[:], content.MD5) {
		return fmt.Errorf("put %s: MD5 differs: %w", name, ErrCorrupt)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.objects[name]; taken && absent {
		return fmt.Errorf("put %s: %w", name, ErrExists)
	}
	if m.objects == nil {
		m.objects = map[string]memoryObject{}
	}
	m.objects[name] = memoryObject{data, time.Now()}
	return nil
}

func (m *Memory) get(ctx context.Context, name string) (memoryObject, error) {
	if err := CheckName(name); err != nil {
		return memoryObject{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return memoryObject{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[name]
	if !ok {
		return memoryObject{}, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return o, nil
}

// Open reads a range of the object as it is now.
func (m *Memory) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	o, err := m.get(ctx, name)
	if err != nil {
		return nil, err
	}
	data := o.data[min(offset, int64(len(o.data))):]
	if length >= 0 && length < int64(len(data)) {
		data = data[:length]
	}
	return io.NopCloser(NewContextReader(ctx, bytes.NewReader(data))), nil
}

// Stat describes the object.
func (m *Memory) Stat(ctx context.Context, name string) (Object, error) {
	o, err := m.get(ctx, name)
	if err != nil {
		return Object{}, err
	}
	return Object{Name: name, Size: int64(len(o.data)), Modified: o.modified}, nil
}

// StoredHash is the MD5 of the stored bytes.
func (m *Memory) StoredHash(ctx context.Context, name string) (string, error) {
	o, err := m.get(ctx, name)
	if err != nil {
		return "", err
	}
	sum := md5.Sum(o.data)
	return hex.EncodeToString(sum[:]), nil
}

// List gives the direct children of dir.
func (m *Memory) List(ctx context.Context, dir string) ([]Object, error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	children := map[string]Object{}
	for name, o := range m.objects {
		rest, below := strings.CutPrefix(name, prefix)
		if !below {
			continue
		}
		if first, _, deeper := strings.Cut(rest, "/"); deeper {
			children[first] = Object{Name: prefix + first, Dir: true}
			continue
		}
		children[rest] = Object{Name: name, Size: int64(len(o.data)), Modified: o.modified}
	}
	list := make([]Object, 0, len(children))
	for _, o := range children {
		list = append(list, o)
	}
	sortObjects(list)
	return list, nil
}

func sortObjects(list []Object) {
	slices.SortFunc(list, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
}

// Delete removes the object.
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// Move renames the object.
func (m *Memory) Move(ctx context.Context, from, to string) error {
	o, err := m.get(ctx, from)
	if err != nil {
		return err
	}
	if err := CheckName(to); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, from)
	m.objects[to] = o
	return nil
}

// Clone gives a remote with the same objects; the bytes are shared and never
// change.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Memory{objects: make(map[string]memoryObject, len(m.objects))}
	maps.Copy(c.objects, m.objects)
	return c
}

// NewContextReader reads from r until ctx ends, then returns its cause. Some
// backends notice the end of a context only through their reader.
func NewContextReader(ctx context.Context, r io.Reader) io.Reader {
	return &contextReader{ctx, r}
}

// One reader lives as long as one call, so it may hold its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
