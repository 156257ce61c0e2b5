package transform

import "sync/atomic"

// Counters are the row counts of one transform copy, in Hop's words: read and
// written are rows from and to other transforms, input and output rows from and
// to files and databases. They are added to per batch, never per row.
type Counters struct {
	Read, Written, Input, Output, Updated, Rejected, Errors atomic.Int64
}
