package sql

import "sluice/engine/transform"

// tableTarget names a table for people.
func tableTarget(r transform.Resolver, connection, schema, table string) string {
	name := transform.Resolved(r, table)
	if s := transform.Resolved(r, schema); s != "" {
		name = s + "." + name
	}
	return "connection " + transform.Resolved(r, connection) + ", table " + name
}

// WritesTo implements transform.Targeted for what finds its rows by a key.
func (t *Target) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: tableTarget(r, t.Connection.Text, t.Schema.Text, t.Table.Text), Idempotent: true, How: transform.HowUpsert}
}

// WritesTo implements transform.Targeted: rows are inserted once more.
func (s *SynchronizeSettings) WritesTo(r transform.Resolver) transform.Target {
	t := s.Target.WritesTo(r)
	t.Idempotent, t.How = false, transform.HowAppended
	return t
}

// WritesTo implements transform.Targeted.
func (s *TableOutputSettings) WritesTo(r transform.Resolver) transform.Target {
	t := transform.Target{Name: tableTarget(r, s.Connection.Text, s.Schema.Text, s.Table.Text), How: transform.HowAppended}
	if s.TableInField || s.Partition {
		t.Name = "connection " + transform.Resolved(r, s.Connection.Text) + ", tables named by the rows"
	}
	if s.Truncate && !s.OnlyRows || s.Recreate {
		t.Idempotent, t.How = true, transform.HowTruncated
	}
	return t
}

// WritesTo implements transform.Targeted: nobody knows what a script does twice.
func (s *ExecSQLSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: "connection " + transform.Resolved(r, s.Connection.Text), How: "SQL script"}
}

// WritesTo implements transform.Targeted: nobody knows what a script does twice.
func (s *ExecSQLRowSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: "connection " + transform.Resolved(r, s.Connection.Text), How: "SQL of the rows"}
}
