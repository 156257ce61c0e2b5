// Package digest computes the content digest of rows, which is equal for equal
// rows in the same order under the same schema.
//
// It tells rows apart that differ by accident or by change. It does not stand
// against somebody who makes rows so that two digests are equal: what a snapshot
// proves rests on the SHA-256 of its segments.
//
// It does not depend on where batches end, on selections, on what lies behind
// nulls, or on how a column stores its decimals. 1.0 and 1.00 are different rows,
// since the scale of a decimal is data; so are 0 and -0, and an empty text and a
// null.
//
// # Layout
//
// Rows are taken in blocks of 4,096; the last one may be shorter. A block is, per
// field in order, one presence byte (0: all null, 1: none null, 2: a bitmap of the
// rows follows, least significant bit first) and, if there are any, the values
// that are not null:
//
//	Integer, Date   u64 each
//	Timestamp       the microseconds as Integer, then u8 0, or 1 and u16 nanoseconds each
//	Number          u64 bits each
//	Boolean         u8 each
//	BigNumber       u8 1, i32 scale and the unscaled values as Integer, when they have
//	                one scale and fit 64 bits; else u8 2 and their texts
//	others          the lengths as Integer, then the bytes
//
// Numbers are little endian. The digest is the SHA-256 of the line
// "sluice rows 2\n", the u64 length of the canonical schema and its bytes, the u64
// number of rows, and the 128-bit XXH3 of all blocks, its high half first, big
// endian.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"sluice/engine/batch"
)

// Size is the length of a digest in bytes.
const Size = sha256.Size

const blockRows = 4096

// Digest adds up the rows of one part. It is owned by one goroutine.
type Digest struct {
	schema    *batch.Schema
	canonical []byte
	sum       *xxh3.Hasher128
	rows      int64
	held      []piece // rows of a block that is not complete
	heldRows  int
	runs      []run
	buf       []byte
	ints      []int64
	texts     *batch.Column // decimals as text
}

// New begins the digest of rows of a schema, whose canonical form is given, too.
// It is kept.
func New(s *batch.Schema, canonical []byte) *Digest {
	return &Digest{schema: s, canonical: canonical, sum: xxh3.New128(), texts: batch.NewAllocator().Column(batch.String)}
}

// Rows is the number of rows added so far.
func (d *Digest) Rows() int64 { return d.rows }

// Add adds the selected rows of b, whose columns are typed; b stays the caller's,
// and is retained until the block is complete that its last rows are in.
func (d *Digest) Add(b *batch.Batch) error {
	if len(b.Cols) != d.schema.Len() {
		return fmt.Errorf("digest: rows of %d columns do not belong to a schema of %d fields", len(b.Cols), d.schema.Len())
	}
	for i, c := range b.Cols {
		if f := &d.schema.Fields[i]; c.Raw || c.Type != f.Type {
			return fmt.Errorf("digest: column %q does not hold %s values", f.Name, f.Type)
		}
	}
	dense := b.Dense()
	defer dense.Release()
	n := dense.Physical()
	d.rows += int64(n)
	for from := 0; from < n && len(dense.Cols) > 0; {
		take := min(n-from, blockRows-d.heldRows)
		d.held = append(d.held, piece{dense.Retain(), from, from + take})
		d.heldRows += take
		from += take
		if d.heldRows == blockRows {
			d.flush()
		}
	}
	return nil
}

// flush adds the block that is held.
func (d *Digest) flush() {
	if d.heldRows == 0 {
		return
	}
	d.block(d.held)
	for _, p := range d.held {
		p.b.Release()
	}
	d.held, d.heldRows = d.held[:0], 0
}

// Sum ends the digest. Nothing can be added afterwards.
func (d *Digest) Sum() [Size]byte {
	d.flush()
	blocks := d.sum.Sum128().Bytes()
	all := sha256.New()
	head := append([]byte("sluice rows 2\n"), binary.LittleEndian.AppendUint64(nil, uint64(len(d.canonical)))...)
	all.Write(head)
	all.Write(d.canonical)
	all.Write(binary.LittleEndian.AppendUint64(nil, uint64(d.rows)))
	all.Write(blocks[:])
	return [Size]byte(all.Sum(nil))
}
