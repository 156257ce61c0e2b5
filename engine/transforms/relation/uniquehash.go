package relation

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// UniqueRowsByHashSet passes the first of all rows with equal keys, in the order
// of the input, which need not be sorted. Keys beyond the memory budget go through
// temporary files; their rows come out last, in the same order.
var UniqueRowsByHashSet = transform.Define[UniqueHashSettings](transform.About{
	ID:            "UniqueRowsByHashSet",
	Name:          "Unique rows (HashSet)",
	Category:      transform.Reshape,
	Summary:       "Drop rows whose key was seen before.",
	HandlesErrors: true,
	RowNeutral:    []string{"store_values"},
})

// UniqueHashSettings lists the settings in the order the form shows them.
type UniqueHashSettings struct {
	Keys             []NamedField `hop:"fields>field" help:"Fields to compare; none: all"`
	StoreValues      bool         `hop:"store_values" advanced:"true" label:"Compare values" help:"Values are always compared, not only their hashes"`
	RejectDuplicates bool         `hop:"reject_duplicate_row" advanced:"true" help:"Duplicates go to the error hop when there is one"`
	ErrorDescription string       `hop:"error_description" help:"Description of rejected duplicates"`
}

// Output implements transform.Settings.
func (s *UniqueHashSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(mainSchema(l))
}

// Start implements transform.Settings.
func (s *UniqueHashSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	var names []string
	for _, k := range s.Keys {
		names = append(names, k.Name)
	}
	why, err := duplicateError(env, s.ErrorDescription, "UNRH001", names)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = mainSchema(l).Names()
	}
	k, err := namedKeys(env.Semantics, mainSchema(l), names...)
	if err != nil {
		return nil, err
	}
	p := &uniqueHash{env: env, schema: mainSchema(l), keys: k, why: why}
	p.seen = &seenKeys{uniqueHash: p, index: newIndex()}
	return p, nil
}

type uniqueHash struct {
	transform.Stateful
	transform.TakesRaw
	env    *transform.Env
	schema *batch.Schema
	keys   *keys
	why    transform.RowError
	seen   *seenKeys
	rows   int64
}

// hashedKeys are the normalised keys of a batch's selected rows.
type hashedKeys struct {
	hashes []uint32
	data   []byte
	ends   []int
}

func (h *hashedKeys) key(n int) []byte {
	from := 0
	if n > 0 {
		from = h.ends[n-1]
	}
	return h.data[from:h.ends[n]]
}

// Encode implements transform.Encoder.
func (p *uniqueHash) Encode(_ context.Context, b *batch.Batch) (any, error) {
	cols, field, err := p.keys.columns(nil, b)
	if err != nil {
		return nil, valueError(p.env.Transform, field, b, 0, err)
	}
	h := &hashedKeys{hashes: make([]uint32, 0, b.Rows()), ends: make([]int, 0, b.Rows())}
	for i := range b.All() {
		from := len(h.data)
		h.data = p.keys.append(h.data, cols, i, 0)
		h.ends = append(h.ends, len(h.data))
		h.hashes = append(h.hashes, hashOf(h.data[from:]))
	}
	return h, nil
}

// Apply implements transform.RowWise.
func (p *uniqueHash) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	h, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, h, emit)
}

// ApplyEncoded implements transform.Encoder.
func (p *uniqueHash) ApplyEncoded(_ context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	numbered := b
	if p.seen.frozen {
		numbered = p.numbered(b)
		defer numbered.Release()
	}
	err := p.seen.add(numbered, encoded.(*hashedKeys), emit, func(rows *batch.Batch) error { return emit(transform.Main, p.plain(rows)) })
	p.rows += int64(b.Rows())
	return err
}

// withNumber is the schema of rows in temporary files.
func (p *uniqueHash) withNumber() *batch.Schema {
	return batch.NewSchema(append(p.schema.Clone().Fields, batch.NewField(seqName, batch.Integer))...)
}

// numbered gives b with the row numbers appended (one hold).
func (p *uniqueHash) numbered(b *batch.Batch) *batch.Batch {
	seq := p.env.Alloc.Column(batch.Integer)
	seq.Extend(b.Physical())
	n := p.rows
	for i := range b.All() {
		seq.Ints[i] = n
		n++
	}
	return b.With(p.withNumber(), seq)
}

// plain gives rows without their numbers (one hold); it takes over one hold.
func (p *uniqueHash) plain(b *batch.Batch) *batch.Batch {
	defer b.Release()
	return b.Pick(p.schema, allFields(p.schema))
}

// reject counts duplicates and sends them to the error hop when there is one.
func (p *uniqueHash) reject(b *batch.Batch, rows []int32, emit transform.Emit) error {
	if len(rows) == 0 {
		return nil
	}
	if p.env.Errors == nil {
		p.env.Counters.Rejected.Add(int64(len(rows)))
		return nil
	}
	base := p.plain(b.Retain())
	defer base.Release()
	rej := p.env.Rejects(base)
	for _, i := range rows {
		if err := rej.Add(int(i), p.why); err != nil {
			return err
		}
	}
	return rej.Flush(base, emit)
}

