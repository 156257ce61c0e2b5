// Package snapshot writes, proves, reads and removes the rows that an
// execution spooled at a replay gate.
//
// A snapshot is one folder of a storage.Remote, written by one Writer. It
// holds parts (one per output port and copy of the gate's transform), each a
// sequence of segments: immutable objects whose bytes this package does not
// look into. SnapshotManifest.json comes last and seals it. Store is the
// handle on all snapshots below one location.
//
// FORMAT.md beside this file states every byte and every invariant, and
// derives the order of writes, reads and deletes from them. There is no lock
// that works on every remote, so none is needed: folders are unique, names
// are written once, and a tombstone always wins.
package snapshot
