package snapshot

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sluice/storage"
)

// Cache keeps verified segments on this disk, named by their SHA-256, so one
// that several snapshots share is kept once. Bytes are hashed again at each
// hit. It holds at most a number of bytes, least recently used first to go;
// what a living process has pinned stays. Several processes may share it.
type Cache struct {
	dir   string
	limit int64
	count atomic.Int64 // makes temporary names unique

	mu   sync.Mutex // one eviction at a time; guards pins
	pins map[*CachePin]struct{}
}

// NewCache uses the folder dir, which is created when first needed. limit is
// in bytes.
func NewCache(dir string, limit int64) *Cache {
	return &Cache{dir: dir, limit: limit, pins: map[*CachePin]struct{}{}}
}

func (c *Cache) path(sha256Hex string) string {
	return filepath.Join(c.dir, "segments", sha256Hex[:2], sha256Hex)
}

// Get gives the bytes of a segment if they are here and still hash to their
// name. Damaged entries are removed.
func (c *Cache) Get(sha256Hex string, size int64) ([]byte, bool) {
	if !isHex(sha256Hex, sha256.Size) {
		return nil, false
	}
	name := c.path(sha256Hex)
	info, err := os.Stat(name)
	if err != nil {
		return nil, false
	}
	if info.Size() == size {
		if data, err := os.ReadFile(name); err == nil && sum(data) == sha256Hex {
			now := time.Now()
			_ = os.Chtimes(name, now, now) // only the order of eviction suffers
			return data, true
		}
	}
	_ = os.Remove(name)
	return nil, false
}

// Put keeps bytes that were verified to have this hash, then evicts.
func (c *Cache) Put(sha256Hex string, data []byte) error {
	if digest := sha256.Sum256(data); hex.EncodeToString(digest[:]) != sha256Hex {
		return corrupt("cache entry %s", sha256Hex)
	}
	name := c.path(sha256Hex)
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(data)) {
		return nil
	}
	if int64(len(data)) > c.limit {
		return fmt.Errorf("cache: %d bytes: %w", len(data), storage.ErrNoSpace)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	// No sync: an entry that a power cut tore fails its hash and is removed.
	temporary := storage.TemporaryName(name, strconv.Itoa(os.Getpid()), int(c.count.Add(1)))
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		_ = os.Remove(temporary)
		return fmt.Errorf("cache: %w", err)
	}
	if err := os.Rename(temporary, name); err != nil {
		_ = os.Remove(temporary)
		return fmt.Errorf("cache: %w", err)
	}
	return c.evict(c.limit)
}

// CachePin keeps segments in the cache until it is released or its process
// ends.
type CachePin struct {
	cache *Cache
	file  *os.File
	once  sync.Once
	mu    sync.Mutex
	held  map[string]bool
}

// Pin starts an empty pin, usually one per execution.
func (c *Cache) Pin() (*CachePin, error) {
	dir := filepath.Join(c.dir, "pins")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache pin: %w", err)
	}
	file, err := lockedFile(dir)
	if err != nil {
		return nil, fmt.Errorf("cache pin: %w", err)
	}
	p := &CachePin{cache: c, file: file, held: map[string]bool{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pins[p] = struct{}{}
	return p, nil
}

// lockedFile creates and locks a pin file. Another process may take it for
// that of a dead one, and remove it, before it is locked.
func lockedFile(dir string) (*os.File, error) {
	for range 10 {
		file, err := os.CreateTemp(dir, "pin-")
		if err != nil {
			return nil, err
		}
		err = storage.LockFile(file)
		if _, statErr := os.Stat(file.Name()); err == nil && statErr == nil {
			return file, nil
		}
		_ = file.Close()
		_ = os.Remove(file.Name())
		if err != nil && !errors.Is(err, storage.ErrLocked) {
			return nil, err
		}
	}
	return nil, storage.ErrLocked
}

// Add pins one segment, present or not yet.
func (p *CachePin) Add(sha256Hex string) error {
	if !isHex(sha256Hex, sha256.Size) {
		return fmt.Errorf("cache pin: %q is no SHA-256", sha256Hex)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[sha256Hex] {
		return nil
	}
	p.held[sha256Hex] = true
	_, err := p.file.WriteString(sha256Hex + "\n")
	return err
}

// Release lets the segments go. It is idempotent.
func (p *CachePin) Release() error {
	var err error
	p.once.Do(func() {
		p.cache.mu.Lock()
		delete(p.cache.pins, p)
		p.cache.mu.Unlock()
		err = errors.Join(p.file.Close(), os.Remove(p.file.Name()))
	})
	return err
}

// cached is one entry found on disk.
type cached struct {
	path string
	hash string
	size int64
	used time.Time
}

func (c *Cache) scan() ([]cached, int64, error) {
	var list []cached
	var total int64
	root := filepath.Join(c.dir, "segments")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // removed by another process
		}
		list = append(list, cached{name, d.Name(), info.Size(), info.ModTime()})
		total += info.Size()
		return nil
	})
	return list, total, err
}

// Size is how many bytes the cache takes on disk.
func (c *Cache) Size() (int64, error) {
	_, total, err := c.scan()
	return total, err
}

// Clear removes everything that is not pinned and gives the bytes freed.
func (c *Cache) Clear() (int64, error) {
	before, err := c.Size()
	if err != nil {
		return 0, err
	}
	if err := c.evict(0); err != nil {
		return 0, err
	}
	after, err := c.Size()
	return before - after, err
}

// staleTemporary is the age at which a temporary file's writer is gone.
const staleTemporary = time.Hour

func (c *Cache) evict(limit int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, total, err := c.scan()
	if err != nil || total <= limit {
		return err
	}
	pinned, err := c.pinned()
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b cached) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.hash, b.hash)) })
	for _, entry := range list {
		if total <= limit {
			break
		}
		if pinned[entry.hash] || storage.IsTemporary(entry.hash) && time.Since(entry.used) < staleTemporary {
			continue
		}
		if err := os.Remove(entry.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cache: %w", err)
		}
		total -= entry.size
	}
	return nil
}

// pinned collects the pins of this and of all living processes; those of dead
// ones are removed.
func (c *Cache) pinned() (map[string]bool, error) {
	hashes := map[string]bool{}
	own := map[string]bool{}
	for p := range c.pins {
		own[p.file.Name()] = true
		p.mu.Lock()
		for h := range p.held {
			hashes[h] = true
		}
		p.mu.Unlock()
	}
	names, err := filepath.Glob(filepath.Join(c.dir, "pins", "pin-*"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !own[name] {
			readPins(name, hashes)
		}
	}
	return hashes, nil
}

func readPins(name string, hashes map[string]bool) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return // released meanwhile
	}
	defer func() { _ = file.Close() }()
	if storage.LockFile(file) == nil {
		_ = os.Remove(name) // its process has ended
		return
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return
	}
	const line = 2*sha256.Size + 1
	for ; len(data) >= line; data = data[line:] {
		hashes[string(data[:line-1])] = true
	}
}
