package relation

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// entry is one row of a run: 16 bytes of its normalised key, and where it is.
type entry struct {
	hi, lo    uint64
	chunk, at uint32
}

// entryCost is the memory of a row's entry and a share of the buffers of the radix
// sorts, which are as long as a run each.
const entryCost = 24 + 8

// rowRun is a sorted part of the input, in memory or on disk. Runs are stable among
// each other: all rows of one came before all rows of the next.
type rowRun struct {
	chunks  [][]byte // packed rows
	entries []entry
	sorted  bool
	rows    int
	bytes   int64 // of the chunks and entries
	granted int64 // of them by the memory budget
	long    bool  // some keys are longer than their prefix

	file  transform.BlockFile // rows in order, each behind its 16 bytes of key
	level int                 // how often the rows were merged
	busy  bool                // queued or with a worker
}

// add takes over a chunk and copies the entries of its rows.
func (r *rowRun) add(chunk []byte, rows []entry, bytes, granted int64) {
	n := uint32(len(r.chunks))
	r.chunks = append(r.chunks, chunk)
	for _, e := range rows {
		e.chunk = n
		r.entries = append(r.entries, e)
	}
	r.rows += len(rows)
	r.bytes += bytes
	r.granted += granted
}

func (r *rowRun) row(e *entry) storedRow { return storedRow(r.chunks[e.chunk][e.at:]) }

// free gives the memory back and says how much it was.
func (r *rowRun) free(m transform.Memory) int64 {
	n := r.granted
	m.Release(n)
	r.chunks, r.entries, r.granted = nil, nil, 0
	return n
}

func (r *rowRun) close(m transform.Memory) error {
	r.free(m)
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// runWorker does the jobs of a sorter, one at a time.
type runWorker struct {
	*sorter
	other []entry // the second buffer of the radix sort
	block []byte
	seen  byte // keeps the reads of fetch
}

func (w *runWorker) do(ctx context.Context, j sortJob) error {
	r := j.run
	if j.merge != nil {
		return w.merge(ctx, r, j.merge)
	}
	if !r.sorted {
		w.sort(r)
	}
	if !j.spill {
		return nil
	}
	return w.write(ctx, r, []*rowRun{r})
}

func (w *runWorker) merge(ctx context.Context, into *rowRun, parts []*rowRun) error {
	for _, p := range parts {
		into.rows += p.rows
		into.bytes += p.bytes
		into.long = into.long || p.long
	}
	return w.write(ctx, into, parts)
}

// write merges parts into the file of a run.
func (w *runWorker) write(ctx context.Context, into *rowRun, parts []*rowRun) error {
	m, err := newRowMerger(ctx, w.sorter, parts, batch.MaxRows)
	if err != nil {
		return err
	}
	defer m.close()
	file, err := w.env.Spill.CreateBlocks()
	if err != nil {
		return err
	}
	w.block = w.block[:0]
	err = m.each(func(rows []storedRow, heads []head) error { return w.append(file, rows, heads) })
	if err == nil && len(w.block) > 0 {
		err = file.Write(w.block)
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	into.file = file
	return nil
}

// append adds rows to the block and writes it when it is full.
func (w *runWorker) append(file transform.BlockFile, rows []storedRow, heads []head) error {
	for i, r := range rows {
		if i%rowsAtOnce == 0 {
			w.seen |= fetch(rows[i:min(i+rowsAtOnce, len(rows))])
		}
		end := r.end()
		w.block = binary.LittleEndian.AppendUint64(w.block, heads[i].hi)
		w.block = binary.LittleEndian.AppendUint64(w.block, heads[i].lo)
		w.block = append(w.block, r[:end]...)
		if len(w.block) >= runBlockBytes {
			if err := file.Write(w.block); err != nil {
				return err
			}
			w.block = w.block[:0]
		}
	}
	return nil
}

// sort orders the entries of a run.
func (w *runWorker) sort(r *rowRun) {
	if cap(w.other) < r.rows {
		w.other = make([]entry, r.rows)
	}
	r.radix(r.entries, w.other[:r.rows], 0)
	r.sorted = true
}

// insertionMax is the size below which a part is sorted by insertion.
const insertionMax = 24

// radix sorts a by the keys' bytes from offset depth on, most significant first
// and stable. It goes on with the next 16 bytes where the prefixes are equal.
func (r *rowRun) radix(a, other []entry, depth int) {
	if len(a) <= insertionMax {
		r.insertion(a)
		return
	}
	byteAt, differ := firstDifference(a)
	if differ {
		r.scatter(a, other, depth, byteAt)
		return
	}
	if !r.long {
		return
	}
	hi, lo := a[0].hi, a[0].lo
	if r.reload(a, depth+prefixBytes) {
		r.radix(a, other, depth+prefixBytes)
	}
	for i := range a {
		a[i].hi, a[i].lo = hi, lo
	}
}

// firstDifference finds the first byte in which prefixes differ.
func firstDifference(a []entry) (byteAt int, differ bool) {
	var hi, lo uint64
	h, l := a[0].hi, a[0].lo
	for i := range a {
		hi |= a[i].hi ^ h
		lo |= a[i].lo ^ l
	}
	if hi != 0 {
		return bits.LeadingZeros64(hi) / 8, true
	}
	if lo != 0 {
		return 8 + bits.LeadingZeros64(lo)/8, true
	}
	return 0, false
}

func (r *rowRun) scatter(a, other []entry, depth, byteAt int) {
	var ends [256]int
	shift := uint(56 - 8*(byteAt&7))
	if byteAt < 8 {
		for i := range a {
			ends[byte(a[i].hi>>shift)]++
		}
	} else {
		for i := range a {
			ends[byte(a[i].lo>>shift)]++
		}
	}
	at := 0
	for i, n := range ends {
		ends[i] = at
		at += n
	}
	for i := range a {
		w := a[i].hi
		if byteAt >= 8 {
			w = a[i].lo
		}
		b := byte(w >> shift)
		other[ends[b]] = a[i]
		ends[b]++
	}
	copy(a, other)
	from := 0
	for _, end := range ends {
		if end-from > 1 {
			r.radix(a[from:end], other[from:end], depth)
		}
		from = end
	}
}

// reload gives entries with equal prefixes the next 16 bytes of their keys; false
// when the keys have ended, which they do all or none.
func (r *rowRun) reload(a []entry, depth int) bool {
	goesOn := false
	for i := range a {
		rest := r.row(&a[i]).rest()
		rest = rest[min(depth-prefixBytes, len(rest)):]
		a[i].hi, a[i].lo = keyPrefix(rest)
		goesOn = goesOn || len(rest) > 0
	}
	return goesOn
}

func (r *rowRun) insertion(a []entry) {
	for i := 1; i < len(a); i++ {
		e := a[i]
		n := i
		for n > 0 && r.less(e, a[n-1]) {
			a[n] = a[n-1]
			n--
		}
		a[n] = e
	}
}

func (r *rowRun) less(x, y entry) bool {
	switch {
	case x.hi != y.hi:
		return x.hi < y.hi
	case x.lo != y.lo:
		return x.lo < y.lo
	}
	return r.long && bytes.Compare(r.row(&x).rest(), r.row(&y).rest()) < 0
}
