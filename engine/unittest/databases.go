package unittest

import (
	"context"
	"database/sql"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// replaced puts other connections in the place of those the test names.
func (t *testRun) replaced(real func(*project.Variables, *batch.Allocator) pipeline.Databases) func(*project.Variables, *batch.Allocator) pipeline.Databases {
	return func(scope *project.Variables, a *batch.Allocator) pipeline.Databases {
		return &replacing{Databases: real(scope, a), list: t.test.DatabaseReplacements}
	}
}

type replacing struct {
	pipeline.Databases
	list []project.DatabaseReplacement
}

func (r *replacing) name(connection string) string {
	for _, x := range r.list {
		if strings.EqualFold(x.Original, connection) {
			return x.Replacement
		}
	}
	return connection
}

// DB implements transform.Databases.
func (r *replacing) DB(ctx context.Context, connection string) (*sql.DB, transform.Dialect, error) {
	return r.Databases.DB(ctx, r.name(connection))
}

// QueryLayout implements pipeline.Databases.
func (r *replacing) QueryLayout(scope *project.Variables, connection, query string) (*batch.Schema, error) {
	return r.Databases.QueryLayout(scope, r.name(connection), query)
}

// TableLayout implements pipeline.Databases.
func (r *replacing) TableLayout(scope *project.Variables, connection, schema, table string) (*batch.Schema, error) {
	return r.Databases.TableLayout(scope, r.name(connection), schema, table)
}
