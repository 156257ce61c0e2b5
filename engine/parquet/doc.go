// Package parquet writes and reads the segments of snapshots: Parquet files that
// every data tool opens, made straight from columnar batches.
//
// A Writer encodes batches of one schema into one file in memory. A File reads
// such a file back, column by column, to exactly the rows that were written.
// Files of other programs are not read here.
//
// # Layout
//
// One row group holds up to RowGroupRows rows, one data page (version 1, with a
// CRC-32) holds one batch of one column. Integers, dates, scaled decimals and
// lengths are DELTA_BINARY_PACKED, texts a dictionary while it stays small and
// DELTA_LENGTH_BYTE_ARRAY otherwise; definition levels are the validity bitmap.
// Options.Compatible uses PLAIN and dictionaries only.
//
// Hop's types, masks and lengths are in the key-value metadata under MetadataKey.
package parquet
