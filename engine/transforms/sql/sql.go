// Package sql holds the transforms that read and write databases over the
// connections of the metadata.
//
// A session is one copy's own connection with its transaction and its prepared
// statements. The writing transforms commit every so many rows; Abort takes back
// what was not committed, never more.
//
// How connections are opened and values are converted is the business of
// engine/database.
package sql

import "sluice/engine/transform"

// Transforms is the family.
var Transforms = []transform.Definition{
	TableInput, TableOutput, InsertUpdate, Update, Delete, SynchronizeAfterMerge,
	ExecSQL, ExecSQLRow, DBLookup, DBJoin, TableExists, ColumnExists,
}
