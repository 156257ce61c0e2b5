// Package script holds the transforms whose behaviour is an expression:
// conditions, calculations, formulas, regular expressions and JavaScript.
package script

import "sluice/engine/transform"

// Transforms lists the family.
var Transforms = []transform.Definition{
	FilterRows,
	SwitchCase,
	JavaFilter,
	Calculator,
	Formula,
	ScriptValueMod,
	RegexEval,
	JoinRows,
}
