package parquet

import (
	"sluice/engine/batch"
)

// maxDecimal64 is 10^18: a DECIMAL of 18 digits fits 64 bits.
const maxDecimal64 = 1_000_000_000_000_000_000

// 10^38 in two words: a DECIMAL of 38 digits fits 128 bits.
const (
	max128Hi = 0x4B3B4CA85A86C47A
	max128Lo = 0x098A224000000000
)

// decimalNeed is what the values of a BigNumber column need to be stored.
type decimalNeed struct {
	shape shape
	scale int32
	any   bool // there is a value that is not null
}

func needOf(col *batch.Column) decimalNeed {
	n := decimalNeed{shape: shapeDecimal64, scale: col.Scale, any: col.Nulls() < col.Len()}
	switch {
	case !n.any:
		return n
	case col.Big != nil || col.Scale < 0 || col.Scale > 37:
		n.shape = shapeDecimalText
	case col.Scale > 17 || !all64(col):
		n.shape = shapeDecimal128
		if !all128(col) {
			n.shape = shapeDecimalText
		}
	}
	return n
}

// all64 says whether every value has at most 18 digits.
func all64(col *batch.Column) bool {
	var wide uint64
	lowest, highest := int64(0), int64(0)
	for i, d := range col.Decs {
		if col.Valid != nil && !col.Valid.Get(i) {
			continue
		}
		v := int64(d.Lo)
		wide |= uint64(d.Hi ^ v>>63)
		lowest, highest = min(lowest, v), max(highest, v)
	}
	return wide == 0 && lowest > -maxDecimal64 && highest < maxDecimal64
}

// all128 says whether every value has at most 38 digits.
func all128(col *batch.Column) bool {
	for i, d := range col.Decs {
		if col.IsNull(i) {
			continue
		}
		hi, lo := uint64(d.Hi), d.Lo
		if d.Hi < 0 {
			hi, lo = ^hi, -lo
			if lo == 0 {
				hi++
			}
		}
		if hi > max128Hi || (hi == max128Hi && lo >= max128Lo) {
			return false
		}
	}
	return true
}

// fix settles a BigNumber column by the length and precision of its field.
func (c *columnWriter) fix() {
	length, precision := c.field.Length, c.field.Precision
	c.settled, c.shape = true, shapeDecimalText
	if length <= 0 || length > 38 || precision < 0 || precision >= length {
		c.texts = newDictionary()
		return
	}
	c.scale, c.shape = int32(precision), shapeDecimal128
	if length <= 18 {
		c.shape = shapeDecimal64
	}
}

// accepts says whether a column that is stored this way can take the values.
func (c *columnWriter) accepts(n decimalNeed) bool {
	if !n.any || !c.settled || c.shape == shapeDecimalText {
		return true
	}
	return n.shape <= c.shape && n.scale == c.scale
}

// settle gives a BigNumber column the shape and scale of its first values. Until
// then it holds nothing but nulls, which are stored the same way in every shape.
func (c *columnWriter) settle(n decimalNeed) {
	if !n.any || c.settled {
		return
	}
	c.settled = true
	if c.shape != shapeDecimalText {
		c.shape, c.scale = max(n.shape, c.shape), n.scale
	}
	if c.shape == shapeDecimalText {
		c.texts, c.scale = newDictionary(), 0
	}
}

// successor gives the shape for the same field in the next file, when values
// came that this one could not take: text when the scale changes, so that rows of
// ever-changing scales do not make a file each.
func (c *columnWriter) successor() shape {
	switch {
	case !c.refused.any:
		return c.shape
	case c.refused.shape == shapeDecimal128 && c.refused.scale == c.scale:
		return shapeDecimal128
	}
	return shapeDecimalText
}
