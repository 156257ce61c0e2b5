package presenter

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/canvas/scene"
	"sluice/storage"
)

// ExecutionRow is one line of the list of executions.
type ExecutionRow struct {
	storage.ExecutionHead
	Look scene.State
	When string // as people say it
	Took string
	Why  string // one line
}

// ExecutionRowOf makes a line of the list.
func ExecutionRowOf(h storage.ExecutionHead, now time.Time) ExecutionRow {
	r := ExecutionRow{ExecutionHead: h, Look: ExecutionState(h.State), Took: Elapsed(h.Duration(now))}
	if at := h.Created(); !at.IsZero() {
		r.When = When(at, now)
	}
	if h.Started.IsZero() {
		r.Took = "–"
	}
	r.Why, _, _ = strings.Cut(h.Message, "\n")
	if h.ReplayOf != "" {
		r.Why = strings.TrimSpace("replay of " + ShortID(h.ReplayOf) + "  " + r.Why)
	}
	return r
}

// shortIDLength keeps ids apart that were made in the same second.
const shortIDLength = 18

// ShortID is enough of an execution's id for a person and for every command.
func ShortID(id string) string { return id[:min(len(id), shortIDLength)] }

// stalledAfter is how long a process may be silent before its executions count as
// stalled.
const stalledAfter = 2 * time.Minute

// beating is a store that knows when processes showed last that they live.
type beating interface {
	Heartbeats(ctx context.Context) (map[string]time.Time, error)
}

// stalled marks rows of executions whose process is silent.
func stalled(ctx context.Context, s storage.ExecutionReader, rows []ExecutionRow, now time.Time) error {
	b, ok := s.(beating)
	live := false
	for i := range rows {
		live = live || !rows[i].State.Ended()
	}
	if !ok || !live {
		return nil
	}
	beats, err := b.Heartbeats(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		if at, known := beats[rows[i].ID]; known && !rows[i].State.Ended() && now.Sub(at) > stalledAfter {
			rows[i].Look, rows[i].Why = scene.StateStalled, "no heartbeat for "+Elapsed(now.Sub(at))
		}
	}
	return nil
}

// ExecutionFilter is what the list is narrowed to.
type ExecutionFilter struct {
	Text     string // part of the name or file, or the beginning of an id
	State    string // one of ExecutionStates, "" or the first for all
	Kind     string // one of ExecutionKinds
	Age      string // one of ExecutionAges
	Children bool   // what was started by another execution too
}

// The choices of the filters; the first of each is all.
const (
	allStates, stalledState = "All states", "Stalled"
	allKinds                = "All types"
	anyTime                 = "Any time"
)

// ExecutionStates are the choices of the filter of states.
func ExecutionStates() []string {
	list := []string{allStates}
	for _, s := range storage.States() {
		list = append(list, stateWord(s))
	}
	return append(list, stalledState)
}

// stateWord is how a state is written for people.
func stateWord(s storage.State) string {
	return strings.ToUpper(string(s[:1])) + strings.ToLower(string(s[1:]))
}

// ExecutionKinds are the choices of the filter of types.
func ExecutionKinds() []string { return []string{allKinds, "Pipelines", "Workflows"} }

// ages are the choices of the filter of dates.
var ages = []struct {
	name string
	days int // back from the beginning of today
}{{anyTime, -1}, {"Today", 0}, {"Last 7 days", 6}, {"Last 30 days", 29}}

// ExecutionAges are the choices of the filter of dates.
func ExecutionAges() []string {
	var list []string
	for _, a := range ages {
		list = append(list, a.name)
	}
	return list
}

// Narrowed tells whether the filter leaves anything out.
func (f ExecutionFilter) Narrowed() bool {
	return strings.TrimSpace(f.Text) != "" || f.State != "" && f.State != allStates || f.Kind != "" && f.Kind != allKinds || f.Age != "" && f.Age != anyTime
}

// query is the filter as the store takes it.
func (f ExecutionFilter) query(after string, now time.Time) storage.ExecutionQuery {
	q := storage.ExecutionQuery{RootsOnly: !f.Children, After: after, Limit: pageOfExecutions}
	for _, s := range storage.States() {
		if f.State == stateWord(s) {
			q.States = []storage.State{s}
		}
	}
	if f.State == stalledState {
		q.States = []storage.State{storage.StateRunning, storage.StateStopping, storage.StateQueued}
	}
	switch f.Kind {
	case "Pipelines":
		q.Kinds = []storage.ExecutionKind{storage.KindPipeline}
	case "Workflows":
		q.Kinds = []storage.ExecutionKind{storage.KindWorkflow}
	}
	for _, a := range ages {
		if a.name == f.Age && a.days >= 0 {
			y, m, d := now.Local().Date()
			q.From = time.Date(y, m, d-a.days, 0, 0, 0, 0, time.Local)
		}
	}
	text := strings.TrimSpace(f.Text)
	if prefix, err := storage.NormalizeIDPrefix(text); err == nil && len(text) >= 6 {
		q.IDPrefix = prefix
	} else {
		q.Name = text
	}
	return q
}

// pageOfExecutions is how many are loaded at a time.
const pageOfExecutions = 200

// LoadExecutions reads a page of the list behind an id, "" for the first one. It
// reads the disk.
func LoadExecutions(ctx context.Context, s storage.ExecutionReader, f ExecutionFilter, after string, now time.Time) (rows []ExecutionRow, next string, err error) {
	page, err := s.Executions(ctx, f.query(after, now))
	if err != nil {
		return nil, "", err
	}
	for _, h := range page.Executions {
		rows = append(rows, ExecutionRowOf(h, now))
	}
	if err := stalled(ctx, s, rows, now); err != nil {
		return nil, "", err
	}
	if f.State != stalledState {
		return rows, page.Next, nil
	}
	var silent []ExecutionRow
	for _, r := range rows {
		if r.Look == scene.StateStalled {
			silent = append(silent, r)
		}
	}
	return silent, page.Next, nil
}

// Span tells when an execution ran, with the zone and how long ago that was.
func Span(h storage.ExecutionHead, now time.Time) string {
	if h.Started.IsZero() {
		return "not started yet"
	}
	from := h.Started.Local()
	text := from.Format("2 Jan 2006, 15:04:05")
	if h.Ended.IsZero() {
		return fmt.Sprintf("%s %s (%s)", text, from.Format("MST"), Ago(now.Sub(from)))
	}
	to := h.Ended.Local()
	layout := "15:04:05"
	if from.Format("2006-01-02") != to.Format("2006-01-02") {
		layout = "2 Jan 15:04:05"
	}
	return fmt.Sprintf("%s to %s %s (%s)", text, to.Format(layout), to.Format("MST"), Ago(now.Sub(to)))
}
