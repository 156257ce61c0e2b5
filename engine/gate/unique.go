package gate

import (
	"bufio"
	"bytes"
	"container/heap"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// keySum stands for the values of a key; 128 bits of SHA-256, so that two keys
// with one sum need not be thought of.
type keySum [16]byte

// keysInMemory bounds memory: 4 M sums are 64 MiB. Beyond it sorted runs go to
// disk.
const keysInMemory = 4 << 20

// uniqueKeys finds keys that occur twice, in memory that does not grow with the
// rows: the sums are collected, sorted, and neighbours compared at the end.
type uniqueKeys struct {
	fields []string
	folder string // of temporary files; empty: the system's
	most   int

	mu   sync.Mutex // guards what follows
	sums []keySum
	runs []*os.File
}

func newUniqueKeys(fields []string, folder string) *uniqueKeys {
	return &uniqueKeys{fields: fields, folder: folder, most: keysInMemory}
}

func (u *uniqueKeys) add(key []byte) error {
	sum := sha256.Sum256(key)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sums = append(u.sums, keySum(sum[:16]))
	if len(u.sums) < u.most {
		return nil
	}
	return u.spill()
}

func compareSums(a, b keySum) int { return bytes.Compare(a[:], b[:]) }

func (u *uniqueKeys) spill() error {
	slices.SortFunc(u.sums, compareSums)
	if err := u.twice(u.sums); err != nil {
		return err
	}
	f, err := os.CreateTemp(u.folder, "sluice-keys-")
	if err != nil {
		return fmt.Errorf("check unique keys: %w", err)
	}
	u.runs = append(u.runs, f)
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range u.sums {
		if _, err := w.Write(u.sums[i][:]); err != nil {
			return fmt.Errorf("check unique keys: %w", err)
		}
	}
	u.sums = u.sums[:0]
	if err := w.Flush(); err != nil {
		return fmt.Errorf("check unique keys: %w", err)
	}
	return nil
}

func (u *uniqueKeys) duplicate() error {
	return violated("two rows have the same %s", strings.Join(u.fields, ", "))
}

func (u *uniqueKeys) twice(sorted []keySum) error {
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return u.duplicate()
		}
	}
	return nil
}

// check tells whether all keys differ.
func (u *uniqueKeys) check() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	slices.SortFunc(u.sums, compareSums)
	if len(u.runs) == 0 {
		return u.twice(u.sums)
	}
	if err := u.spill(); err != nil {
		return err
	}
	return u.merge()
}

func (u *uniqueKeys) merge() error {
	var h runHeap
	for _, f := range u.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("check unique keys: %w", err)
		}
		r := &keyRun{in: bufio.NewReaderSize(f, 1<<18)}
		if ok, err := r.next(); err != nil {
			return err
		} else if ok {
			h = append(h, r)
		}
	}
	heap.Init(&h)
	var last keySum
	for n := 0; len(h) > 0; n++ {
		r := h[0]
		if n > 0 && r.sum == last {
			return u.duplicate()
		}
		last = r.sum
		ok, err := r.next()
		if err != nil {
			return err
		}
		if ok {
			heap.Fix(&h, 0)
			continue
		}
		heap.Pop(&h)
	}
	return nil
}

func (u *uniqueKeys) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.runs {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	u.runs, u.sums = nil, nil
}

type keyRun struct {
	in  *bufio.Reader
	sum keySum
}

func (r *keyRun) next() (bool, error) {
	_, err := io.ReadFull(r.in, r.sum[:])
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check unique keys: %w", err)
	}
	return true, nil
}

type runHeap []*keyRun

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return compareSums(h[i].sum, h[j].sum) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*keyRun)) }
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
