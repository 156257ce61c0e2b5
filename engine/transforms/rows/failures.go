package rows

import (
	"maps"
	"slices"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// failures keeps the first error of each row of a batch while columns are worked
// on one after the other; Hop, which works row by row, knows no second one. The
// zero value is ready.
type failures struct {
	why map[int]transform.RowError
}

func (f *failures) add(row int, why transform.RowError) {
	if f.why == nil {
		f.why = map[int]transform.RowError{}
	}
	if _, taken := f.why[row]; !taken {
		f.why[row] = why
	}
}

// emit hands on out, which has the rows of b, without the rows that failed; those
// go to the error port as they were in b. Without an error hop the first of them
// is the error. It takes over out.
func (f *failures) emit(env *transform.Env, b, out *batch.Batch, emit transform.Emit) error {
	if len(f.why) == 0 {
		return emit(transform.Main, out)
	}
	rej := env.Rejects(b)
	for _, row := range slices.Sorted(maps.Keys(f.why)) {
		if err := rej.Add(row, f.why[row]); err != nil {
			out.Release()
			return err
		}
	}
	kept := out.Select(rej.Keep())
	out.Release()
	if kept.Rows() == 0 {
		kept.Release()
	} else if err := emit(transform.Main, kept); err != nil {
		return err
	}
	return rej.Flush(b, emit)
}
