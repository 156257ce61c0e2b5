package batch

// Gather gives a new column (one hold) of the rows of c that sel lists, in that
// order. Rawness, plainness and scale are kept.
func (c *Column) Gather(a *Allocator, sel []int32) *Column {
	out := a.column(c.Type, c.Raw)
	out.Plain = c.Plain
	switch {
	case c.IsText():
		gatherText(out, c, sel)
	case c.Type == Number:
		out.Floats = gatherFixed(out.Floats, c.Floats, sel)
	case c.Type == Boolean:
		out.Bits = out.Bits.grow(0, len(sel), false)
		for o, i := range sel {
			if c.Bits.Get(int(i)) {
				out.Bits.Set(o, true)
			}
		}
	case c.Type == BigNumber && c.Big != nil:
		out.Big = gatherFixed(out.Big, c.Big, sel)
	case c.Type == BigNumber:
		out.Scale = c.Scale
		out.Decs = gatherFixed(out.Decs, c.Decs, sel)
	default:
		out.Ints = gatherFixed(out.Ints, c.Ints, sel)
		if c.Nanos != nil {
			out.Nanos = gatherFixed(out.Nanos, c.Nanos, sel)
		}
	}
	out.n = len(sel)
	gatherValid(out, c, sel)
	return out
}

func gatherFixed[T any](dst, src []T, sel []int32) []T {
	dst = resize(dst[:0], len(sel))
	for o, i := range sel {
		dst[o] = src[i]
	}
	return dst
}

func gatherText(out, c *Column, sel []int32) {
	total := 0
	for _, i := range sel {
		total += int(c.Offsets[i+1] - c.Offsets[i])
	}
	if cap(out.Data) < total {
		out.Data = make([]byte, 0, total)
	}
	out.Offsets = resize(out.Offsets, len(sel)+1)
	data := out.Data
	for o, i := range sel {
		data = append(data, c.Data[c.Offsets[i]:c.Offsets[i+1]]...)
		out.Offsets[o+1] = int32(len(data))
	}
	out.Data = data
}

func gatherValid(out, c *Column, sel []int32) {
	if c.Valid == nil {
		return
	}
	for o, i := range sel {
		if c.Valid.Get(int(i)) {
			continue
		}
		if out.Valid == nil {
			out.Valid = Bitmap(out.alloc.bytes()).grow(0, len(sel), true)
		}
		out.Valid.Set(o, false)
		out.nulls++
	}
}

// AppendColumn adds all rows of src, which has the same type and rawness.
func (c *Column) AppendColumn(src *Column) { c.AppendRange(src, 0, src.n) }

// AppendRange adds rows from (included) to end (excluded) of src, which has the
// same type and rawness.
func (c *Column) AppendRange(src *Column, from, end int) {
	plainRun := src.nulls == 0 && c.Valid == nil
	switch {
	case !plainRun || c.Type == BigNumber || (c.Type == Timestamp && (src.Nanos != nil || c.Nanos != nil)) || (c.Type == Boolean && !c.Raw):
		for i := from; i < end; i++ {
			c.AppendFrom(src, i)
		}
		return
	case c.IsText():
		base := int32(len(c.Data)) - src.Offsets[from]
		c.Data = append(c.Data, src.Data[src.Offsets[from]:src.Offsets[end]]...)
		for _, o := range src.Offsets[from+1 : end+1] {
			c.Offsets = append(c.Offsets, o+base)
		}
	case c.Type == Number:
		c.Floats = append(c.Floats, src.Floats[from:end]...)
	default:
		c.Ints = append(c.Ints, src.Ints[from:end]...)
	}
	if c.n == 0 {
		c.Plain = src.Plain
	} else if c.Plain != src.Plain {
		c.Plain = PlainText{}
	}
	c.n += end - from
}
