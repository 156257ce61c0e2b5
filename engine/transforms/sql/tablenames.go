package sql

import (
	"fmt"
	"sync"
	"time"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// tableNamer gives the table of a row: one for all, the one a field names, or one
// per day or month of a date field.
type tableNamer struct {
	schema string
	fixed  string // one for all
	field  int    // -1 with fixed
	base   string
	mask   string // Go layout of the period; empty when the field holds the name
	sem    *batch.Semantics
	codec  *batch.Codec
}

func (s *TableOutputSettings) tableNames(env *transform.Env, in *batch.Schema) (tableNamer, error) {
	n := tableNamer{field: -1, sem: env.Semantics}
	var err error
	if n.schema, err = s.Schema.Eval(env); err != nil {
		return n, fmt.Errorf("schema: %w", err)
	}
	if n.base, err = s.Table.Eval(env); err != nil {
		return n, fmt.Errorf("table: %w", err)
	}
	switch {
	case s.TableInField:
		return n, n.fromField(s.TableField, env, in)
	case s.Partition && (s.PartitionDaily || s.PartitionMonthly) && !s.PartitionField.IsEmpty():
		if n.mask = "200601"; s.PartitionDaily {
			n.mask = "20060102"
		}
		if err := n.fromField(s.PartitionField, env, in); err != nil {
			return n, err
		}
		if f := in.Fields[n.field]; !f.Type.IsDate() {
			return n, fmt.Errorf("field %q is %s; a date is needed to choose the table by its period", f.Name, f.Type)
		}
		return n, nil
	}
	if n.fixed = n.base; n.fixed == "" {
		return n, fmt.Errorf("no table is named")
	}
	return n, nil
}

func (n *tableNamer) fromField(name transform.Expr[string], env *transform.Env, in *batch.Schema) error {
	field, err := name.Eval(env)
	if err != nil {
		return err
	}
	if n.field, err = position(in, field); err != nil {
		return err
	}
	n.codec, err = env.Semantics.Codec(&in.Fields[n.field])
	return err
}

// of gives the table of row i.
func (n *tableNamer) of(b *batch.Batch, i int) (string, error) {
	if n.field < 0 {
		return n.fixed, nil
	}
	col := b.Cols[n.field]
	if n.sem.IsNull(col, i) {
		return "", errNoTable
	}
	v := col.Value(i)
	if n.mask == "" {
		return n.codec.Text(v), nil
	}
	loc := n.sem.Location
	if loc == nil {
		loc = time.UTC
	}
	return n.base + "_" + time.UnixMilli(v.Millis()).In(loc).Format(n.mask), nil
}

// oncePerRun does something once for all copies of one execution; the others wait
// for it and get its error. The zero value is ready.
type oncePerRun struct {
	mu   sync.Mutex
	runs map[string]error
}

func (o *oncePerRun) do(run string, f func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err, done := o.runs[run]; done {
		return err
	}
	if o.runs == nil {
		o.runs = map[string]error{}
	}
	err := f()
	o.runs[run] = err
	return err
}
