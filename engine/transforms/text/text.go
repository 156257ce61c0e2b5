// Package text holds the transforms that read and write text files and that look
// at file names: CSV file input, text file input and output, get file names,
// file exists.
//
// Reading is done in three steps that the inputs share. A cutter reads blocks of
// about 512 KiB and ends each at the end of a record; a scanner finds where the
// fields of a block's records lie; a builder turns those spans into columns, one
// column at a time. The last two steps of different blocks run on different
// workers. Layouts that a scanner cannot know from bytes alone (wrapped lines,
// filters, footers) are read line by line instead.
package text

import "sluice/engine/transform"

// Transforms is the family.
var Transforms = []transform.Definition{
	CSVInput,
	TextFileInput,
	TextFileOutput,
	GetFileNames,
	FileExists,
}
