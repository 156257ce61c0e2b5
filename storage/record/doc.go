// Package record keeps the portable record of executions beside their
// snapshots, so that another machine with nothing but the remote can check and
// replay them.
//
// All records of one chain of replays share a folder, executions/<origin>/. A
// Writer belongs to one root execution: at the start, after each action and at
// the end it stores a head, the whole record so far with the digest of the head
// before, and a MAC where a key is set. Large or final pieces (definitions,
// result rows, pages of ended action runs) are blobs named by their hash. A
// Claim is the right to replay: of several claims the lowest living one wins.
//
// FORMAT.md states the names and bytes.
package record
