package unittest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/project"
)

// numberTolerance is the absolute difference up to which two Numbers are equal.
const numberTolerance = 1e-6

// maxDifferences bounds what one outcome tells.
const maxDifferences = 20

func (t *testRun) compareAll(ctx context.Context) error {
	for _, golden := range t.test.Golden {
		c := t.captures[strings.ToLower(golden.Transform)]
		if c == nil {
			t.outcome.Warnings = append(t.outcome.Warnings, fmt.Sprintf("transform %q is not in the pipeline; its golden data set %q was not compared", golden.Transform, golden.DataSet))
			continue
		}
		if err := t.compare(ctx, golden, c); err != nil {
			return fmt.Errorf("transform %q: %w", golden.Transform, err)
		}
	}
	return nil
}

func (t *testRun) compare(ctx context.Context, golden project.DataSetLocation, c *capture) error {
	want, err := t.read(ctx, golden)
	if err != nil {
		return err
	}
	defer want.release()
	sem := batch.ReadSemantics(t.scope.Get, t.runner.Location)
	have := tableOf(c.schema, c.batches)
	gold := tableOf(want.schema, want.batches)
	t.outcome.Locations++
	t.outcome.Rows += len(gold.rows)
	if len(have.rows) == 0 {
		t.outcome.Warnings = append(t.outcome.Warnings, fmt.Sprintf("no row arrived at transform %q", golden.Transform))
	}
	if len(have.rows) != len(gold.rows) {
		t.differ("transform %q: %d rows arrived, the data set %q has %d", golden.Transform, len(have.rows), golden.DataSet, len(gold.rows))
		return nil
	}
	if len(have.rows) == 0 {
		return nil
	}
	if len(golden.FieldOrder) > 0 && golden.FieldOrder[0] != "" {
		if err := sortBoth(sem, golden, have, gold); err != nil {
			return err
		}
	}
	return t.compareCells(sem, golden, have, gold)
}

func (t *testRun) differ(format string, args ...any) {
	if len(t.outcome.Differences) < maxDifferences {
		t.outcome.Differences = append(t.outcome.Differences, fmt.Sprintf(format, args...))
	}
}

// table is rows by reference, so that they can be sorted.
type table struct {
	schema *batch.Schema
	rows   []cellRow
}

type cellRow struct {
	b *batch.Batch
	i int
}

func (r cellRow) value(k int) batch.Value { return r.b.Cols[k].Value(r.i) }

func tableOf(s *batch.Schema, list []*batch.Batch) *table {
	t := &table{schema: s}
	for _, b := range list {
		for i := range b.All() {
			t.rows = append(t.rows, cellRow{b, i})
		}
	}
	return t
}

// sortBoth sorts the rows by the data set fields that the test names, each side
// under its own names.
func sortBoth(sem *batch.Semantics, golden project.DataSetLocation, have, gold *table) error {
	var haveKeys, goldKeys []int
	for _, name := range golden.FieldOrder {
		field := ""
		for _, m := range golden.Mappings {
			if strings.EqualFold(m.DataSetField, name) {
				field = m.TransformField
			}
		}
		if field == "" {
			return fmt.Errorf("sort field %q is not mapped; map it or take it out of the order", name)
		}
		h, g := have.schema.Index(field), gold.schema.Index(field)
		if h < 0 || g < 0 {
			return fmt.Errorf("sort field %q is not among the fields %s", field, strings.Join(have.schema.Names(), ", "))
		}
		haveKeys, goldKeys = append(haveKeys, h), append(goldKeys, g)
	}
	have.sort(sem, haveKeys)
	gold.sort(sem, goldKeys)
	return nil
}

func (t *table) sort(sem *batch.Semantics, keys []int) {
	slices.SortStableFunc(t.rows, func(a, b cellRow) int {
		for _, k := range keys {
			if c := sem.CompareValues(a.value(k), b.value(k), false); c != 0 {
				return c
			}
		}
		return 0
	})
}

func (t *testRun) compareCells(sem *batch.Semantics, golden project.DataSetLocation, have, gold *table) error {
	for g := range gold.schema.Fields {
		name := gold.schema.Fields[g].Name
		h := have.schema.Index(name)
		if h < 0 {
			return fmt.Errorf("field %q does not arrive; the fields are %s", name, strings.Join(have.schema.Names(), ", "))
		}
		to := have.schema.Fields[h]
		conv, err := sem.Converter(&gold.schema.Fields[g], &to)
		if err != nil {
			return err
		}
		for i := range gold.rows {
			want, err := conv.Value(gold.rows[i].value(g))
			if err != nil {
				return fmt.Errorf("golden row %d: %w", i+1, err)
			}
			got := have.rows[i].value(h)
			if !equal(sem, got, want) {
				t.differ("transform %q, row %d, field %q: %s arrived, golden is %s", golden.Transform, i+1, name, show(got), show(want))
			}
		}
	}
	return nil
}

func equal(sem *batch.Semantics, got, want batch.Value) bool {
	if sem.CompareValues(got, want, false) == 0 {
		return true
	}
	if got.Type == batch.Number && got.Valid && want.Valid {
		return math.Abs(got.Float-want.Float) <= numberTolerance
	}
	if got.Type == batch.String && (!got.Valid || got.Text == "") && (!want.Valid || want.Text == "") {
		return true
	}
	return false
}

func show(v batch.Value) string {
	f := batch.NewField("v", v.Type)
	c, err := batch.DefaultSemantics(nil).Codec(&f)
	if err != nil || !v.Valid {
		return "null"
	}
	return fmt.Sprintf("%q", c.Text(v))
}
