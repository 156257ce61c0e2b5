package expr

import "sync"

// scratch lends row lists while a predicate works on one batch.
type scratch struct{ free [][]int32 }

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// take gives an empty list with room for n rows.
func (s *scratch) take(n int) []int32 {
	if k := len(s.free); k > 0 {
		list := s.free[k-1]
		s.free = s.free[:k-1]
		if cap(list) >= n {
			return list[:0]
		}
	}
	return make([]int32, 0, n)
}

// give takes a list back.
func (s *scratch) give(list []int32) { s.free = append(s.free, list) }

// count is the number of rows of a selection in which nil stands for all n.
func count(sel []int32, n int) int {
	if sel == nil {
		return n
	}
	return len(sel)
}

// without appends the rows of in (nil: all n) that are not in drop; both ascend
// and drop is part of in.
func without(dst, in, drop []int32, n int) []int32 {
	if in == nil {
		from := int32(0)
		for _, d := range drop {
			for ; from < d; from++ {
				dst = append(dst, from)
			}
			from = d + 1
		}
		for ; from < int32(n); from++ {
			dst = append(dst, from)
		}
		return dst
	}
	k := 0
	for _, i := range in {
		if k < len(drop) && drop[k] == i {
			k++
			continue
		}
		dst = append(dst, i)
	}
	return dst
}

// merge appends the rows that are in a or in b; both ascend and share no row.
func merge(dst, a, b []int32) []int32 {
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst, a = append(dst, a[0]), a[1:]
		} else {
			dst, b = append(dst, b[0]), b[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// differ appends the rows that are in exactly one of a and b; both ascend.
func differ(dst, a, b []int32) []int32 {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			dst, a = append(dst, a[0]), a[1:]
		default:
			dst, b = append(dst, b[0]), b[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// all appends the rows of in, nil standing for all n.
func all(dst, in []int32, n int) []int32 {
	if in != nil {
		return append(dst, in...)
	}
	for i := range int32(n) {
		dst = append(dst, i)
	}
	return dst
}