// Finish implements transform.Finisher: the rows that were set aside.
func (p *uniqueHash) Finish(ctx context.Context, emit transform.Emit) error {
	p.seen.free()
	return p.seen.finishParts(ctx, emit, func(b *batch.Batch) error { return emit(transform.Main, p.plain(b)) })
}

// Close frees what an execution that failed left behind.
func (p *uniqueHash) Close() error { return p.seen.close() }

// seenKeys is the keys that were seen, as many as memory allows. Rows of other
// keys are set aside in files, parted by hash, when it is full.
type seenKeys struct {
	*uniqueHash
	index   *index
	depth   int
	frozen  bool
	granted int64
	parts   [groupParts]*groupPart
}

// add emits the rows of b whose keys are new. In a frozen set, rows carry their
// numbers.
func (s *seenKeys) add(b *batch.Batch, h *hashedKeys, emit transform.Emit, unique func(*batch.Batch) error) error {
	first := make([]int32, 0, b.Rows())
	var repeated []int32
	for n, hash := range h.hashes {
		i := int32(b.Row(n))
		if s.frozen {
			if s.index.find(hash, h.key(n)) >= 0 {
				repeated = append(repeated, i)
			} else {
				s.setAside(hash, i)
			}
			continue
		}
		if _, found := s.index.put(hash, h.key(n)); found {
			repeated = append(repeated, i)
			continue
		}
		first = append(first, i)
	}
	if s.frozen {
		if err := s.write(b); err != nil {
			return err
		}
	} else {
		s.account()
	}
	if err := s.reject(b, repeated, emit); err != nil || len(first) == 0 {
		return err
	}
	return unique(b.Select(first))
}

func (s *seenKeys) setAside(hash uint32, i int32) {
	n := hash >> (32 - groupPartBits*(s.depth+1)) & (groupParts - 1)
	if s.parts[n] == nil {
		s.parts[n] = &groupPart{}
	}
	s.parts[n].sel = append(s.parts[n].sel, i)
}

func (s *seenKeys) write(b *batch.Batch) error {
	for _, p := range s.parts {
		if p == nil || len(p.sel) == 0 {
			continue
		}
		if err := p.write(s.env, b); err != nil {
			return err
		}
	}
	return nil
}

func (s *seenKeys) account() {
	used := s.index.bytes()
	more := used - s.granted
	if more < accountStep || used < tableAllowance {
		return
	}
	if s.env.Memory.Request(more) {
		s.granted += more
		return
	}
	s.frozen = s.depth < maxGroupDepth
}

// finishParts goes through the rows that were set aside and gives the unique ones
// in the order of the input, with their numbers.
func (s *seenKeys) finishParts(ctx context.Context, emit transform.Emit, unique func(*batch.Batch) error) (err error) {
	var runs []*run
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.close())
		}
	}()
	for n, p := range s.parts {
		if p == nil {
			continue
		}
		r := &run{}
		runs = append(runs, r)
		if r.file, err = s.env.Spill.Create(); err != nil {
			return err
		}
		if err := s.finishPart(ctx, p, r.file, emit); err != nil {
			return err
		}
		s.parts[n] = nil
	}
	if len(runs) == 0 {
		return nil
	}
	schema := s.withNumber()
	order, err := newKeys(s.env.Semantics, schema, []keyField{{index: schema.Len() - 1}})
	if err != nil {
		return err
	}
	m, err := newMerger(ctx, &sortProcessor{env: s.env, keys: order}, schema, runs, batch.MaxRows)
	if err != nil {
		return err
	}
	defer m.close()
	return m.each(unique)
}

func (s *seenKeys) finishPart(ctx context.Context, p *groupPart, to transform.SpillFile, emit transform.Emit) (err error) {
	sub := &seenKeys{uniqueHash: s.uniqueHash, index: newIndex(), depth: s.depth + 1}
	defer func() { err = errors.Join(err, sub.close()) }()
	keep := func(b *batch.Batch) error {
		defer b.Release()
		return to.Write(b)
	}
	in, err := p.file.Reader(s.withNumber())
	if err != nil {
		return err
	}
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		h, err := s.Encode(ctx, b)
		if err == nil {
			err = sub.add(b, h.(*hashedKeys), emit, keep)
		}
		b.Release()
		if err != nil {
			return err
		}
	}
	f := p.file
	p.file = nil
	if err := f.Close(); err != nil {
		return err
	}
	sub.free()
	return sub.finishParts(ctx, emit, keep)
}

func (s *seenKeys) free() {
	s.env.Memory.Release(s.granted)
	s.granted, s.index = 0, newIndex()
}

func (s *seenKeys) close() error {
	s.free()
	var err error
	for n, p := range s.parts {
		if p != nil && p.file != nil {
			err = errors.Join(err, p.file.Close())
		}
		s.parts[n] = nil
	}
	return err
}
