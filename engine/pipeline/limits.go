package pipeline

import (
	"math"

	"sluice/engine"
	"sluice/engine/transform"
)

// limits end an execution when a transform rejects too many rows.
type limits struct {
	maxErrors  int64
	maxPercent int64
	minRows    int64
}

func newLimits(l *transform.ErrorLink, r transform.Resolver) (*limits, error) {
	if l == nil {
		return nil, nil
	}
	var out limits
	for _, v := range []struct {
		text string
		to   *int64
	}{{l.MaxErrors, &out.maxErrors}, {l.MaxPercent, &out.maxPercent}, {l.MinRows, &out.minRows}} {
		n, err := (transform.Expr[int64]{Text: v.text}).Eval(r)
		if err != nil {
			return nil, err
		}
		*v.to = n
	}
	if out.maxErrors <= 0 && out.maxPercent <= 0 {
		return nil, nil
	}
	return &out, nil
}

// check is called after each row, as Hop does.
func (l *limits) check(u *unit) error {
	rejected, read := u.counters.Rejected.Load(), u.counters.Read.Load()
	if l.maxErrors > 0 && rejected > l.maxErrors {
		return &engine.Error{Transform: u.node.Name, Message: "more rows were rejected than its error handling allows", Hint: "correct the rows, or raise the maximum number of errors"}
	}
	if l.maxPercent > 0 && read > 0 && read >= l.minRows && int64(math.Ceil(100*float64(rejected)/float64(read))) > l.maxPercent {
		return &engine.Error{Transform: u.node.Name, Message: "a larger share of the rows was rejected than its error handling allows", Hint: "correct the rows, or raise the maximum percentage of errors"}
	}
	return nil
}
