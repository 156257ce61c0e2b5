package parquet

import (
	"encoding/binary"
	"math"
	"slices"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// data gives the next data page: its encoding, its levels and its values.
func (r *chunkReader) nextPage() (*page, levels, []byte, error) {
	if r.at >= len(r.pages) || r.pages[r.at].kind != pageData {
		return nil, levels{}, nil, errPage
	}
	pg := &r.pages[r.at]
	r.at++
	body, err := r.body(pg)
	if err != nil {
		return nil, levels{}, nil, err
	}
	l, values, ok := readLevels(body, pg.rows)
	if !ok {
		return nil, levels{}, nil, errPage
	}
	return pg, l, values, nil
}

// read fills an empty column with the rows of the next page.
func (r *chunkReader) read(col *batch.Column) error {
	pg, l, p, err := r.nextPage()
	if err != nil {
		return err
	}
	switch {
	case l.rows == 0:
		return errPage
	case l.present == 0:
		for range l.rows {
			col.AppendNull()
		}
		if len(p) != 0 {
			return errPage
		}
		return nil
	}
	ok := false
	switch r.meta.shape {
	case shapeInt64:
		ok = r.integers(col, pg, l, p)
	case shapeDecimal64:
		ok = r.decimals64(col, pg, l, p)
	case shapeDecimal128:
		ok = r.decimals128(col, pg, l, p)
	case shapeDouble:
		ok = r.doubles(col, pg, l, p)
	case shapeBoolean:
		ok = readBooleans(col, pg, l, p)
	case shapeUUID:
		ok = readUUIDs(col, pg, l, p)
	case shapeDecimalText:
		ok = r.decimalTexts(col, pg, l, p)
	default:
		ok = r.texts(col, pg, l, p)
	}
	if !ok {
		return errPage
	}
	if l.present < l.rows && r.meta.shape != shapeDecimalText {
		col.SetValid(l.valid)
	}
	return nil
}

// spread puts the k-th value into the k-th row that holds one, zeros elsewhere.
// src has one item more than there are values.
func spread[T any](dst, src []T, l levels) {
	var zero T
	k := 0
	for i := range dst {
		if l.valid[i>>3]>>(i&7)&1 != 0 {
			dst[i] = src[k]
			k++
		} else {
			dst[i] = zero
		}
	}
}

// ints decodes the integers of a page into dst.
func ints(dst []int64, encoding int32, p []byte) bool {
	switch encoding {
	case encDelta:
		rest, ok := readDelta(dst, p)
		return ok && len(rest) == 0
	case encPlain:
		if len(p) != len(dst)*8 {
			return false
		}
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(p[i*8:]))
		}
		return true
	case encSplit:
		return joinSplit(dst, p)
	}
	return false
}

// joinSplit puts values together from their first bytes, their second ones, and so on.
func joinSplit[T int64 | uint64](dst []T, p []byte) bool {
	n := len(dst)
	if len(p) != n*8 {
		return false
	}
	s0, s1, s2, s3 := p[:n], p[n:2*n], p[2*n:3*n], p[3*n:4*n]
	s4, s5, s6, s7 := p[4*n:5*n], p[5*n:6*n], p[6*n:7*n], p[7*n:8*n]
	for i := range dst {
		dst[i] = T(s0[i]) | T(s1[i])<<8 | T(s2[i])<<16 | T(s3[i])<<24 |
			T(s4[i])<<32 | T(s5[i])<<40 | T(s6[i])<<48 | T(s7[i])<<56
	}
	return true
}

func (r *chunkReader) integers(col *batch.Column, pg *page, l levels, p []byte) bool {
	col.Extend(l.rows)
	if l.present == l.rows {
		return ints(col.Ints, pg.encoding, p)
	}
	values := grown(&r.s.ints, l.present)
	if !ints(values, pg.encoding, p) {
		return false
	}
	spread(col.Ints, values, l)
	return true
}

