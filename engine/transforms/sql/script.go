package sql

import (
	"context"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// CounterFields name the fields that get the row counts of a script; an empty
// name leaves one out.
type CounterFields struct {
	Insert string `hop:"insert_field" label:"Field for inserted rows"`
	Update string `hop:"update_field" label:"Field for updated rows"`
	Delete string `hop:"delete_field" label:"Field for deleted rows"`
	Read   string `hop:"read_field" label:"Field for rows read"`
}

const counterLength = 10

// fields gives the named counters in Hop's order: updated, inserted, deleted,
// read.
func (c *CounterFields) fields(origin string) (list []batch.Field) {
	for _, name := range []string{c.Update, c.Insert, c.Delete, c.Read} {
		if name != "" {
			f := batch.NewField(name, batch.Integer)
			f.Length, f.Precision, f.Origin = counterLength, 0, origin
			list = append(list, f)
		}
	}
	return list
}

// rowCounts are the rows a script changed and read.
type rowCounts struct{ inserted, updated, deleted, read int64 }

// appendTo adds a value to each of the named counters' columns.
func (n rowCounts) appendTo(c *CounterFields, cols []*batch.Column) {
	k := 0
	for _, v := range []struct {
		name  string
		count int64
	}{{c.Update, n.updated}, {c.Insert, n.inserted}, {c.Delete, n.deleted}, {c.Read, n.read}} {
		if v.name != "" {
			cols[k].AppendInt(v.count)
			k++
		}
	}
}

// counterColumns makes empty columns for the named counters.
func counterColumns(env *transform.Env, fields []batch.Field) []*batch.Column {
	cols := make([]*batch.Column, len(fields))
	for i := range cols {
		cols[i] = env.Alloc.Column(batch.Integer)
	}
	return cols
}

func releaseColumns(cols []*batch.Column) {
	for _, c := range cols {
		c.Release()
	}
}

// statements cuts a script, unless it is sent as it is.
func statements(script string, single bool) []string {
	if single {
		if database.Verb(script) == "" {
			return nil
		}
		return []string{script}
	}
	return database.Split(script)
}

// run executes statements in order. Each gets all arguments when it has as many
// placeholders, as in Hop; otherwise they are dealt out in order.
func (s *session) run(ctx context.Context, list []string, args []any) (n rowCounts, err error) {
	left := args
	for _, st := range list {
		own := args
		if want := database.Placeholders(st); len(args) > 0 && want != len(args) {
			if want > len(left) {
				return n, fmt.Errorf("the statement %q has %d parameters, but there are %d values for it", st, want, len(left))
			}
			own, left = left[:want], left[want:]
		}
		if err := s.runOne(ctx, st, own, &n); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (s *session) runOne(ctx context.Context, st string, args []any, n *rowCounts) error {
	if strings.IndexByte(st, 0) >= 0 {
		return fmt.Errorf("the statement %q holds a NUL character, at which a database would cut it", st)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.within(ctx); err != nil {
		return err
	}
	if database.ReturnsRows(st) {
		rows, err := s.conn.QueryContext(ctx, st, args...)
		if err != nil {
			return s.failure(st, err)
		}
		defer rows.Close()
		for rows.Next() {
			n.read++
		}
		if err := rows.Err(); err != nil {
			return s.failure(st, err)
		}
		return nil
	}
	r, err := s.conn.ExecContext(ctx, st, args...)
	if err != nil {
		return s.failure(st, err)
	}
	changed, err := r.RowsAffected()
	if err != nil {
		return nil // the statement is done; a database that does not count has no error
	}
	switch database.Verb(st) {
	case "INSERT", "REPLACE":
		n.inserted += changed
	case "UPDATE":
		n.updated += changed
	case "DELETE":
		n.deleted += changed
	}
	return nil
}
