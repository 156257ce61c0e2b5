package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/storage"
)

// executionsFlags choose executions.
type executionsFlags struct {
	states, kinds []string
	name          string
	since, until  string
	all           bool
	limit         int
	after         string
	json          bool
}

func executionsCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "executions", Short: "List and show what has run, and remove old records", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		executionsListCommand(sh), executionsShowCommand(sh), executionsTreeCommand(sh), executionsLogsCommand(sh),
		executionsDeleteCommand(sh), executionsPruneCommand(sh),
	)
	return c
}

// history opens the record of this user; the caller closes it.
func (sh *shell) history() (*workspace.History, error) {
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	return workspace.NewHistory(folders, slog.New(slog.DiscardHandler)), nil
}

// withHistory runs a command on the record.
func (sh *shell) withHistory(ctx context.Context, do func(storage.ExecutionStore) error) error {
	h, err := sh.history()
	if err != nil {
		return err
	}
	s, err := h.Store(ctx)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	return errors.Join(do(s), h.Close())
}

// resolved completes a shortened id.
func resolved(ctx context.Context, s storage.ExecutionReader, text string) (string, error) {
	id, err := s.ResolveID(ctx, text)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return "", &exitError{ExitUnusable, fmt.Errorf("there is no execution %s; sluice executions list shows them", text)}
	case err != nil:
		return "", &exitError{ExitUnusable, err}
	}
	return id, nil
}

func executionsListCommand(sh *shell) *cobra.Command {
	f := &executionsFlags{}
	c := &cobra.Command{
		Use: "list", Short: "List executions, newest first", Args: cobra.NoArgs,
		Example: "  sluice executions list --state FAILED --since 24h\n  sluice executions list --name nightly --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error { return sh.executionsList(c.Context(), s, f) })
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.states, "state", nil, "only these `states`, such as FAILED,INTERRUPTED")
	fl.StringSliceVar(&f.kinds, "kind", nil, "only these `kinds`: pipeline, workflow")
	fl.StringVar(&f.name, "name", "", "`part` of the name or of the file")
	fl.StringVar(&f.since, "since", "", "begun at this `time` or later: 24h, 7d, 2026-11-30 or 2026-11-30T08:00")
	fl.StringVar(&f.until, "until", "", "begun before this `time`")
	fl.BoolVar(&f.all, "all", false, "children too; default: only what was started by itself")
	fl.IntVar(&f.limit, "limit", 50, "most `executions` to list")
	fl.StringVar(&f.after, "after", "", "`id` of the last one of the page before")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

type jsonExecution struct {
	ID        string    `json:"execution_id"`
	Parent    string    `json:"parent,omitempty"`
	Root      string    `json:"root"`
	CallPath  string    `json:"call_path,omitempty"`
	ReplayOf  string    `json:"replay_of,omitempty"`
	Origin    string    `json:"origin"`
	Kind      string    `json:"kind"`
	Name      string    `json:"name"`
	File      string    `json:"file,omitempty"`
	State     string    `json:"state"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Message   string    `json:"message,omitempty"`
	Host      string    `json:"host,omitempty"`
	PID       int       `json:"pid,omitempty"`
	Who       string    `json:"who,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	NextAfter string    `json:"-"`
}

func executionOf(h storage.ExecutionHead) jsonExecution {
	return jsonExecution{
		ID: h.ID, Parent: h.Parent, Root: h.Root, CallPath: h.CallPath, ReplayOf: h.ReplayOf, Origin: h.Origin, Kind: string(h.Kind), Name: h.Name,
		File: h.File, State: string(h.State), Started: h.Started, Ended: h.Ended, Message: h.Message, Host: h.Host, PID: h.PID, Who: h.Who, Reason: h.Reason,
	}
}

func (f *executionsFlags) query(now time.Time) (storage.ExecutionQuery, error) {
	q := storage.ExecutionQuery{Name: f.name, RootsOnly: !f.all, Limit: f.limit, After: f.after}
	for _, s := range f.states {
		state := storage.State(strings.ToUpper(strings.TrimSpace(s)))
		if !state.Known() {
			return q, fmt.Errorf("--state %s is unknown; the states are %s", s, statesText())
		}
		q.States = append(q.States, state)
	}
	for _, k := range f.kinds {
		q.Kinds = append(q.Kinds, storage.ExecutionKind(strings.ToLower(strings.TrimSpace(k))))
	}
	var err error
	if q.From, err = moment(f.since, now); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if q.To, err = moment(f.until, now); err != nil {
		return q, fmt.Errorf("--until: %w", err)
	}
	return q, nil
}

func statesText() string {
	var names []string
	for _, s := range storage.States() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// moment reads a time of the local zone, or a duration before now.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := age(text); err == nil {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 24h, 7d, 2026-11-30 or 2026-11-30T08:00", text)
}

// age reads a duration, days included.
func age(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		if _, err := fmt.Sscanf(days, "%g", &n); err == nil && n >= 0 {
			return time.Duration(n * float64(24*time.Hour)), nil
		}
	}
	return time.ParseDuration(text)
}

func (sh *shell) executionsList(ctx context.Context, s storage.ExecutionStore, f *executionsFlags) error {
	q, err := f.query(time.Now())
	if err != nil {
		return err
	}
	if q.After != "" {
		if q.After, err = resolved(ctx, s, q.After); err != nil {
			return err
		}
	}
	page, err := s.Executions(ctx, q)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	if f.json {
		out := struct {
			Executions []jsonExecution `json:"executions"`
			Next       string          `json:"next,omitempty"`
		}{[]jsonExecution{}, page.Next}
		for _, h := range page.Executions {
			out.Executions = append(out.Executions, executionOf(h))
		}
		return sh.json(out)
	}
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "EXECUTION\tSTATE\tSTARTED\tDURATION\tKIND\tNAME\tWHY")
	for _, h := range page.Executions {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", shortID(h.ID), h.State, timeText(h.Started), durationText(h.Duration(time.Now())), h.Kind, h.Name, oneLine(whyText(h), 80))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if page.Next != "" && len(page.Executions) > 0 {
		fmt.Fprintf(sh.Err, "There are more: --after %s\n", page.Executions[len(page.Executions)-1].ID)
	}
	return nil
}

func whyText(h storage.ExecutionHead) string {
	if h.ReplayOf == "" {
		return h.Message
	}
	return strings.TrimSpace("replay of " + shortID(h.ReplayOf) + " " + h.Message)
}

// shortIDLength keeps ids apart that were made in the same second.
const shortIDLength = 18

// shortID is enough of an id for a person and for every command.
func shortID(id string) string { return id[:min(len(id), shortIDLength)] }

func timeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func durationText(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// oneLine cuts a text to its first line and to a number of characters.
func oneLine(text string, most int) string {
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
