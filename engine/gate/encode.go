package gate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/batch/digest"
	"sluice/engine/parquet"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage/snapshot"
)

func portOf(name string) transform.Port { return transform.Port(name) }

const (
	// leastSegment is the target size of segments when a gate has many parts.
	leastSegment = 4 << 20
	// localSegment is the target size on a disk, where a request costs nothing: less
	// memory is touched, and less is left to do when the last row has come.
	localSegment = snapshot.TargetSegmentBytes / 4
	// encodeBudget bounds what the open segments of one gate take together.
	encodeBudget = 2 * snapshot.TargetSegmentBytes
	// roomOf leaves for footers and for what an estimate may miss.
	segmentRoom = snapshot.MaxSegmentBytes - snapshot.MaxSegmentBytes/8
	// groupRows is the number of rows of a row group: each has dictionaries of its own,
	// and rows are given page by page.
	groupRows = 2 * parquet.RowGroupRows

	digestsAhead = 4 // batches that wait to be digested
	// snappySaving is what Snappy, which is for speed, must save of a column, in
	// percent. Texts such as keys, which shrink by a quarter, take half of its time:
	// without it 5,000,000 orders are written in 0.8 of the time, with 1.13 of the
	// bytes.
	snappySaving = 33
)

// savingOf is what a codec must save of a column, in percent; 0: the usual.
func savingOf(c parquet.Codec) int {
	if c == parquet.Snappy {
		return snappySaving
	}
	return 0
}

// targetOf is the size at which a segment is closed, for a gate of so many parts.
func targetOf(parts int, local bool) int {
	target := snapshot.TargetSegmentBytes
	if local {
		target = localSegment
	}
	return max(leastSegment, min(target, encodeBudget/max(parts, 1)))
}

// early is how many segments of a part are smaller, the first most of all: a replay
// cannot begin before one is fetched and hashed.
const early = 2

// ends is the size at which the open segment is closed.
func (p *part) ends() int {
	return max(min(p.target, leastSegment), p.target>>max(0, early-p.index))
}

// part is one stream of a spool on its way into segments. It is owned by the
// goroutine of its tap.
type part struct {
	spool  *Spool
	id     int
	spec   pipeline.PartSpec
	schema []byte // canonical
	target int
	watch  *watch // nil: no contract on these rows

	writer *parquet.Writer // nil before the first row
	next   *parquet.Writer // of the following segment, begun when rows come
	index  int
	rows   int64

	digest chan *batch.Batch
	done   sync.WaitGroup
	sum    [digest.Size]byte
	bad    error
	ended  bool
}

func (s *Spool) newPart(id int, spec pipeline.PartSpec, parts int) *part {
	p := &part{
		spool: s, id: id, spec: spec, schema: parquet.EncodeSchema(spec.Schema), target: targetOf(parts, s.place.Remote.Capabilities().Local),
		digest: make(chan *batch.Batch, digestsAhead),
	}
	if s.segment > 0 {
		p.target = s.segment
	}
	p.done.Go(func() {
		d := digest.New(spec.Schema, p.schema)
		for b := range p.digest {
			if p.bad == nil {
				p.bad = d.Add(b)
			}
			b.Release()
		}
		p.sum = d.Sum()
	})
	return p
}

// add encodes the selected rows of b.
func (p *part) add(ctx context.Context, b *batch.Batch) error {
	if p.watch != nil {
		if err := p.watch.add(b, p.rows+1); err != nil {
			return err
		}
	}
	p.rows += int64(b.Rows())
	p.digest <- b.Retain()
	return p.encode(ctx, b)
}

// encode writes b into the open segment, or splits it where it is too large.
func (p *part) encode(ctx context.Context, b *batch.Batch) error {
	size := b.Bytesize()
	if b.Sel != nil && b.Physical() > 0 {
		size = int(float64(size) * float64(b.Rows()) / float64(b.Physical()))
	}
	if size > segmentRoom/2 && b.Rows() > 1 {
		return p.halves(ctx, b)
	}
	if p.writer != nil && p.writer.Rows() > 0 && (p.writer.Size()+size > segmentRoom || !p.writer.Fits(b)) {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	if p.writer == nil {
		if p.writer = p.next; p.writer == nil {
			p.writer = parquet.NewWriter(p.spec.Schema, parquet.Options{
				Codec: p.spool.config.Codec, Saving: savingOf(p.spool.config.Codec), Compatible: p.spool.config.Compatible, Split: true, GroupRows: groupRows,
				Expected: p.target + p.target/8,
			})
		}
	}
	if err := p.writer.Write(b); err != nil {
		return err
	}
	if p.writer.Size() >= p.ends() {
		return p.flush(ctx)
	}
	return nil
}

func (p *part) halves(ctx context.Context, b *batch.Batch) error {
	n := b.Rows()
	for _, r := range [][2]int{{0, n / 2}, {n / 2, n}} {
		half := b.Slice(r[0], r[1])
		err := p.encode(ctx, half)
		half.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// flush ends the open segment and hands it on.
func (p *part) flush(ctx context.Context) error {
	rows := p.writer.Rows()
	data, err := p.writer.Finish()
	if err != nil {
		return err
	}
	if len(data) > snapshot.MaxSegmentBytes {
		return fmt.Errorf("a row takes more than the %d MiB that a segment may have: leave its largest field out before the gate", snapshot.MaxSegmentBytes>>20)
	}
	n := snapshot.NewSegment{Part: p.id, Index: p.index, Rows: rows, Extension: "parquet", Data: data}
	p.index++
	buffer, err := p.spool.put(ctx, n)
	p.next, p.writer = p.writer.Next(buffer), nil
	return err
}

// end closes the last segment.
func (p *part) end(ctx context.Context) error {
	p.finishDigest()
	if p.bad != nil {
		return p.bad
	}
	if p.writer == nil || p.writer.Rows() == 0 {
		return nil
	}
	return p.flush(ctx)
}

// finishDigest waits for the digest; it is idempotent.
func (p *part) finishDigest() {
	if !p.ended {
		p.ended = true
		close(p.digest)
	}
	p.done.Wait()
}

// appendValue appends a value so that different values, and lists of values, give
// different bytes.
func appendValue(dst []byte, c *batch.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, 0)
	}
	switch {
	case c.IsText():
		v := c.Bytes(i)
		dst = binary.AppendUvarint(append(dst, 1), uint64(len(v)))
		return append(dst, v...)
	case c.Type == batch.Number:
		f := c.Float(i)
		if f == 0 {
			f = 0 // -0 equals 0
		}
		return binary.LittleEndian.AppendUint64(append(dst, 2), math.Float64bits(f))
	case c.Type == batch.Boolean:
		if c.Bool(i) {
			return append(dst, 3, 1)
		}
		return append(dst, 3, 0)
	case c.Type == batch.BigNumber:
		v := c.Decimal(i).Strip().String()
		dst = binary.AppendUvarint(append(dst, 4), uint64(len(v)))
		return append(dst, v...)
	}
	dst = binary.LittleEndian.AppendUint64(append(dst, 5), uint64(c.Int(i)))
	return binary.LittleEndian.AppendUint32(dst, uint32(c.Nano(i)))
}
