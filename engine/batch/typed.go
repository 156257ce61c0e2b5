package batch

// typedBy gives the values of a raw column, which are converted once.
func (c *Column) typedBy(codec *Codec) *Column {
	if t := c.typed.Load(); t != nil {
		return t
	}
	out := codec.whole(c)
	if out == nil {
		out = codec.oneByOne(c)
	}
	if !c.typed.CompareAndSwap(nil, out) {
		out.Release()
	}
	return c.typed.Load()
}

// SetTyped gives a raw column the values (whose hold it takes over) that its maker
// converted already, with the field's codec. bad lists the rows, null in typed, whose
// text could not be converted. It comes before the column is handed on.
func (c *Column) SetTyped(typed *Column, bad []*RowError) {
	typed.bad = bad
	c.typed.Store(typed)
}

// oneByOne converts a raw column; a row that cannot be is null and listed as bad.
func (c *Codec) oneByOne(raw *Column) *Column {
	out := raw.alloc.Column(raw.Type)
	for i := range raw.n {
		if raw.IsNull(i) {
			out.AppendNull()
			continue
		}
		if err := c.ParseInto(out, raw.Bytes(i)); err != nil {
			out.AppendNull()
			out.bad = append(out.bad, &RowError{Row: i, Err: err})
		}
	}
	return out
}

// whole converts a raw column of integers, dates or plain decimals of one scale in
// one go; nil when it is something else or a row is not what is expected.
func (c *Codec) whole(raw *Column) *Column {
	var set func(out *Column, i int, text []byte) bool
	switch {
	case raw.Type == Integer:
		set = func(out *Column, i int, text []byte) bool {
			v, _, err := c.in.ParseInt64(text)
			out.Ints[i] = v
			return err == nil
		}
	case raw.Type == Date:
		set = func(out *Column, i int, text []byte) bool {
			v, _, err := c.date.ParseMillis(text)
			out.Ints[i] = v
			return err == nil
		}
	case raw.Type == BigNumber && c.plain:
		first := true
		set = func(out *Column, i int, text []byte) bool {
			v, scale, ok := c.plainDecimal(text)
			if first {
				first, out.Scale = false, scale
			}
			out.Decs[i] = Dec128{Lo: uint64(v), Hi: v >> 63}
			return ok && scale == out.Scale
		}
	default:
		return nil
	}
	out := raw.alloc.Column(raw.Type)
	out.Extend(raw.n)
	valid := Bitmap(raw.alloc.bytes()).grow(0, raw.n, true)
	if raw.Valid != nil {
		copy(valid, raw.Valid[:(raw.n+7)>>3])
	}
	for i := range raw.n {
		text := raw.Bytes(i)
		switch {
		case len(text) == 0 || !valid.Get(i):
			valid.Set(i, false)
			if raw.Type == BigNumber {
				out.Decs[i] = Dec128{}
			} else {
				out.Ints[i] = 0
			}
		case !set(out, i, text):
			out.Release()
			return nil
		}
	}
	if out.nulls = raw.n - valid.Count(raw.n); out.nulls > 0 {
		out.Valid = valid
	}
	return out
}
