package relation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// lookupSide is the rows that are looked up in: an index of their keys, and their
// values in blocks in memory or in frames on disk. After read it is immutable and
// safe for many goroutines.
type lookupSide struct {
	env    *transform.Env
	at     []int // value fields in the lookup rows
	schema *batch.Schema
	codecs []*batch.Codec

	index  *index
	where  []rowRef // row of each key: block or frame, and row in it
	blocks []*batch.Batch
	cols   [][]*batch.Column // by value field, by block; all raw or all typed
	raw    []bool            // value fields that came as raw text in every batch
	miss   []batch.Value     // of rows without a match, as text for raw fields

	waiting  []*batch.Batch // rows of the next block
	waitRows int
	waitSize int

	file    sectionFile // set once the values are on disk
	offsets []int64     // where frames begin and the last one ends
	granted int64
	counted int64 // bytes of blocks in memory
	stays   bool  // values stay in memory, come what may
	warned  bool
}

// sectionFile is a spill file that can be read from the middle.
type sectionFile interface {
	transform.SpillFile
	Flush() error
	Section(schema *batch.Schema, from, end int64) transform.Reader
}

const (
	// noRow marks rows without a match.
	noRow = ^uint32(0)
	// blockRows and blockBytes bound a block: text offsets have 32 bits.
	blockRows  = 1 << 20
	blockBytes = 1 << 29
	// lookupFrame is how many rows are read at once when values are on disk: few,
	// as most of them are not needed.
	lookupFrame = 256
)

func newLookupSide(env *transform.Env, at []int, fields []batch.Field, defaults []batch.Value) (*lookupSide, error) {
	s := &lookupSide{env: env, at: at, schema: batch.NewSchema(fields...), index: newIndex(), miss: defaults}
	var err error
	s.codecs, err = env.Semantics.Codecs(s.schema)
	return s, err
}

// read takes all rows of in.
func (s *lookupSide) read(ctx context.Context, in transform.Reader, k *keys, text bool) error {
	var cols []*batch.Column
	var key []byte
	before := int64(0)
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var field string
		if cols, field, err = k.columns(cols[:0], b); err != nil {
			err = valueError(s.env.Transform, field, b, before, err)
			b.Release()
			return err
		}
		n := 0
		for i := range b.All() {
			if text {
				key = append(key[:0], cols[0].Bytes(i)...)
			} else {
				key = k.append(key[:0], cols, i, 0)
			}
			s.put(key, n)
			n++
		}
		before += int64(n)
		if err := s.keep(b); err != nil {
			return err
		}
	}
	return s.settle()
}

// settle makes the side ready for many readers.
func (s *lookupSide) settle() error {
	if err := s.endBlock(); err != nil {
		return err
	}
	if s.raw == nil {
		s.raw = make([]bool, s.schema.Len())
	}
	for k, raw := range s.raw {
		if raw && s.miss[k].Valid {
			s.miss[k].Text = s.codecs[k].Text(s.miss[k])
		}
		for i, b := range s.blocks {
			if raw {
				continue
			}
			c, err := b.Col(k, s.codecs[k])
			if err != nil {
				return valueError(s.env.Transform, s.schema.Fields[k].Name, b, 0, err)
			}
			s.cols[k][i] = c
		}
	}
	if s.file != nil {
		return s.file.Flush()
	}
	return nil
}

// put points a key at the n-th row of the batch that keep is to get next.
func (s *lookupSide) put(key []byte, n int) {
	id, found := s.index.put(hashOf(key), key)
	ref := rowRef{uint32(len(s.blocks)), uint32(s.waitRows + n)}
	if s.file != nil {
		ref = rowRef{uint32(len(s.offsets)-1) + uint32(n/lookupFrame), uint32(n % lookupFrame)}
	}
	if found {
		s.where[id] = ref
		return
	}
	s.where = append(s.where, ref)
}

