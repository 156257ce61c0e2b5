// Package hopxml reads and edits Hop's .hpl and .hwf files without losing a
// byte of them.
//
// A [Document] keeps the bytes it was read from under an immutable tree of
// [Element]s: a piece of the tree is a span of those bytes or new text, and
// Bytes splices them. The law: open and save give the same bytes, and one edit
// changes only the lines it touches. Unknown elements, comments, escapes,
// order and legacy keys stay.
//
// An edit is a function from document to document (type [Edit]) that shares
// all it does not touch; undo is keeping the earlier document. Elements are
// addressed by [ID], an identity that survives every edit, moves included.
//
// [Pipeline] and [Workflow] are typed views over a document: what Hop reads
// from it, with Hop's defaults and its case-insensitive names. What a
// transform's own settings mean is left to package transform.
package hopxml
