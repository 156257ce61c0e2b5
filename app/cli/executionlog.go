package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/storage"
)

type logFlags struct {
	level, node, search string
	own, follow, json   bool
	limit               int
}

// followEvery is how often a followed log is read again.
const followEvery = 300 * time.Millisecond

func executionsLogsCommand(sh *shell) *cobra.Command {
	f := &logFlags{}
	c := &cobra.Command{
		Use: "logs EXECUTION", Short: "Show the log of an execution and of what it called", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error { return sh.executionsLogs(c.Context(), s, args[0], f) })
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.level, "level", "", "least `level`: debug, info, warn, error")
	fl.StringVar(&f.node, "node", "", "only entries of this transform or `action`")
	fl.StringVar(&f.search, "search", "", "only entries with this `text`")
	fl.BoolVar(&f.own, "own", false, "without the entries of what it called")
	fl.BoolVar(&f.follow, "follow", false, "go on until the execution has ended")
	fl.IntVar(&f.limit, "limit", 0, "only the first `entries`; 0: all")
	fl.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return c
}

func logLevel(text string) (*storage.LogLevel, error) {
	var l storage.LogLevel
	switch strings.ToLower(text) {
	case "":
		return nil, nil
	case "debug":
		l = storage.LevelDebug
	case "info":
		l = storage.LevelInfo
	case "warn":
		l = storage.LevelWarn
	case "error":
		l = storage.LevelError
	default:
		return nil, fmt.Errorf("--level %s is unknown; write debug, info, warn or error", text)
	}
	return &l, nil
}

func (sh *shell) executionsLogs(ctx context.Context, s storage.ExecutionStore, text string, f *logFlags) error {
	level, err := logLevel(f.level)
	if err != nil {
		return err
	}
	id, err := resolved(ctx, s, text)
	if err != nil {
		return err
	}
	head, err := s.Execution(ctx, id)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	q := storage.LogQuery{Execution: id, MinLevel: level, Node: f.node, Search: f.search}
	if !f.own && head.Root == id {
		q.Execution, q.Root = "", id
	}
	shown := 0
	for {
		ended := head.State.Ended()
		for more := true; more; {
			page, err := s.Logs(ctx, q)
			if err != nil {
				return &exitError{ExitErrors, err}
			}
			for _, e := range page.Entries {
				if f.limit > 0 && shown == f.limit {
					return nil
				}
				shown++
				if err := sh.printEntry(e, f.json); err != nil {
					return err
				}
			}
			q.After, more = page.Next, page.More
		}
		if !f.follow || ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
		if head, err = s.Execution(ctx, id); err != nil {
			return &exitError{ExitErrors, err}
		}
	}
}

func (sh *shell) printEntry(e storage.LogEntry, asJSON bool) error {
	if asJSON {
		return sh.jsonLine(e)
	}
	mark := ""
	switch e.Level {
	case storage.LevelError:
		mark = "ERROR "
	case storage.LevelWarn:
		mark = "WARN  "
	}
	node := e.Node
	if node != "" {
		node += " - "
	}
	fmt.Fprintf(sh.Out, "%s %s%s%s\n", e.Time.Local().Format("2006-01-02 15:04:05.000"), mark, node, entryText(e))
	return nil
}

func entryText(e storage.LogEntry) string {
	switch d := e.Data.(type) {
	case nil:
		return e.Text
	case storage.StartedEntry:
		return "started " + d.Source
	case storage.ProgressEntry:
		return fmt.Sprintf("%s read, %s written", grouped(d.Read), grouped(d.Committed))
	case storage.TaskResultEntry:
		return strings.TrimSpace(fmt.Sprintf("ended %s %s", d.State, d.Error))
	case storage.ReplayEntry:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Decision, d.Unit, d.Why))
	}
	return fmt.Sprintf("%s %+v", e.Kind, e.Data)
}

func executionsDeleteCommand(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "delete EXECUTION...", Short: "Remove the records of executions with everything they called", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error {
				p := storage.RetentionPolicy{}
				for _, a := range args {
					id, err := resolved(c.Context(), s, a)
					if err != nil {
						return err
					}
					p.Roots = append(p.Roots, id)
				}
				return sh.remove(c.Context(), s, p, false, false)
			})
		},
	}
}

type retentionFlags struct {
	age     string
	keep    int
	perName int
	dry     bool
	json    bool
}

func executionsPruneCommand(sh *shell) *cobra.Command {
	f := &retentionFlags{}
	c := &cobra.Command{
		Use: "prune", Short: "Remove old records; failed ones that were not replayed yet stay", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := storage.RetentionPolicy{Count: f.keep, PerName: f.perName}
			if f.age != "" {
				var err error
				if p.MaxAge, err = age(f.age); err != nil {
					return fmt.Errorf("--older-than: %w", err)
				}
			}
			if p.MaxAge == 0 && p.Count == 0 && p.PerName == 0 {
				return fmt.Errorf("say what may go: --older-than, --keep or --keep-per-name")
			}
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error { return sh.remove(c.Context(), s, p, f.dry, f.json) })
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.age, "older-than", "", "those that ended longer ago than this `age`, such as 30d")
	fl.IntVar(&f.keep, "keep", 0, "all but the newest `n`")
	fl.IntVar(&f.perName, "keep-per-name", 0, "all but the newest `n` of each file")
	fl.BoolVar(&f.dry, "dry-run", false, "only show what would go")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

type jsonRemoval struct {
	Remove  []jsonRemovalItem `json:"remove"`
	Keep    []jsonRemovalItem `json:"keep"`
	Removed int64             `json:"removed"`
}

type jsonRemovalItem struct {
	jsonExecution
	Reason string `json:"why"`
}

func removalItems(list []storage.RetentionItem) []jsonRemovalItem {
	out := []jsonRemovalItem{}
	for _, i := range list {
		out = append(out, jsonRemovalItem{executionOf(i.ExecutionHead), i.Why})
	}
	return out
}

// remove plans a removal, shows it and does it. What was named and has to stay is
// an error.
func (sh *shell) remove(ctx context.Context, s storage.ExecutionStore, p storage.RetentionPolicy, dry, asJSON bool) error {
	if len(p.Roots) == 0 {
		p.Needed = workspace.NeededBySnapshots(ctx, s)
	}
	plan, err := s.PlanRetention(ctx, p)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	out := jsonRemoval{Remove: removalItems(plan.Remove), Keep: removalItems(plan.Keep)}
	if !dry {
		done, err := s.Remove(ctx, plan)
		if err != nil {
			return &exitError{ExitErrors, err}
		}
		out.Removed = done.Executions
		out.Keep = append(out.Keep, removalItems(done.Kept)...)
	}
	if asJSON {
		return sh.json(out)
	}
	verb := "removed"
	if dry {
		verb = "would remove"
	}
	for _, i := range out.Remove {
		fmt.Fprintf(sh.Out, "%s %s %s %s: %s\n", verb, shortID(i.ID), i.State, i.Name, i.Reason)
	}
	for _, i := range out.Keep {
		fmt.Fprintf(sh.Out, "kept %s %s %s: %s\n", shortID(i.ID), i.State, i.Name, i.Reason)
	}
	if len(p.Roots) > 0 && (len(out.Keep) > 0 || len(out.Remove) < len(p.Roots)) {
		return &exitError{ExitErrors, fmt.Errorf("%d of %d were not removed; children go with their root execution", len(p.Roots)-len(out.Remove), len(p.Roots))}
	}
	return nil
}
