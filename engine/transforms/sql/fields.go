package sql

import (
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// position finds a field of the input; the error lists those there are.
func position(s *batch.Schema, name string) (int, error) {
	i := s.Index(name)
	if i < 0 {
		return i, fmt.Errorf("field %q not found; the input has %s", name, strings.Join(s.Names(), ", "))
	}
	return i, nil
}

// everyField lists all positions of a schema.
func everyField(s *batch.Schema) []int {
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// size evaluates a whole number; what is left empty is 0.
func size(what string, e transform.Expr[int], r transform.Resolver) (int, error) {
	n, err := e.Or(r, 0)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// passRows hands on the rows of b that were not rejected, and then the rejected
// ones.
func passRows(b *batch.Batch, rej *transform.Rejects, emit transform.Emit) error {
	if rej.Len() == 0 {
		return emit(transform.Main, b.Retain())
	}
	if keep := rej.Keep(); len(keep) > 0 {
		if err := emit(transform.Main, b.Select(keep)); err != nil {
			return err
		}
	}
	return rej.Flush(b, emit)
}
