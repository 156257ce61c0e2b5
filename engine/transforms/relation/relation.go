// Package relation holds the transforms that put rows in relation to other rows:
// sort, group, join, look up, compare, merge, pivot.
//
// Transforms lists them. Three tools serve them all: keys orders and identifies
// rows by an order-preserving byte encoding, sources gathers rows out of many
// batches, and accumulators fold columns into groups. What does not fit in the
// memory budget goes to spill files, and comes back in the same order.
package relation

import (
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Transforms is the family.
var Transforms = []transform.Definition{
	SortRows,
	Unique,
	UniqueRowsByHashSet,
	MemoryGroupBy,
	GroupBy,
	AnalyticQuery,
	StreamLookup,
	MergeJoin,
	MergeRows,
	SortedMerge,
	Append,
	Denormaliser,
	Normaliser,
	Flattener,
}

// NamedField is a row of a table that only names a field.
type NamedField struct {
	Name string `hop:"name" form:"field" required:"true"`
}

// fieldIndex finds a field, or says which ones there are.
func fieldIndex(s *batch.Schema, name string) (int, error) {
	i := s.Index(name)
	if i < 0 {
		return -1, fmt.Errorf("field %q not found; the input has %s", name, listFields(s))
	}
	return i, nil
}

// mainSchema is the schema of the main input, an empty one when there is none.
func mainSchema(l transform.Links) *batch.Schema {
	if s := l.Main(); s != nil {
		return s
	}
	return batch.NewSchema()
}

func listFields(s *batch.Schema) string {
	if s.Len() == 0 {
		return "no fields"
	}
	return strings.Join(s.Names(), ", ")
}

// valueError places a value that could not be converted: before is the number of
// rows read ahead of b.
func valueError(name, field string, b *batch.Batch, before int64, err error) error {
	out := &engine.Error{Transform: name, Field: field, Err: err}
	row, ok := err.(*batch.RowError) //nolint:errorlint // Batch.Col returns it unwrapped
	if !ok {
		return out
	}
	out.Row = before + 1
	for i := range b.All() {
		if i == row.Row {
			break
		}
		out.Row++
	}
	return out
}
