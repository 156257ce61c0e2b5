package action

import (
	"slices"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Result is what an action hands to the next one. It holds its Rows: whoever
// owns a Result releases it.
type Result struct {
	transform.Result
	// Fresh says that an action on the way here has run and was not reused: then
	// nothing behind it may be reused either.
	Fresh bool
}

// maxCarriedLog bounds the log text that a result carries from earlier actions,
// in bytes, so that a loop of many turns stays cheap.
const maxCarriedLog = 64 << 10

// Clone gives a copy with holds of its own on the rows.
func (r *Result) Clone() *Result {
	c := r.LightClone()
	for _, b := range r.Rows {
		c.Rows = append(c.Rows, b.Retain())
	}
	return c
}

// LightClone gives a copy without the rows.
func (r *Result) LightClone() *Result {
	c := *r
	c.Rows, c.ResultFiles = nil, slices.Clone(r.ResultFiles)
	return &c
}

// Release lets the rows go.
func (r *Result) Release() {
	for _, b := range r.Rows {
		b.Release()
	}
	r.Rows = nil
}

// SetRows replaces the rows; the holds of the new ones pass to the result.
func (r *Result) SetRows(rows []*batch.Batch) {
	r.Release()
	r.Rows = rows
}

// Clear sets the counters to zero; outcome, rows and files stay.
func (r *Result) Clear() {
	r.Errors, r.Read, r.Written, r.Input, r.Output = 0, 0, 0, 0, 0
	r.Updated, r.Rejected, r.Deleted, r.Files = 0, 0, 0, 0
}

// Count adds the counters of another result.
func (r *Result) Count(o *transform.Result) {
	r.Errors += o.Errors
	r.Read, r.Written = r.Read+o.Read, r.Written+o.Written
	r.Input, r.Output = r.Input+o.Input, r.Output+o.Output
	r.Updated, r.Rejected = r.Updated+o.Updated, r.Rejected+o.Rejected
	r.Deleted, r.Files = r.Deleted+o.Deleted, r.Files+o.Files
}

// Add adds counters, files, and rows of another result, whose holds pass over;
// the outcome stays (Hop's Result.add).
func (r *Result) Add(o *Result) {
	r.Fresh = r.Fresh || o.Fresh
	r.Count(&o.Result)
	for _, f := range o.ResultFiles {
		r.AddFile(f)
	}
	r.Rows = append(r.Rows, o.Rows...)
	o.Rows = nil
	r.CarryLog(o.LogText)
}

// AddFile adds a result file; one with the same path is replaced, in its place.
func (r *Result) AddFile(f transform.ResultFile) {
	for i := range r.ResultFiles {
		if r.ResultFiles[i].Path == f.Path {
			r.ResultFiles[i] = f
			return
		}
	}
	r.ResultFiles = append(r.ResultFiles, f)
}

// CarryLog puts text before the log text there is; what is carried from before is
// cut where it grows long.
func (r *Result) CarryLog(text string) {
	before := r.LogText
	if len(before) > maxCarriedLog {
		before = before[:maxCarriedLog]
		if end := strings.LastIndexByte(before, '\n'); end > 0 {
			before = before[:end+1]
		}
	}
	r.LogText = text + before
}

// Fail makes the result a failure without an error, which decides the way to go.
func (r *Result) Fail() { r.OK = false }

// Succeed makes the result a success without errors.
func (r *Result) Succeed() { r.OK, r.Errors = true, 0 }

// RowCount is the number of result rows.
func (r *Result) RowCount() int64 {
	n := 0
	for _, b := range r.Rows {
		n += b.Rows()
	}
	return int64(n)
}

// SplitRows gives a batch per row, each with a hold for the caller; the batches
// share the columns of the rows.
func (r *Result) SplitRows() []*batch.Batch {
	var list []*batch.Batch
	for _, b := range r.Rows {
		for i := range b.All() {
			list = append(list, b.Select([]int32{int32(i)}))
		}
	}
	return list
}