// keep takes over one hold of b and stores the values of its rows.
func (s *lookupSide) keep(b *batch.Batch) error {
	defer b.Release()
	picked := b.Pick(s.schema, s.at)
	values := picked.Dense()
	picked.Release()
	s.noteRaw(values)
	if s.file != nil {
		defer values.Release()
		s.account(s.keyBytes())
		return s.writeFrames(values)
	}
	size := values.Bytesize()
	s.waiting = append(s.waiting, values)
	s.waitRows += values.Physical()
	s.waitSize += size
	s.counted += int64(2 * size) // rows wait while their block is being made
	if !s.account(s.keyBytes()+s.counted) && !s.stays {
		return s.toDisk()
	}
	if s.waitRows >= blockRows || s.waitSize >= blockBytes {
		return s.endBlock()
	}
	return nil
}

func (s *lookupSide) noteRaw(b *batch.Batch) {
	first := s.raw == nil
	if first {
		s.raw = make([]bool, len(b.Cols))
	}
	for k, c := range b.Cols {
		s.raw[k] = c.Raw && (first || s.raw[k])
	}
}

func (s *lookupSide) keyBytes() int64 { return s.index.bytes() + int64(8*cap(s.where)) }

// account asks for memory up to a total. Keys go on without it, as there is no
// other place for them.
func (s *lookupSide) account(total int64) bool {
	more := total - s.granted
	if more < accountStep {
		return true
	}
	if !s.env.Memory.Request(more) {
		if s.file != nil && !s.warned {
			s.warned = true
			s.env.Log.Warn("Lookup keys exceed the memory budget", "transform", s.env.Transform, "rows", s.index.len(), "bytes", total)
		}
		return false
	}
	s.granted += more
	return true
}

// endBlock makes a block of the waiting rows.
func (s *lookupSide) endBlock() error {
	if len(s.waiting) == 0 {
		return nil
	}
	defer func() {
		for _, b := range s.waiting {
			b.Release()
		}
		s.waiting, s.waitRows, s.waitSize = nil, 0, 0
	}()
	cols := make([]*batch.Column, 0, s.schema.Len())
	for k := range s.schema.Fields {
		c, err := s.concat(k)
		if err != nil {
			releaseColumns(cols)
			return err
		}
		cols = append(cols, c)
	}
	b := s.env.Alloc.Assemble(s.schema, cols, s.waitRows)
	s.blocks = append(s.blocks, b)
	if s.cols == nil {
		s.cols = make([][]*batch.Column, len(cols))
	}
	for k := range cols {
		s.cols[k] = append(s.cols[k], cols[k])
	}
	return nil
}

// concat joins the waiting columns of a field; the result is raw when all are.
func (s *lookupSide) concat(k int) (*batch.Column, error) {
	size, raw := 0, true
	for _, b := range s.waiting {
		size += len(b.Cols[k].Data)
		raw = raw && b.Cols[k].Raw
	}
	out := newColumn(s.env.Alloc, s.schema.Fields[k].Type, raw)
	if out.IsText() {
		out.Data = make([]byte, 0, size)
		out.Offsets = append(make([]int32, 0, s.waitRows+1), 0)
	}
	for _, b := range s.waiting {
		c := b.Cols[k]
		if !raw {
			var err error
			if c, err = b.Col(k, s.codecs[k]); err != nil {
				out.Release()
				return nil, valueError(s.env.Transform, s.schema.Fields[k].Name, b, 0, err)
			}
		}
		out.AppendColumn(c)
	}
	return out, nil
}

// toDisk moves the values of all rows so far to a file. A spill that cannot be
// read from the middle leaves them in memory.
func (s *lookupSide) toDisk() error {
	f, err := s.env.Spill.Create()
	if err != nil {
		return err
	}
	file, ok := f.(sectionFile)
	if !ok {
		s.stays = true
		return f.Close()
	}
	if err := s.endBlock(); err != nil {
		return errors.Join(err, file.Close())
	}
	s.file, s.offsets = file, []int64{0}
	var first []uint32 // frame of each block's first row
	for _, b := range s.blocks {
		first = append(first, uint32(len(s.offsets)-1))
		if err := s.writeFrames(b); err != nil {
			return err
		}
	}
	for i, r := range s.where {
		s.where[i] = rowRef{first[r.src] + r.row/lookupFrame, r.row % lookupFrame}
	}
	s.freeBlocks()
	s.env.Memory.Release(s.granted)
	s.granted = 0
	s.account(s.keyBytes())
	s.env.Log.Info("Lookup values are kept on disk", "transform", s.env.Transform, "rows", s.index.len(), "bytes", file.Bytes())
	return nil
}

