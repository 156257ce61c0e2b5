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
