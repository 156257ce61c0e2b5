package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// rowFailure makes the error of a transform without error hops from one that may
// name a row of b.
func rowFailure(env *transform.Env, b *batch.Batch, field string, err error) error {
	e := &engine.Error{Transform: env.Transform, Field: field, Err: err}
	if row, ok := errors.AsType[*batch.RowError](err); ok {
		e.Err = row.Err
		e.Row = rowNumber(b, row.Row)
	}
	return e
}

// rowNumber counts the selected rows up to row i, from 1.
func rowNumber(b *batch.Batch, i int) int64 {
	if b.Sel == nil {
		return int64(i) + 1
	}
	n, _ := slices.BinarySearch(b.Sel, int32(i))
	return int64(n) + 1
}

// fieldIndex finds a field that must be there.
func fieldIndex(s *batch.Schema, name, what string) (int, error) {
	if name == "" {
		return -1, fmt.Errorf("no %s is set; choose one of %s", what, strings.Join(s.Names(), ", "))
	}
	i := s.Index(name)
	if i < 0 {
		return -1, fmt.Errorf("%s %q not found; the input has %s", what, name, strings.Join(s.Names(), ", "))
	}
	return i, nil
}

// connected says whether a transform of that name is the target of a hop.
func connected(l transform.Links, name string) bool {
	for _, o := range l.Outputs {
		if strings.EqualFold(o, name) {
			return true
		}
	}
	return false
}
