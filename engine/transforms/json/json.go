// Package json holds the transforms that read and write JSON: JSON input, JSON
// output, enhanced JSON output, JSON normalize input.
//
// Documents keep the order of members and the text of numbers from end to end:
// big numbers and 64-bit integers never pass through a float.
package json

import "sluice/engine/transform"

// Transforms is the family.
var Transforms = []transform.Definition{
	JSONInput,
	JSONNormalize,
	JSONOutput,
	EnhancedJSONOutput,
}
