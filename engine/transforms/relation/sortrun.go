package relation

import (
	"context"
	"math/bits"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// entry is one row of a run: 16 bytes of its normalised key, and where it is.
type entry struct {
	hi, lo   uint64
	src, row uint32
}

// entryCost is the memory of a row's entry and of its place in the radix sort.
const entryCost = 2 * 24

// run is a sorted part of the input, in memory or on disk. Runs are stable among
// each other: all rows of one came before all rows of the next.
type run struct {
	batches []*batch.Batch
	cols    [][]*batch.Column // typed key columns of each batch
	entries []entry           // sorted; nil before
	first   int64             // rows of the input before it
	rows    int
	bytes   int64 // of the batches and entries
	granted int64 // of them by the memory budget
	long    bool  // some keys are longer than their prefix

	in    transform.Reader // rows that are sorted already; nil for a run of a sorter
	file  transform.SpillFile
	level int  // how often the rows were merged
	busy  bool // queued or with a worker
}

// add takes over one hold of b.
func (r *run) add(b *batch.Batch, bytes, granted int64) {
	r.batches = append(r.batches, b)
	r.rows += b.Physical()
	r.bytes += bytes
	r.granted += granted
}

// free gives the memory back and says how much it was.
func (r *run) free(m transform.Memory) int64 {
	for _, b := range r.batches {
		b.Release()
	}
	n := r.granted
	m.Release(n)
	r.batches, r.cols, r.entries, r.granted = nil, nil, nil, 0
	return n
}

func (r *run) close(m transform.Memory) error {
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
	spare []entry // of a run that was spilled
}

func (w *runWorker) do(ctx context.Context, j sortJob) error {
	r := j.run
	if j.merge != nil {
		return w.merge(ctx, r, j.merge)
	}
	if r.entries == nil {
		if err := w.sort(r); err != nil {
			return err
		}
	}
	if !j.spill {
		return nil
	}
	if err := w.write(ctx, r, []*run{r}); err != nil {
		return err
	}
	w.spare = r.entries
	return nil
}

func (w *runWorker) merge(ctx context.Context, into *run, parts []*run) error {
	for _, p := range parts {
		into.rows += p.rows
		into.bytes += p.bytes
		into.long = into.long || p.long
	}
	return w.write(ctx, into, parts)
}

// write merges parts into the file of a run.
func (w *runWorker) write(ctx context.Context, into *run, parts []*run) error {
	perRow := max(1, w.bytesPerRow(parts))
	m, err := newMerger(ctx, w.sorter, parts, min(batch.MaxRows, max(1, frameBytes/perRow)))
	if err != nil {
		return err
	}
	defer m.close()
	file, err := w.env.Spill.Create()
	if err != nil {
		return err
	}
	err = m.each(func(b *batch.Batch) error {
		defer b.Release()
		return file.Write(b)
	})
	if err != nil {
		_ = file.Close()
		return err
	}
	into.file = file
	return nil
}

func (w *runWorker) bytesPerRow(parts []*run) int {
	var rows, bytes int64
	for _, p := range parts {
		rows += int64(p.rows)
		bytes += p.bytes
	}
	if rows == 0 {
		return 0
	}
	return int(bytes/rows) - entryCost
}

// sort makes the entries of a run and orders them.
func (w *runWorker) sort(r *run) error {
	if cap(w.spare) >= r.rows {
		r.entries, w.spare = w.spare[:0], nil
	} else {
		r.entries = make([]entry, 0, r.rows)
	}
	before := r.first
	for n, b := range r.batches {
		cols, field, err := w.keys.columns(nil, b)
		if err != nil {
			return valueError(w.env.Transform, field, b, before, err)
		}
		before += int64(b.Physical())
		r.cols = append(r.cols, cols)
		for i := range b.Physical() {
			hi, lo, rest := w.keys.prefix(cols, i, 0)
			r.long = r.long || rest > prefixBytes
			r.entries = append(r.entries, entry{hi, lo, uint32(n), uint32(i)})
		}
	}
	if cap(w.other) < r.rows {
		w.other = make([]entry, r.rows)
	}
	r.radix(w.keys, r.entries, w.other[:r.rows], 0)
	return nil
}

// insertionMax is the size below which a part is sorted by insertion.
const insertionMax = 24

// radix sorts a by the keys' bytes from offset depth on, most significant first
// and stable. It goes on with the next 16 bytes where the prefixes are equal.
func (r *run) radix(k *keys, a, other []entry, depth int) {
	if len(a) <= insertionMax {
		r.insertion(k, a)
		return
	}
	byteAt, differ := firstDifference(a)
	if differ {
		r.scatter(k, a, other, depth, byteAt)
		return
	}
	if !r.long {
		return
	}
	hi, lo := a[0].hi, a[0].lo
	if r.reload(k, a, depth+prefixBytes) {
		r.radix(k, a, other, depth+prefixBytes)
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

func (r *run) scatter(k *keys, a, other []entry, depth, byteAt int) {
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
			r.radix(k, a[from:end], other[from:end], depth)
		}
		from = end
	}
}

// reload gives entries with equal prefixes the next 16 bytes of their keys; false
// when the keys have ended, which they do all or none.
func (r *run) reload(k *keys, a []entry, depth int) bool {
	goesOn := false
	for i := range a {
		var rest int
		a[i].hi, a[i].lo, rest = k.prefix(r.cols[a[i].src], int(a[i].row), depth)
		goesOn = goesOn || rest > 0
	}
	return goesOn
}

func (r *run) insertion(k *keys, a []entry) {
	for i := 1; i < len(a); i++ {
		e := a[i]
		n := i
		for n > 0 && r.less(k, e, a[n-1]) {
			a[n] = a[n-1]
			n--
		}
		a[n] = e
	}
}

func (r *run) less(k *keys, x, y entry) bool {
	switch {
	case x.hi != y.hi:
		return x.hi < y.hi
	case x.lo != y.lo:
		return x.lo < y.lo
	}
	return r.long && k.compare(r.cols[x.src], int(x.row), r.cols[y.src], int(y.row)) < 0
}