func (r *chunkReader) decimals64(col *batch.Column, pg *page, l levels, p []byte) bool {
	values := grown(&r.s.ints, l.present)
	if !ints(values, pg.encoding, p) {
		return false
	}
	col.Extend(l.rows)
	col.Scale = r.meta.scale
	if l.present == l.rows {
		for i, v := range values {
			col.Decs[i] = batch.Dec128{Lo: uint64(v), Hi: v >> 63}
		}
		return true
	}
	k := 0
	for i := range col.Decs {
		col.Decs[i] = batch.Dec128{}
		if l.valid.Get(i) {
			col.Decs[i] = batch.Dec128{Lo: uint64(values[k]), Hi: values[k] >> 63}
			k++
		}
	}
	return true
}

func (r *chunkReader) decimals128(col *batch.Column, pg *page, l levels, p []byte) bool {
	if pg.encoding != encPlain || len(p) != l.present*16 {
		return false
	}
	col.Extend(l.rows)
	col.Scale = r.meta.scale
	for i := range col.Decs {
		col.Decs[i] = batch.Dec128{}
		if l.present < l.rows && !l.valid.Get(i) {
			continue
		}
		col.Decs[i] = batch.Dec128{Hi: int64(binary.BigEndian.Uint64(p)), Lo: binary.BigEndian.Uint64(p[8:])}
		p = p[16:]
	}
	return true
}

func (r *chunkReader) decimalTexts(col *batch.Column, pg *page, l levels, p []byte) bool {
	texts := col.Allocator().Column(batch.String)
	defer texts.Release()
	if !r.texts(texts, pg, l, p) {
		return false
	}
	for i := range l.rows {
		if l.present < l.rows && !l.valid.Get(i) {
			col.AppendNull()
			continue
		}
		d, err := decimal.Parse(texts.Bytes(i))
		if err != nil {
			return false
		}
		col.AppendDecimal(d)
	}
	return true
}

func readBooleans(col *batch.Column, pg *page, l levels, p []byte) bool {
	if pg.encoding != encPlain || len(p) != (l.present+7)/8 {
		return false
	}
	col.Extend(l.rows)
	if l.present == l.rows {
		copy(col.Bits, p)
		return true
	}
	values := batch.Bitmap(p)
	k := 0
	for i := range l.rows {
		if !l.valid.Get(i) {
			continue
		}
		if values.Get(k) {
			col.Bits.Set(i, true)
		}
		k++
	}
	return true
}

func readUUIDs(col *batch.Column, pg *page, l levels, p []byte) bool {
	if pg.encoding != encPlain || len(p) != l.present*16 {
		return false
	}
	col.Extend(l.rows)
	col.Data = append(col.Data, p...)
	at := int32(0)
	for i := range l.rows {
		if l.present == l.rows || l.valid.Get(i) {
			at += 16
		}
		col.Offsets[i+1] = at
	}
	return true
}

func (r *chunkReader) doubles(col *batch.Column, pg *page, l levels, p []byte) bool {
	col.Extend(l.rows)
	dst := col.Floats
	if l.present < l.rows {
		bits := grown(&r.s.bits, l.present)
		if !r.doubleBits(bits, pg, p) {
			return false
		}
		k := 0
		for i := range dst {
			dst[i] = 0
			if l.valid.Get(i) {
				dst[i] = math.Float64frombits(bits[k])
				k++
			}
		}
		return true
	}
	if pg.encoding == encDictionary {
		idx, ok := r.indexes(p, l.present, len(r.nums))
		if !ok {
			return false
		}
		for i, k := range idx {
			dst[i] = r.nums[k]
		}
		return true
	}
	bits := grown(&r.s.bits, l.present)
	if !r.doubleBits(bits, pg, p) {
		return false
	}
	for i, v := range bits {
		dst[i] = math.Float64frombits(v)
	}
	return true
}

// doubleBits decodes doubles of any encoding.
func (r *chunkReader) doubleBits(dst []uint64, pg *page, p []byte) bool {
	n := len(dst)
	switch pg.encoding {
	case encDictionary:
		idx, ok := r.indexes(p, n, len(r.nums))
		if !ok {
			return false
		}
		for i, k := range idx {
			dst[i] = math.Float64bits(r.nums[k])
		}
		return true
	case encPlain:
		if len(p) != n*8 {
			return false
		}
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint64(p[i*8:])
		}
		return true
	case encSplit:
		return joinSplit(dst, p)
	}
	return false
}

