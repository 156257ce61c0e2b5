// Package rows holds the transforms that change the values and the fields of
// single rows: select, rename, convert, constants, text operations.
//
// Transforms lists them. All but the counters work on one row at a time and run
// on as many workers as there are. They read unread text only where they need a
// value, and share every column they leave alone.
package rows

import "sluice/engine/transform"

// Transforms is the family.
var Transforms = []transform.Definition{
	Dummy,
	SelectValues,
	Constant,
	Sequence,
	CloneRow,
	ConcatFields,
	FieldSplitter,
	SplitFieldToRows,
	StringOperations,
	StringCut,
	ReplaceString,
	ValueMapper,
	NumberRange,
	IfNull,
	NullIf,
	Coalesce,
	SetValueConstant,
	SetValueField,
	CheckSum,
	FieldsChangeSequence,
	RepeatFields,
	DetectLastRow,
	SampleRows,
	ReservoirSampling,
	TransformMetaStructure,
	StreamSchema,
}
