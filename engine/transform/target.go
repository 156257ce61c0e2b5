package transform

// Target is what a sink, or an action with effects, writes to, and what a second
// run of it would do there.
type Target struct {
	// Name is what a person recognises, without secrets: a file, or a connection
	// and a table. Empty when it depends on the rows.
	Name string
	// Idempotent says that a second run with the same rows leaves the same.
	Idempotent bool
	// How says it in words: replaced file, truncate first, upsert by key, append.
	How string
	// TakenBack says that nothing of a run that failed in the middle stays.
	TakenBack bool
}

// Targeted is implemented by the settings of sinks.
type Targeted interface{ WritesTo(r Resolver) Target }

// The words of How that several sinks share.
const (
	HowReplaced  = "replaced file"
	HowAppended  = "append"
	HowNewFile   = "a new file each time"
	HowUpsert    = "upsert by key"
	HowTruncated = "truncate first"
	HowUnknown   = "unknown"
)

// TargetOf is what a sink writes to; what does not say is taken for one that
// writes twice.
func TargetOf(s Settings, r Resolver) Target {
	if t, ok := s.(Targeted); ok {
		return t.WritesTo(r)
	}
	return Target{How: HowUnknown}
}

// Resolved is a setting as a person recognises it: with its variables replaced
// where that works.
func Resolved(r Resolver, text string) string {
	if value, err := r.Resolve(text); err == nil {
		return value
	}
	return text
}

// FileTarget is the target of an output file: replaced unless it is appended to,
// or has a name of its own each time. File outputs write beside the file and move
// it there at the end, so that a failure takes them back.
func FileTarget(name string, appends, named bool) Target {
	t := Target{Name: name, Idempotent: true, How: HowReplaced, TakenBack: true}
	switch {
	case appends:
		t.Idempotent, t.How, t.TakenBack = false, HowAppended, false
	case named:
		t.Idempotent, t.How = false, HowNewFile
	}
	return t
}
