// Package rows holds the transforms that change the values and the fields of
// single rows: select, rename, convert, constants, text operations.
//
// Transforms lists them. All but the counters work on one row at a time and run
// on as many workers as there are.
package rows

import "sluice/engine/transform"

// Transforms is the family.
var Transforms = []transform.Definition{
	Constant,
}
