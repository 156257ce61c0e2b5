package relation

import (
	"context"
	"errors"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// groupPlan is what all tables of one grouping share.
type groupPlan struct {
	env     *transform.Env
	dialect dialect
	specs   []aggregate
	out     *batch.Schema // group fields, then aggregates
}

// groupTable holds groups in memory. When memory is refused it takes no new
// groups any more: rows of other groups go to files, parted by the hash of their
// key, with their number. Each part is grouped by a table of its own afterwards;
// the row numbers bring the groups back into the order of first sight.
type groupTable struct {
	*groupPlan
	schema *batch.Schema // of the input
	at     []int         // group fields in it
	seqAt  int           // row number in it, -1 when rows come numbered by the caller
	depth  int

	keys  *keys
	text  bool // the key is the text of one column
	agg   *aggregation
	index *index
	heads []*batch.Batch // group fields and first row numbers, batch.MaxRows groups each
	ids   []int32        // scratch
	best  []int32        // scratch

	granted int64
	frozen  bool
	needed  []int // columns that are written to parts
	parts   [groupParts]*groupPart
	partOf  *groupTable // table that groups the parts, without rows of its own
}

// table makes an empty table for rows of a schema.
func (p *groupPlan) table(in *batch.Schema, at []int, depth int) (*groupTable, error) {
	t := &groupTable{groupPlan: p, schema: in, at: at, depth: depth, seqAt: -1, index: newIndex()}
	fields := make([]keyField, len(at))
	for i, k := range at {
		fields[i].index = k
	}
	var err error
	if t.keys, err = newKeys(p.env.Semantics, in, fields); err != nil {
		return nil, err
	}
	t.text = t.keys.isText()
	if t.agg, err = p.dialect.newAggregation(p.env.Semantics, in, p.specs); err != nil {
		return nil, err
	}
	return t, nil
}

// headSchema is the group fields and the number of the first row.
func (t *groupTable) headSchema() *batch.Schema {
	var f []batch.Field
	for _, i := range t.at {
		f = append(f, t.schema.Fields[i])
	}
	return batch.NewSchema(append(f, batch.NewField(seqName, batch.Integer))...)
}

// groupHalf is what can be prepared of a batch without the table.
type groupHalf struct {
	keys   []*batch.Column // typed, borrowed from the batch
	args   []*batch.Column // one hold each
	hashes []uint32        // of the selected rows
	data   []byte          // normalised keys, unless the key is text
	ends   []int
}

func (h *groupHalf) release() { releaseColumns(h.args) }

// prepare may be called by many goroutines at once.
func (t *groupTable) prepare(b *batch.Batch) (*groupHalf, error) {
	h := &groupHalf{hashes: make([]uint32, 0, b.Rows())}
	var field string
	var err error
	if h.keys, field, err = t.keys.columns(nil, b); err != nil {
		return nil, valueError(t.env.Transform, field, b, 0, err)
	}
	if h.args, field, err = t.agg.columns(b); err != nil {
		return nil, valueError(t.env.Transform, field, b, 0, err)
	}
	if t.text {
		for i := range b.All() {
			h.hashes = append(h.hashes, hashOf(h.keys[0].Bytes(i)))
		}
		return h, nil
	}
	h.ends = make([]int, 0, b.Rows())
	for i := range b.All() {
		from := len(h.data)
		h.data = t.keys.append(h.data, h.keys, i, 0)
		h.ends = append(h.ends, len(h.data))
		h.hashes = append(h.hashes, hashOf(h.data[from:]))
	}
	return h, nil
}

// key gives the key of the n-th selected row, which is row i.
func (h *groupHalf) key(t *groupTable, n, i int) []byte {
	if t.text {
		return h.keys[0].Bytes(i)
	}
	from := 0
	if n > 0 {
		from = h.ends[n-1]
	}
	return h.data[from:h.ends[n]]
}

// add folds a batch; first is the number of its first row when the rows do not
// carry their numbers.
func (t *groupTable) add(b *batch.Batch, h *groupHalf, first int64) error {
	t.ids = t.ids[:0]
	t.best = t.index.guess(t.best[:0], h.hashes)
	for n, hash := range h.hashes {
		i := rowAt(b.Sel, n)
		key := h.key(t, n, i)
		if t.index.is(t.best[n], key) {
			t.ids = append(t.ids, t.best[n])
			continue
		}
		if t.frozen {
			id := t.index.find(hash, key)
			if id < 0 {
				p := t.part(hash)
				p.sel = append(p.sel, int32(i))
			}
			t.ids = append(t.ids, int32(id))
			continue
		}
		id, found := t.index.put(hash, key)
		if !found {
			t.addHead(h.keys, i, t.rowNumber(b, first, n, i))
		}
		t.ids = append(t.ids, int32(id))
	}
	t.agg.grow(t.index.len())
	if field, err := t.agg.fold(t.ids, b, h.args); err != nil {
		return valueError(t.env.Transform, field, b, 0, err)
	}
	if t.frozen {
		return t.writeParts(b, first)
	}
	t.account()
	return nil
}

func (t *groupTable) rowNumber(b *batch.Batch, first int64, n, i int) int64 {
	if t.seqAt >= 0 {
		return b.Cols[t.seqAt].Ints[i]
	}
	return first + int64(n)
}

func (t *groupTable) addHead(keys []*batch.Column, i int, seq int64) {
	last := len(t.heads) - 1
	if last < 0 || t.heads[last].Physical() >= batch.MaxRows {
		t.heads = append(t.heads, t.env.Alloc.Batch(t.headSchema()))
		last++
	}
	cols := t.heads[last].Cols
	for k, c := range keys {
		cols[k].AppendFrom(c, i)
	}
	cols[len(keys)].AppendInt(seq)
}

const (
	// accountStep is how much a table grows before it asks for memory.
	accountStep = 64 << 10
	// tableAllowance is what a table takes without asking, so that a starved one
	// does not make files of a few rows each.
	tableAllowance = 512 << 10
)

// account asks for the memory that was taken since; a refusal freezes the table.
// A table that cannot be parted any further goes on.
func (t *groupTable) account() {
	used := t.index.bytes() + t.agg.bytes()
	for _, h := range t.heads {
		used += footprint(h)
	}
	more := used - t.granted
	if more < accountStep || used < tableAllowance {
		return
	}
	if t.env.Memory.Request(more) {
		t.granted += more
		return
	}
	t.frozen = t.depth < maxGroupDepth
}

// finish gives all groups in the order of first sight, with the number of their
// first row appended, and empties the table. emit takes over one hold.
func (t *groupTable) finish(ctx context.Context, emit func(*batch.Batch) error) error {
	schema := batch.NewSchema(append(t.out.Clone().Fields, batch.NewField(seqName, batch.Integer))...)
	from := 0
	for _, h := range t.heads {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		cols := t.agg.results(t.env.Alloc, from, from+h.Physical())
		from += h.Physical()
		all := make([]*batch.Column, 0, schema.Len())
		for _, c := range h.Cols[:len(t.at)] {
			all = append(all, c.Retain())
		}
		all = append(append(all, cols...), h.Cols[len(t.at)].Retain())
		if err := emit(t.env.Alloc.Assemble(schema, all, h.Physical())); err != nil {
			return err
		}
	}
	t.free()
	return t.finishParts(ctx, schema, emit)
}

// free gives back the memory of the groups.
func (t *groupTable) free() {
	for _, h := range t.heads {
		h.Release()
	}
	t.env.Memory.Release(t.granted)
	t.heads, t.granted, t.index = nil, 0, newIndex()
	t.agg.keep(-1)
}

func (t *groupTable) close() error {
	t.free()
	var err error
	for n, p := range t.parts {
		if p != nil && p.file != nil {
			err = errors.Join(err, p.file.Close())
		}
		t.parts[n] = nil
	}
	return err
}
