// Package batch holds rows while they move through a pipeline: schemas, value
// types, and columnar batches in Arrow's memory layout.
//
// A Schema lists Fields with Hop's value types and formatting facts. A Column is
// one field's values of one batch: plain typed slices and a validity bitmap. A
// Batch is a Schema, one Column per field and an optional selection vector, so
// that a filter drops rows without moving them. A Value is one cell, for code
// that works on single values.
//
// # Ownership
//
// Batches and columns are reference-counted and come from an Allocator, which
// pools their memory and counts what is alive. A function that is handed a batch
// borrows it unless its comment says otherwise; whoever creates or retains one
// releases it. A batch that more than one holder may see is never changed.
//
// # Text that waits
//
// A column may be raw: it holds the text of a value that nobody has needed yet
// (Hop's lazy conversion). Batch.Col gives the typed column and remembers it.
//
// Masks live in the mask package below, exact decimals in decimal.
package batch
