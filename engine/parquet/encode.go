package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"sluice/engine/batch"
)

// values appends the values that are not null and gives their encoding.
func (c *columnWriter) values(dst []byte, col *batch.Column) ([]byte, int32, error) {
	w := c.file
	switch c.shape {
	case shapeInt64:
		return c.integers(dst, present(&w.ints, col, col.Ints))
	case shapeDecimal64:
		return c.integers(dst, w.unscaled(col))
	case shapeDecimal128:
		return appendWide(dst, col), encPlain, nil
	case shapeDouble:
		dst, enc := c.doubles(dst, col)
		return dst, enc, nil
	case shapeBoolean:
		return appendBooleans(dst, col), encPlain, nil
	case shapeUUID:
		return appendUUIDs(dst, col)
	case shapeDecimalText:
		texts := decimalTexts(col)
		dst, enc := c.texts8(dst, texts)
		texts.Release()
		return dst, enc, nil
	}
	dst, enc := c.texts8(dst, col)
	return dst, enc, nil
}

// present gives the values of the rows that are not null.
func present[T any](buf *[]T, col *batch.Column, values []T) []T {
	if col.Nulls() == 0 {
		return values[:col.Len()]
	}
	out := slices.Grow((*buf)[:0], col.Len())[:col.Len()]
	k := 0
	for i, v := range values[:len(out)] {
		out[k] = v
		k += int(col.Valid[i>>3] >> (i & 7) & 1)
	}
	*buf = out
	return out[:k]
}

func (c *columnWriter) integers(dst []byte, values []int64) ([]byte, int32, error) {
	if c.file.o.Compatible {
		dst = slices.Grow(dst, len(values)*8)
		for _, v := range values {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
		return dst, encPlain, nil
	}
	switch {
	case c.chosen || !c.file.o.Split || c.codec != Zstd:
	case c.known.left > 0:
		c.split = c.known.split
	default:
		var err error
		if c.split, err = c.splits(values); err != nil {
			return dst, 0, err
		}
	}
	if c.split {
		return appendSplit(dst, values), encSplit, nil
	}
	return appendDelta(dst, values), encDelta, nil
}

// splitSaving is what splitting integers must save, in percent: it takes longer.
const splitSaving = 3

// splits says whether integers take less when they are split into their bytes.
func (c *columnWriter) splits(values []int64) (bool, error) {
	delta := appendDelta(nil, values)
	packed, err := c.file.compress(pageHeader{codec: Zstd}, delta)
	if err != nil {
		return false, err
	}
	size := min(len(delta), len(packed))
	packed, err = c.file.compress(pageHeader{codec: Zstd}, appendSplit(nil, values))
	return len(packed)*100 < size*(100-splitSaving), err
}

// appendSplit appends the first bytes of all values, then the second ones, and so on.
func appendSplit(dst []byte, values []int64) []byte {
	at, n := len(dst), len(values)
	dst = slices.Grow(dst, n*8)[:at+n*8]
	out := dst[at:]
	s0, s1, s2, s3 := out[:n], out[n:2*n], out[2*n:3*n], out[3*n:4*n]
	s4, s5, s6, s7 := out[4*n:5*n], out[5*n:6*n], out[6*n:7*n], out[7*n:8*n]
	for i, v := range values {
		s0[i], s1[i], s2[i], s3[i] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		s4[i], s5[i], s6[i], s7[i] = byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)
	}
	return dst
}

// unscaled gives the values of a BigNumber column that fit 64 bits at its scale.
func (w *Writer) unscaled(col *batch.Column) []int64 {
	out := slices.Grow(w.ints[:0], col.Len())[:col.Len()]
	k := 0
	if col.Nulls() == 0 {
		for i := range out {
			out[i] = int64(col.Decs[i].Lo)
		}
		k = len(out)
	} else {
		for i, d := range col.Decs[:len(out)] {
			out[k] = int64(d.Lo)
			k += int(col.Valid[i>>3] >> (i & 7) & 1)
		}
	}
	w.ints = out
	return out[:k]
}

func appendWide(dst []byte, col *batch.Column) []byte {
	for i, d := range col.Decs {
		if !col.IsNull(i) {
			dst = binary.BigEndian.AppendUint64(dst, uint64(d.Hi))
			dst = binary.BigEndian.AppendUint64(dst, d.Lo)
		}
	}
	return dst
}

// decimalTexts gives a column (one hold) of the decimals as text, which keeps
// digits and scale.
func decimalTexts(col *batch.Column) *batch.Column {
	out := batch.NewAllocator().Column(batch.String)
	for i := range col.Len() {
		if col.IsNull(i) {
			out.AppendNull()
			continue
		}
		out.Data = col.Decimal(i).Append(out.Data)
		out.EndValue()
	}
	return out
}

func appendUUIDs(dst []byte, col *batch.Column) ([]byte, int32, error) {
	for i := range col.Len() {
		if col.IsNull(i) {
			continue
		}
		v := col.Bytes(i)
		if len(v) != 16 {
			return dst, 0, fmt.Errorf("a UUID has %d bytes instead of 16", len(v))
		}
		dst = append(dst, v...)
	}
	return dst, encPlain, nil
}

func appendBooleans(dst []byte, col *batch.Column) []byte {
	if n := col.Len(); col.Nulls() == 0 {
		dst = append(dst, col.Bits[:(n+7)/8]...)
		if r := n & 7; r != 0 {
			dst[len(dst)-1] &= 1<<r - 1
		}
		return dst
	}
	var b byte
	n := 0
	for i := range col.Len() {
		if col.IsNull(i) {
			continue
		}
		if col.Bits.Get(i) {
			b |= 1 << (n & 7)
		}
		if n++; n&7 == 0 {
			dst = append(dst, b)
			b = 0
		}
	}
	if n&7 != 0 {
		dst = append(dst, b)
	}
	return dst
}

