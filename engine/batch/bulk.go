package batch

// Extend gives a column n rows, all new ones valid, whose values the caller sets
// by index: in Ints, Floats, Bits or Decs, or in Offsets (from 1 on) with the bytes
// appended to Data. The new slots hold anything until then.
func (c *Column) Extend(n int) {
	switch {
	case c.IsText():
		c.Offsets = resize(c.Offsets, n+1)
	case c.Type == Number:
		c.Floats = resize(c.Floats, n)
	case c.Type == Boolean:
		c.Bits = c.Bits.grow(c.n, n, false)
	case c.Type == BigNumber:
		c.Decs = resize(c.Decs, n)
	default:
		c.Ints = resize(c.Ints, n)
	}
	if c.Valid != nil {
		c.Valid = c.Valid.grow(c.n, n, true)
	}
	c.n = n
}

// SetValid states which rows hold a value: a copy of the first Len bits of valid.
func (c *Column) SetValid(valid Bitmap) {
	c.nulls = c.n - valid.Count(c.n)
	c.Valid = nil
	if c.nulls > 0 {
		c.Valid = append(Bitmap(c.alloc.bytes()), valid[:(c.n+7)/8]...)
	}
}

// AppendColumn adds all rows of src, which has the same type and rawness.
func (c *Column) AppendColumn(src *Column) { c.AppendRange(src, 0, src.n) }

// AppendRange adds rows from (included) to end (excluded) of src, which has the
// same type and rawness.
func (c *Column) AppendRange(src *Column, from, end int) {
	if !c.appendSlots(src, from, end) {
		for i := from; i < end; i++ {
			c.AppendFrom(src, i)
		}
		return
	}
	if c.n == 0 {
		c.Plain = src.Plain
	} else if c.Plain != src.Plain {
		c.Plain = PlainText{}
	}
	start := c.n
	c.n += end - from
	if c.Valid == nil && src.nulls == 0 {
		return
	}
	if c.Valid == nil {
		c.Valid = Bitmap(c.alloc.bytes()).grow(0, start, true)
	}
	c.Valid = c.Valid.grow(start, c.n, true)
	if src.nulls == 0 {
		return
	}
	for i := from; i < end; i++ {
		null := ^src.Valid[i>>3] >> (i & 7) & 1
		to := start + i - from
		c.Valid[to>>3] &^= null << (to & 7)
		c.nulls += int(null)
	}
}

// appendSlots copies the values of rows, null ones included, and leaves counting
// to the caller. It answers false when values have to be added one by one.
func (c *Column) appendSlots(src *Column, from, end int) bool {
	switch {
	case c.IsText():
		base := int32(len(c.Data)) - src.Offsets[from]
		c.Data = append(c.Data, src.Data[src.Offsets[from]:src.Offsets[end]]...)
		for _, o := range src.Offsets[from+1 : end+1] {
			c.Offsets = append(c.Offsets, o+base)
		}
	case c.Type == Number:
		c.Floats = append(c.Floats, src.Floats[from:end]...)
	case c.Type == Boolean, c.Type == Timestamp && (src.Nanos != nil || c.Nanos != nil):
		return false
	case c.Type == BigNumber:
		if c.Big != nil || src.Big != nil || c.n != c.nulls && src.Scale != c.Scale {
			return false
		}
		c.Scale = src.Scale
		c.Decs = append(c.Decs, src.Decs[from:end]...)
	default:
		c.Ints = append(c.Ints, src.Ints[from:end]...)
	}
	return true
}

// Allocator gives the allocator the column came from.
func (c *Column) Allocator() *Allocator { return c.alloc }
