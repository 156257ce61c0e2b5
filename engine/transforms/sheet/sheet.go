// Package sheet holds the transforms that read and write spreadsheets: Microsoft
// Excel input and Microsoft Excel writer.
//
// Workbooks are read by this package itself: .xlsx and .ods row by row from their
// archive, .xls (BIFF8) from its stream, each cell with its type, so numbers and
// dates never pass through their formatted text. Files are written by excelize.
package sheet

import "sluice/engine/transform"

// Transforms is the family.
var Transforms = []transform.Definition{
	ExcelInput,
	ExcelWriter,
}