// doubles tries the dictionary, then splits the bytes into eight streams, which
// compress better than whole doubles.
func (c *columnWriter) doubles(dst []byte, col *batch.Column) ([]byte, int32) {
	if !c.plain {
		before := len(c.nums.values)
		if idx, ok := c.indexDoubles(col); ok && !c.wasteful(len(idx), len(c.nums.values)-before, 8*len(idx)) {
			return c.indexes(dst, idx, len(c.nums.values)), encDictionary
		}
		c.plain = true
		c.nums.truncate(before)
	}
	n := col.Len() - col.Nulls()
	at := len(dst)
	dst = slices.Grow(dst, n*8)[:at+n*8]
	out := dst[at:]
	if c.file.o.Compatible {
		for i, v := range col.Floats {
			if !col.IsNull(i) {
				binary.LittleEndian.PutUint64(out, math.Float64bits(v))
				out = out[8:]
			}
		}
		return dst, encPlain
	}
	k := 0
	s0, s1, s2, s3 := out[:n], out[n:2*n], out[2*n:3*n], out[3*n:4*n]
	s4, s5, s6, s7 := out[4*n:5*n], out[5*n:6*n], out[6*n:7*n], out[7*n:8*n]
	for i, f := range col.Floats {
		if col.IsNull(i) {
			continue
		}
		v := math.Float64bits(f)
		s0[k], s1[k], s2[k], s3[k] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		s4[k], s5[k], s6[k], s7[k] = byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)
		k++
	}
	return dst, encSplit
}

func (c *columnWriter) indexDoubles(col *batch.Column) ([]uint32, bool) {
	idx := c.file.idx[:0]
	defer func() { c.file.idx = idx }()
	for i, v := range col.Floats {
		if col.IsNull(i) {
			continue
		}
		k, ok := c.nums.add(math.Float64bits(v))
		if !ok {
			return nil, false
		}
		idx = append(idx, k)
	}
	return idx, true
}

// texts8 tries the dictionary, then writes lengths and bytes.
func (c *columnWriter) texts8(dst []byte, col *batch.Column) ([]byte, int32) {
	if !c.plain {
		before := c.texts.len()
		if idx, ok := c.indexTexts(col); ok && !c.wasteful(len(idx), c.texts.len()-before, int(col.Offsets[col.Len()]-col.Offsets[0])) {
			return c.indexes(dst, idx, c.texts.len()), encDictionary
		}
		c.plain = true
		c.texts.truncate(before)
	}
	if c.file.o.Compatible {
		for i := range col.Len() {
			if !col.IsNull(i) {
				v := col.Bytes(i)
				dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
				dst = append(dst, v...)
			}
		}
		return dst, encPlain
	}
	lengths, total := c.lengths(col)
	dst = appendDelta(dst, lengths)
	if all := col.Data[col.Offsets[0]:col.Offsets[col.Len()]]; total == len(all) {
		return append(dst, all...), encDeltaLength
	}
	for i := range col.Len() { // null rows have bytes
		if !col.IsNull(i) {
			dst = append(dst, col.Bytes(i)...)
		}
	}
	return dst, encDeltaLength
}

// lengths gives the lengths of the values that are not null, and their sum.
func (c *columnWriter) lengths(col *batch.Column) ([]int64, int) {
	n := col.Len()
	out := slices.Grow(c.file.ints[:0], n)[:n]
	c.file.ints = out
	offsets := col.Offsets[:n+1]
	if col.Nulls() == 0 {
		for i := range out {
			out[i] = int64(offsets[i+1] - offsets[i])
		}
		return out, int(offsets[n] - offsets[0])
	}
	k, total := 0, int64(0)
	for i := range n {
		bit := int64(col.Valid[i>>3] >> (i & 7) & 1)
		out[k] = int64(offsets[i+1] - offsets[i])
		total += out[k] & -bit
		k += int(bit)
	}
	return out[:k], int(total)
}

func (c *columnWriter) indexTexts(col *batch.Column) ([]uint32, bool) {
	idx := c.file.idx[:0]
	defer func() { c.file.idx = idx }()
	for i := range col.Len() {
		if col.IsNull(i) {
			continue
		}
		k, ok := c.texts.addAt(col.Data, col.Offsets[i], col.Offsets[i+1])
		if !ok {
			return nil, false
		}
		idx = append(idx, k)
	}
	return idx, true
}

// wasteful says after the first page of a row group whether a dictionary will
// not pay. From the repetitions among n values, which take size bytes, it
// estimates how many distinct ones the whole row group holds: d distinct values
// out of n picked at random from p ones leave n²/2p repetitions.
func (c *columnWriter) wasteful(n, distinct, size int) bool {
	if c.indexed || n < 256 {
		return false
	}
	if distinct == n {
		return true
	}
	picked, length := float64(n), float64(size)/float64(n)
	pool := picked * picked / float64(2*(n-distinct))
	total := float64(c.file.o.GroupRows)
	all := pool * (1 - math.Exp(-total/pool))
	if all > dictMaxValues*0.9 || all*length > dictMaxBytes*0.9 {
		return true
	}
	with := all*(length+4) + total*float64(bits.Len64(uint64(all)))/8
	return with > 0.85*total*(length+0.5)
}

// indexes appends the bit width and the indexes.
func (c *columnWriter) indexes(dst []byte, idx []uint32, size int) []byte {
	c.indexed = true
	width := uint(bits.Len64(uint64(max(size-1, 1))))
	return appendIndexes(append(dst, byte(width)), idx, width)
}
