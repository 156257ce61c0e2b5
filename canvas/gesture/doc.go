// Package gesture turns pointer and key events on a canvas into intentions.
//
// A Machine is fed Events and answers with a Result: the intentions that are
// complete (one per finished gesture, so that each is one step to undo) and
// whether the picture changed meanwhile. What a gesture in progress shows
// (rubber band, new hop, guides) is its Trace. While nodes are dragged the
// machine moves them in the scene only; the document changes when the caller
// carries out the Move it gets at the end, or not at all after Escape.
//
// The package reads no clock and draws nothing: events carry their time, and
// the caller paints the trace. A Machine is owned by one goroutine.
package gesture
