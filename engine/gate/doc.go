// Package gate makes rows safe at replay gates and takes them from there.
//
// A Gate is a mark in a file: this node's output is spooled. A Spool is a gate
// at work in one execution (a pipeline.Cut); what it seals is a snapshot, which
// package storage/snapshot keeps and proves. A Source is a sealed snapshot in
// the place of the transform that made it (a pipeline.Bound). A Fingerprint is
// everything above a gate that can change its rows, so that a start from a
// snapshot is refused when the file would no longer make those rows.
//
// A Session carries all of this through one run: it reads the marks of the
// pipeline and of its children, and puts cuts and bound rows into them. The dev
// cache and the safe engine are the same machinery with other rules. What to
// replay of a failed execution is decided elsewhere.
package gate
