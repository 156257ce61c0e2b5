package relation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// groupPart is one file of rows whose groups found no place.
type groupPart struct {
	file transform.SpillFile
	sel  []int32
}

const (
	groupPartBits = 4
	groupParts    = 1 << groupPartBits
	maxGroupDepth = 32/groupPartBits - 1
	// seqName names the row number in temporary files.
	seqName = "row number"
)

func (t *groupTable) part(hash uint32) *groupPart {
	// The index uses the lower bits first, so the parts use the upper ones.
	n := hash >> (32 - groupPartBits*(t.depth+1)) & (groupParts - 1)
	if t.parts[n] == nil {
		t.parts[n] = &groupPart{}
	}
	return t.parts[n]
}

// writeParts writes the rows that were set aside.
func (t *groupTable) writeParts(b *batch.Batch, first int64) error {
	rows := 0
	for _, p := range t.parts {
		if p != nil {
			rows += len(p.sel)
		}
	}
	if rows == 0 {
		return nil
	}
	if t.partOf == nil {
		if err := t.planParts(); err != nil {
			return err
		}
	}
	numbered := t.numbered(b, first)
	defer numbered.Release()
	for _, p := range t.parts {
		if p == nil || len(p.sel) == 0 {
			continue
		}
		if err := p.write(t.env, numbered); err != nil {
			return err
		}
	}
	return nil
}

func (p *groupPart) write(env *transform.Env, b *batch.Batch) (err error) {
	if p.file == nil {
		if p.file, err = env.Spill.Create(); err != nil {
			return err
		}
	}
	// The selection is kept by the batch, so it is not reused.
	rows := b.Select(p.sel)
	p.sel = nil
	defer rows.Release()
	return p.file.Write(rows)
}

// planParts decides what is written: the group fields, the subjects and the row
// number.
func (t *groupTable) planParts() error {
	if t.seqAt >= 0 {
		sub, err := t.table(t.schema, t.at, t.depth+1)
		if err != nil {
			return err
		}
		sub.seqAt, t.partOf = t.seqAt, sub
		return nil
	}
	place := map[int]int{}
	var fields []batch.Field
	need := func(i int) int {
		if _, ok := place[i]; !ok {
			place[i] = len(fields)
			t.needed = append(t.needed, i)
			fields = append(fields, t.schema.Fields[i])
		}
		return place[i]
	}
	at := make([]int, len(t.at))
	for k, i := range t.at {
		at[k] = need(i)
	}
	for _, a := range t.agg.args {
		if a.index >= 0 {
			need(a.index)
		}
	}
	fields = append(fields, batch.NewField(seqName, batch.Integer))
	sub, err := t.table(batch.NewSchema(fields...), at, t.depth+1)
	if err != nil {
		return err
	}
	sub.seqAt, t.partOf = len(fields)-1, sub
	return nil
}

// numbered gives the needed columns of b and the row numbers (one hold).
func (t *groupTable) numbered(b *batch.Batch, first int64) *batch.Batch {
	if t.seqAt >= 0 {
		return b.Retain()
	}
	seq := t.env.Alloc.Column(batch.Integer)
	seq.Extend(b.Physical())
	n := first
	for i := range b.All() {
		seq.Ints[i] = n
		n++
	}
	s := t.partOf.schema
	picked := b.Pick(batch.NewSchema(s.Fields[:len(s.Fields)-1]...), t.needed)
	defer picked.Release()
	return picked.With(s, seq)
}

// finishParts groups the parts one after another and merges their results.
func (t *groupTable) finishParts(ctx context.Context, schema *batch.Schema, emit func(*batch.Batch) error) (err error) {
	if t.partOf == nil {
		return nil
	}
	var runs []*run
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.close())
		}
	}()
	for n, p := range t.parts {
		if p == nil || p.file == nil {
			continue
		}
		r := &run{}
		runs = append(runs, r)
		if r.file, err = t.env.Spill.Create(); err != nil {
			return err
		}
		if err := t.groupPart(ctx, p, r.file); err != nil {
			return err
		}
		t.parts[n] = nil
	}
	order, err := namedKeys(t.env.Semantics, schema, seqName)
	if err != nil {
		return err
	}
	m, err := newMerger(ctx, &sortProcessor{env: t.env, keys: order}, schema, runs, batch.MaxRows)
	if err != nil {
		return err
	}
	defer m.close()
	return m.each(emit)
}

// groupPart groups the rows of a part into a file of results.
func (t *groupTable) groupPart(ctx context.Context, p *groupPart, to transform.SpillFile) (err error) {
	sub, err := t.table(t.partOf.schema, t.partOf.at, t.depth+1)
	if err != nil {
		return err
	}
	sub.seqAt = t.partOf.seqAt
	defer func() { err = errors.Join(err, sub.close()) }()
	in, err := p.file.Reader(sub.schema)
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
		if err := sub.addPlain(b); err != nil {
			return err
		}
	}
	if err := p.file.Close(); err != nil {
		return fmt.Errorf("remove a temporary file: %w", err)
	}
	p.file = nil
	return sub.finish(ctx, func(b *batch.Batch) error {
		defer b.Release()
		return to.Write(b)
	})
}

// addPlain takes over one hold of b.
func (t *groupTable) addPlain(b *batch.Batch) error {
	defer b.Release()
	h, err := t.prepare(b)
	if err != nil {
		return err
	}
	defer h.release()
	return t.add(b, h, 0)
}
