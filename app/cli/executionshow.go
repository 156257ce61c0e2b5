package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/storage"
)

func executionsShowCommand(sh *shell) *cobra.Command {
	var asJSON, variables bool
	c := &cobra.Command{
		Use: "show EXECUTION", Short: "Show what is known of an execution", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error {
				return sh.executionsShow(c.Context(), s, args[0], asJSON, variables)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, everything included")
	c.Flags().BoolVar(&variables, "variables", false, "show the variables too")
	return c
}

// shownExecution is one execution with all its facts.
type shownExecution struct {
	jsonExecution
	RunConfiguration string                     `json:"run_configuration,omitempty"`
	LogLevel         string                     `json:"log_level,omitempty"`
	Definition       string                     `json:"definition,omitempty"`
	Parameters       []storage.Variable         `json:"parameters,omitempty"`
	Variables        []storage.Variable         `json:"variables,omitempty"`
	Replay           *storage.ReplayChoice      `json:"replay,omitempty"`
	Actions          []storage.ActionRun        `json:"actions,omitempty"`
	Transforms       []storage.TransformMetrics `json:"transforms,omitempty"`
	Snapshots        []shownSnapshot            `json:"snapshots,omitempty"`
	Lineage          []jsonExecution            `json:"lineage,omitempty"`
}

type shownSnapshot struct {
	storage.SnapshotLink
	State string `json:"state"`
	Rows  int64  `json:"rows,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

func (sh *shell) executionsShow(ctx context.Context, s storage.ExecutionStore, text string, asJSON, variables bool) error {
	id, err := resolved(ctx, s, text)
	if err != nil {
		return err
	}
	x, err := sh.shown(ctx, s, id)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	if asJSON {
		return sh.json(x)
	}
	sh.printExecution(x, variables)
	return nil
}

func (sh *shell) shown(ctx context.Context, s storage.ExecutionStore, id string) (*shownExecution, error) {
	e, err := s.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	x := &shownExecution{
		jsonExecution: executionOf(e.ExecutionHead), RunConfiguration: e.RunConfiguration, LogLevel: e.LogLevel, Definition: e.Definition,
		Parameters: e.Parameters, Variables: e.Variables, Replay: e.Replay,
	}
	runs, err := s.ActionRuns(ctx, e.Root)
	if err != nil {
		return nil, err
	}
	for _, a := range runs {
		if a.Execution == id {
			x.Actions = append(x.Actions, a)
		}
	}
	if x.Transforms, err = s.Metrics(ctx, id); err != nil {
		return nil, err
	}
	links, err := s.Snapshots(ctx, id)
	if err != nil {
		return nil, err
	}
	x.Snapshots = sh.snapshotStates(ctx, links)
	chain, err := s.Lineage(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(chain) > 1 {
		for _, h := range chain {
			x.Lineage = append(x.Lineage, executionOf(h))
		}
	}
	return x, nil
}

// snapshotStates asks the locations what became of snapshots.
func (sh *shell) snapshotStates(ctx context.Context, links []storage.SnapshotLink) []shownSnapshot {
	var list []shownSnapshot
	if len(links) == 0 {
		return nil
	}
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil
	}
	log, _ := logger(sh.Err, "error")
	places := workspace.NewPlaces(folders, nil, log)
	defer closePlaces(ctx, places)
	for _, l := range links {
		x := shownSnapshot{SnapshotLink: l, State: "UNKNOWN"}
		if place, err := places.Place(ctx, l.Location); err == nil {
			if all, err := place.Store.List(ctx, l.Ref.Gate); err == nil {
				x.State = "GONE"
				for _, sn := range all {
					if sn.Ref == l.Ref {
						x.State, x.Rows, x.Bytes = string(sn.State), sn.Rows, sn.Stored
					}
				}
			}
		}
		list = append(list, x)
	}
	return list
}

func (sh *shell) printExecution(x *shownExecution, variables bool) {
	out := sh.Out
	fmt.Fprintf(out, "%s %s %s\n", x.State, x.Kind, x.Name)
	if x.Message != "" {
		fmt.Fprintf(out, "  why        %s\n", strings.ReplaceAll(x.Message, "\n", "\n             "))
	}
	fmt.Fprintf(out, "  execution  %s\n", x.ID)
	if x.Parent != "" {
		fmt.Fprintf(out, "  called     as %s by %s\n", x.CallPath, shortID(x.Parent))
	}
	if x.ReplayOf != "" {
		fmt.Fprintf(out, "  replay of  %s\n", shortID(x.ReplayOf))
	}
	fmt.Fprintf(out, "  file       %s\n", x.File)
	ended := "still going"
	if !x.Ended.IsZero() {
		ended = timeText(x.Ended) + " (" + durationText(x.Ended.Sub(x.Started)) + ")"
	}
	fmt.Fprintf(out, "  time       %s to %s, %s ago\n", timeText(x.Started), ended, durationText(time.Since(x.Started).Round(time.Second)))
	fmt.Fprintf(out, "  by         %s, process %d on %s\n", x.Who, x.PID, x.Host)
	if x.Reason != "" {
		fmt.Fprintf(out, "  reason     %s\n", x.Reason)
	}
	sh.printVariables("parameters", x.Parameters)
	if variables {
		sh.printVariables("variables", x.Variables)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if len(x.Actions) > 0 {
		fmt.Fprintln(w, "\n  ACTION\tSTATE\tDURATION\tREAD\tWRITTEN\tERRORS\tROWS\tFILES\tWHY")
	}
	for _, a := range x.Actions {
		r := a.Result
		if r == nil {
			r = &storage.ActionResult{}
		}
		node := a.Node
		if a.Ordinal > 1 {
			node = fmt.Sprintf("%s #%d", a.Node, a.Ordinal)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%d\t%s\t%d\t%s\n", node, a.State, durationText(a.Ended.Sub(a.Started)), grouped(r.Read), grouped(r.Written),
			r.Errors, grouped(a.Rows.Count), len(a.Files), oneLine(a.Message, 100))
	}
	if len(x.Transforms) > 0 {
		fmt.Fprintln(w, "\n  TRANSFORM\tSTATE\tREAD\tWRITTEN\tINPUT\tOUTPUT\tREJECTED\tERRORS\tTARGET")
	}
	for _, m := range x.Transforms {
		name, target := m.Transform, ""
		if m.Copy > 0 {
			name = fmt.Sprintf("%s.%d", m.Transform, m.Copy)
		}
		if m.Sink != nil {
			target = m.Sink.Target
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", name, m.State, grouped(m.Read), grouped(m.Written), grouped(m.Input), grouped(m.Output),
			grouped(m.Rejected), m.Errors, target)
	}
	if len(x.Snapshots) > 0 {
		fmt.Fprintln(w, "\n  GATE\tSNAPSHOT\tSTATE\tROWS\tSIZE\tROLE\tLOCATION")
	}
	for _, sn := range x.Snapshots {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", sn.Node, shortID(sn.Ref.ID), sn.State, grouped(sn.Rows), workspace.FormatBytes(sn.Bytes), sn.Role, sn.Location)
	}
	if len(x.Lineage) > 0 {
		fmt.Fprintln(w, "\n  LINEAGE\tSTATE\tSTARTED\tBY\tREASON")
	}
	for _, h := range x.Lineage {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", shortID(h.ID), h.State, timeText(h.Started), h.Who, oneLine(h.Reason, 60))
	}
	if err := w.Flush(); err != nil {
		return // the answer's writer keeps it
	}
}

func (sh *shell) printVariables(title string, list []storage.Variable) {
	for i, v := range list {
		label := ""
		if i == 0 {
			label = title
		}
		value := v.Value
		if v.Secret {
			value = storage.RedactedText
		}
		fmt.Fprintf(sh.Out, "  %-10s %s=%s\n", label, v.Name, oneLine(value, 120))
	}
}

func executionsTreeCommand(sh *shell) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "tree EXECUTION", Short: "Show an execution with everything it called", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error { return sh.executionsTree(c.Context(), s, args[0], asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (sh *shell) executionsTree(ctx context.Context, s storage.ExecutionStore, text string, asJSON bool) error {
	id, err := resolved(ctx, s, text)
	if err != nil {
		return err
	}
	heads, err := s.Tree(ctx, id)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	if asJSON {
		list := []jsonExecution{}
		for _, h := range heads {
			list = append(list, executionOf(h))
		}
		return sh.json(list)
	}
	children := map[string][]storage.ExecutionHead{}
	for _, h := range heads {
		children[h.Parent] = append(children[h.Parent], h)
	}
	var show func(parent string, depth int)
	show = func(parent string, depth int) {
		for _, h := range children[parent] {
			place := h.CallPath[strings.LastIndexByte(h.CallPath, '/')+1:]
			if place != "" {
				place += ": "
			}
			fmt.Fprintf(sh.Out, "%s%s%s %s %s  %s  %s\n", strings.Repeat("  ", depth), place, h.Kind, h.Name, h.State, durationText(h.Duration(time.Now())), shortID(h.ID))
			show(h.ID, depth+1)
		}
	}
	show("", 0)
	return nil
}
