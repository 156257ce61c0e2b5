// Package parquet writes and reads the segments of snapshots: Parquet files that
// every data tool opens, made straight from columnar batches.
//
// A Writer encodes batches of one schema into one file. A File reads such a file
// back, column by column, to exactly the rows that were written. A Foreign gives
// the values of a file of any program, as they are stored; what they become is the
// caller's to say.
//
// # Layout
//
// A row group holds Options.GroupRows rows or a few more. One data page (version 1)
// holds one batch of one column; batches below 2,048 rows (16,384 with Zstd, which
// finds what repeats within a page) are collected first.
// Integers, dates, decimals of up to 18 digits and lengths are DELTA_BINARY_PACKED,
// larger decimals 16 bytes, doubles and texts a dictionary while that pays, else
// BYTE_STREAM_SPLIT and DELTA_LENGTH_BYTE_ARRAY; definition levels are the validity
// bitmap. With Options.Split and Zstd integers are BYTE_STREAM_SPLIT where that takes
// less. A page of nulls alone is PLAIN and empty. A column chunk whose first page
// does not shrink by Options.Saving is not compressed; with Zstd, one that shrinks
// nearly as much by Huffman codes alone has no more. Options.Compatible uses PLAIN
// and dictionaries only.
//
// A Timestamp with nanoseconds has a companion column "name__nanos" of the 1 to 999
// nanoseconds below its microseconds, null where there are none. A BigNumber is
// DECIMAL of the scale of its first values, or canonical text when they have
// several scales or more than 38 digits.
//
// Key-value metadata: MetadataKey has Hop's types, masks and lengths,
// "sluice.version" the version of this layout, "sluice.nanos" the fields with a
// companion.
//
// # Checksums
//
// Every bit of a file is covered: page bodies by the CRC-32 in their header; page
// headers by "sluice.headers" in the metadata of their column chunk; the footer by
// "sluice.footer", a CRC-32 computed with zeros in its own place. They find
// damage, not forgery: that is what the SHA-256 of a snapshot is for.
package parquet