// indexes decodes n indexes into a dictionary of size values.
func (r *chunkReader) indexes(p []byte, n, size int) ([]uint32, bool) {
	if len(p) == 0 || p[0] == 0 || p[0] > 32 {
		return nil, false
	}
	idx := grown(&r.s.idx, n)
	if !readIndexes(idx, p[1:], uint(p[0])) {
		return nil, false
	}
	top := uint32(0)
	for _, k := range idx {
		top = max(top, k)
	}
	return idx, uint64(top) < uint64(size)
}

// texts decodes a page of byte arrays. Rows without a value get the end of the
// value before.
func (r *chunkReader) texts(col *batch.Column, pg *page, l levels, p []byte) bool {
	switch pg.encoding {
	case encDictionary:
		idx, ok := r.indexes(p, l.present, len(r.offsets)-1)
		return ok && r.dictionaryTexts(col, idx, l)
	case encDeltaLength:
		lengths := grown(&r.s.ints, l.present)
		rest, ok := readDelta(lengths, p)
		if !ok || !addUp(lengths, len(rest)) {
			return false
		}
		col.Extend(l.rows)
		col.Data = append(col.Data, rest...)
		setOffsets(col.Offsets[1:], lengths, l)
		return true
	case encPlain:
		lengths := grown(&r.s.ints, l.present)
		for i := range lengths {
			text, rest, ok := cutText(p)
			if !ok {
				return false
			}
			lengths[i] = int64(len(text))
			col.Data = append(col.Data, text...)
			p = rest
		}
		col.Extend(l.rows)
		setOffsets(col.Offsets[1:], lengths, l)
		return len(p) == 0
	}
	return false
}

// addUp says whether lengths are not negative and add up to the bytes there are.
func addUp(lengths []int64, bytes int) bool {
	total, or := int64(0), int64(0)
	for _, n := range lengths {
		or |= n
		if total += n; total > int64(bytes) {
			return false
		}
	}
	return or >= 0 && total == int64(bytes)
}

func setOffsets(offsets []int32, lengths []int64, l levels) {
	at := int32(0)
	if l.present == l.rows {
		for i, n := range lengths {
			at += int32(n)
			offsets[i] = at
		}
		return
	}
	k := 0
	for i := range offsets {
		if l.valid.Get(i) {
			at += int32(lengths[k])
			k++
		}
		offsets[i] = at
	}
}

// blind is the number of bytes that short texts are copied with, whatever their
// length; buffers have as many to spare.
const blind = 16

func (r *chunkReader) dictionaryTexts(col *batch.Column, idx []uint32, l levels) bool {
	total := int64(0)
	for _, k := range idx {
		total += int64(r.offsets[k+1] - r.offsets[k])
	}
	if total > maxPageBytes {
		return false
	}
	col.Extend(l.rows)
	data := slices.Grow(col.Data[:0], int(total)+blind)[:int(total)+blind]
	offsets := col.Offsets[1:]
	at, k := 0, 0
	for i := range offsets {
		if l.present == l.rows || l.valid.Get(i) {
			from, end := int(r.offsets[idx[k]]), int(r.offsets[idx[k]+1])
			if end-from <= blind {
				*(*[blind]byte)(data[at:]) = *(*[blind]byte)(r.data[from:])
			} else {
				copy(data[at:], r.data[from:end])
			}
			at += end - from
			k++
		}
		offsets[i] = int32(at)
	}
	col.Data = data[:total]
	return true
}

// readNanos adds the nanoseconds of the companion's next page to the Timestamps
// read.
func (r *chunkReader) readNanos(col *batch.Column) error {
	pg, l, p, err := r.nextPage()
	if err != nil {
		return err
	}
	if l.rows != col.Len() || pg.encoding != encPlain || len(p) != l.present*4 {
		return errPage
	}
	if l.present == 0 {
		return nil
	}
	nanos := make([]int32, l.rows)
	for i := range nanos {
		if l.present < l.rows && !l.valid.Get(i) {
			continue
		}
		nanos[i] = int32(binary.LittleEndian.Uint32(p))
		p = p[4:]
		if nanos[i] < 0 || nanos[i] > 999 {
			return errPage
		}
	}
	col.Nanos = nanos
	return nil
}