// writeFrames writes the rows of a dense batch, which it borrows.
func (s *lookupSide) writeFrames(b *batch.Batch) error {
	for from := 0; from < b.Rows(); from += lookupFrame {
		part := b.Slice(from, min(from+lookupFrame, b.Rows()))
		err := s.file.Write(part)
		part.Release()
		if err != nil {
			return err
		}
		s.offsets = append(s.offsets, s.file.Bytes())
	}
	return nil
}

func (s *lookupSide) freeBlocks() {
	for _, b := range s.blocks {
		b.Release()
	}
	s.blocks, s.cols = nil, nil
}

// find gives the row of a key; its src is noRow when there is none. guess is what
// the index made of the hash, or -1.
func (s *lookupSide) find(guess int32, hash uint32, key []byte) rowRef {
	if s.index.is(guess, key) {
		return s.where[guess]
	}
	n := s.index.find(hash, key)
	if n < 0 {
		return rowRef{src: noRow}
	}
	return s.where[n]
}

// gather gives the value columns (one hold each) of the rows.
func (s *lookupSide) gather(ctx context.Context, refs []rowRef) ([]*batch.Column, error) {
	if s.file != nil {
		return s.gatherFile(ctx, refs)
	}
	out := make([]*batch.Column, len(s.at))
	for k := range out {
		var from []*batch.Column
		if s.cols != nil {
			from = s.cols[k]
		}
		out[k] = gatherOr(newColumn(s.env.Alloc, s.schema.Fields[k].Type, s.raw[k]), from, refs, s.miss[k])
	}
	return out, nil
}

// gatherFile reads the frames that hold the rows, each once, and keeps of them
// only those rows.
func (s *lookupSide) gatherFile(ctx context.Context, refs []rowRef) ([]*batch.Column, error) {
	order := make([]int32, 0, len(refs))
	for i, r := range refs {
		if r.src != noRow {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := int(refs[a].src) - int(refs[b].src); c != 0 {
			return c
		}
		return int(a - b)
	})
	found := make([]*batch.Column, len(s.at))
	for k := range found {
		found[k] = newColumn(s.env.Alloc, s.schema.Fields[k].Type, s.raw[k])
	}
	defer releaseColumns(found)
	moved := make([]rowRef, len(refs))
	for i := range moved {
		moved[i].src = noRow
	}
	for n := 0; n < len(order); {
		frame := refs[order[n]].src
		end := n
		for ; end < len(order) && refs[order[end]].src == frame; end++ {
			moved[order[end]] = rowRef{0, uint32(end)}
		}
		if err := s.copyFrom(ctx, frame, found, refs, order[n:end]); err != nil {
			return nil, err
		}
		n = end
	}
	out := make([]*batch.Column, len(s.at))
	for k := range out {
		out[k] = gatherOr(newColumn(s.env.Alloc, s.schema.Fields[k].Type, s.raw[k]), found[k:k+1], moved, s.miss[k])
	}
	return out, nil
}

// copyFrom appends the rows of a frame that refs of some positions name.
func (s *lookupSide) copyFrom(ctx context.Context, frame uint32, to []*batch.Column, refs []rowRef, positions []int32) error {
	b, err := s.file.Section(s.schema, s.offsets[frame], s.offsets[frame+1]).Next(ctx)
	if err != nil {
		return fmt.Errorf("read a lookup row: %w", err)
	}
	defer b.Release()
	for k, out := range to {
		c := b.Cols[k]
		if !s.raw[k] {
			if c, err = b.Col(k, s.codecs[k]); err != nil {
				return valueError(s.env.Transform, s.schema.Fields[k].Name, b, 0, err)
			}
		}
		for _, o := range positions {
			out.AppendFrom(c, int(refs[o].row))
		}
	}
	return nil
}

// close frees everything.
func (s *lookupSide) close() error {
	s.freeBlocks()
	for _, b := range s.waiting {
		b.Release()
	}
	s.waiting = nil
	s.env.Memory.Release(s.granted)
	s.granted = 0
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
