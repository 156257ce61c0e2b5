// Package parquet reads and writes Parquet files.
//
// Files of our own are read and written by engine/parquet; files of other programs
// are read through arrow-go, which only this family links.
package parquet

import "sluice/engine/transform"

// Transforms lists the family.
var Transforms = []transform.Definition{
	ParquetFileInput,
	ParquetFileOutput,
}
