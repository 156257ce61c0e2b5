package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/replay"
)

// ExitNeedsAck means that the pre-flight found what a person has to acknowledge.
const ExitNeedsAck = 4

// replayFlags are what a person says about a replay.
type replayFlags struct {
	projectFlags
	from       string
	parameters []string
	acks       []string
	overrides  []string
	reason     string
	quick      bool
	definition string
	record     string
	plan       string
	json       bool
}

func (f *replayFlags) register(c *cobra.Command) {
	f.projectFlags.register(c)
	fl := c.Flags()
	fl.StringVar(&f.from, "from", replay.FirstFailed, "start `point`: first-failed, start, an action (Load, Load#2) or a gate")
	fl.StringArrayVar(&f.parameters, "param", nil, "parameter with another value than recorded, as `NAME=VALUE`")
	fl.StringArrayVar(&f.acks, "ack", nil, "acknowledge this `check`; may be given again")
	fl.StringArrayVar(&f.overrides, "override", nil, "go on in spite of this blocking `check`; needs --reason")
	fl.StringVar(&f.reason, "reason", "", "why; it is recorded")
	fl.BoolVar(&f.quick, "quick", false, "compare only the sizes of segments before the start; each is hashed before its rows leave")
	fl.StringVar(&f.definition, "definition", replay.Current, "files as they are (`current`) or as they ran (original)")
	fl.StringVar(&f.record, "record", "", "read the record at this `location` of snapshots (remote:path), not on this machine")
	fl.BoolVar(&f.json, "json", false, "print JSON")
}

func (f *replayFlags) check() error {
	switch {
	case f.definition != replay.Current && f.definition != replay.Original:
		return fmt.Errorf("--definition is current or original, not %s", f.definition)
	case len(f.overrides) > 0 && f.reason == "":
		return errors.New("--override needs --reason: say why, it is recorded")
	}
	return nil
}

func preflightCommand(sh *shell) *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use: "preflight EXECUTION", Short: "Tell whether a failed run can be replayed safely, and what the replay would do",
		Long:    "Reads the record of an execution and the sealed rows of its gates, and changes nothing.\nExit code 0: ready, 3: blocked, 4: something has to be acknowledged.",
		Example: "  sluice preflight 01a22f54\n  sluice preflight 01a22f54 --from Load --json\n  sluice preflight 01a22f54-8c2f-76b3-bed0-b5b6a0de9510 --record s3:backup/snapshots --project ~/shop",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return sh.preflight(c.Context(), args[0], f)
		},
	}
	f.register(c)
	return c
}

// replaying is an execution that is about to be replayed.
type replaying struct {
	*workspace.Replaying
	history *workspace.History
	options replay.Options
	log     *slog.Logger
}

// close gives back what is open.
func (r *replaying) close(ctx context.Context) {
	if err := errors.Join(r.Close(ctx), r.history.Close()); err != nil {
		r.log.Warn("Not everything could be closed", "err", err)
	}
}

// openReplay finds the record of an execution and opens its project.
func (sh *shell) openReplay(ctx context.Context, id string, f *replayFlags) (*replaying, error) {
	log, err := logger(sh.Err, f.logLevel)
	if err != nil {
		return nil, err
	}
	given, err := assignments(f.variables, "--var")
	if err != nil {
		return nil, err
	}
	bytes, err := parseBytes(f.memory)
	if err != nil {
		return nil, fmt.Errorf("--memory: %w", err)
	}
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	history := workspace.NewHistory(folders, log)
	r, err := workspace.OpenReplay(ctx, history, workspace.ReplayOptions{
		Execution: id, Record: f.record, Version: Version,
		Options: workspace.Options{Project: f.project, Environments: f.environments, Variables: given, Log: log, MemoryBytes: bytes},
	})
	if errors.Is(err, workspace.ErrNoRecord) {
		err = fmt.Errorf("there is no record of execution %s; it may be at the location of its snapshots: --record LOCATION", id)
	}
	if err != nil {
		return nil, &exitError{ExitUnusable, errors.Join(err, history.Close())}
	}
	parameters, err := assignments(f.parameters, "--param")
	if err != nil {
		return nil, errors.Join(err, history.Close())
	}
	given = maps.Clone(given)
	maps.Copy(given, parameters)
	return &replaying{Replaying: r, history: history, log: log, options: replay.Options{
		Start: f.from, Given: given, Overrides: f.overrides, Reason: f.reason, Acknowledged: f.acks, Quick: f.quick, Definition: f.definition,
	}}, nil
}

func (sh *shell) preflight(ctx context.Context, id string, f *replayFlags) error {
	r, err := sh.openReplay(ctx, id, f)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	plan, err := r.Preflight(ctx, r.options)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	if f.json {
		err = sh.json(plan)
	} else {
		sh.printPlan(plan)
		sh.printCommand(plan, f)
	}
	return errors.Join(err, verdictError(plan))
}

func verdictCode(p *replay.Plan) int {
	switch p.Verdict {
	case replay.IsBlocked:
		return ExitRefused
	case replay.NeedsAck:
		return ExitNeedsAck
	}
	return ExitOK
}

// verdictError ends a command with the code of a verdict; what it means is
// printed already.
func verdictError(p *replay.Plan) error {
	if code := verdictCode(p); code != ExitOK {
		return &exitError{code, nil}
	}
	return nil
}

// printPlan shows a plan: the verdict first, then what speaks against it.
func (sh *shell) printPlan(p *replay.Plan) {
	out := sh.Out
	fmt.Fprintf(out, "%s\n", headline(p))
	fmt.Fprintf(out, "  %s %s, from %s, definition %s\n\n", p.Kind, p.File, p.Start, p.Definition)
	checks := slices.Clone(p.Checks)
	weight := map[gate.Status]int{gate.Block: 0, gate.Warn: 1, gate.Info: 2, gate.OK: 3}
	slices.SortStableFunc(checks, func(a, b replay.Check) int { return weight[a.Status] - weight[b.Status] })
	for _, c := range checks {
		line := "  " + c.String()
		if c.Acknowledge && c.Acknowledged {
			line += " [acknowledged]"
		}
		fmt.Fprintln(out, line)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\n  PLAN\tSTEP\tTYPE\tROWS\tWHY")
	for _, s := range p.Steps {
		rows := ""
		if s.Decision == replay.Reuse && (s.Rows > 0 || s.Snapshot != "") {
			rows = grouped(s.Rows)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", s.Decision, s.Name(), s.Type, rows, oneLine(s.Why, 90))
	}
	if err := w.Flush(); err != nil {
		return // the answer's writer keeps it
	}
	for i, c := range p.Changes {
		if i == 0 {
			fmt.Fprintln(out, "\n  Changed since:")
		}
		fmt.Fprintf(out, "  %s\n", c)
	}
	for _, v := range p.Variables {
		if v.From == "recorded" && v.Current != "" && v.Current != v.Original {
			fmt.Fprintf(out, "  Variable %s: the recorded %q is used; the project says %q (--var %s=%s to use it)\n", v.Name, v.Original, v.Current, v.Name, v.Current)
		}
	}
	e := p.Estimate
	took := ""
	if e.Took > 0 {
		took = fmt.Sprintf(" (%s then)", e.Took.Round(max(time.Millisecond, e.Took/100)))
	}
	fmt.Fprintf(out, "\n  %d steps reused (%s rows, %s), %d run%s, %d left out; plan %s\n",
		e.ReusedSteps, grouped(e.ReusedRows), workspace.FormatBytes(e.ReusedBytes), e.RunSteps, took, e.SkippedSteps, p.Token)
}

// headline is the verdict with what it comes from.
func headline(p *replay.Plan) string {
	id := shortID(p.Execution)
	var why []string
	for _, c := range p.Open() {
		if p.Verdict != replay.IsBlocked || c.Status == gate.Block {
			why = append(why, c.ID)
		}
	}
	names := why[:min(len(why), 3)]
	text := strings.Join(names, ", ")
	if more := len(why) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	switch p.Verdict {
	case replay.IsBlocked:
		first := p.Open()[slices.IndexFunc(p.Open(), func(c replay.Check) bool { return c.Status == gate.Block })]
		return fmt.Sprintf("BLOCKED: the replay of %s is not safe (%s): %s", id, text, oneLine(first.What, 120))
	case replay.NeedsAck:
		return fmt.Sprintf("NEEDS ACKNOWLEDGEMENT: the replay of %s waits until you have read and acknowledged %s", id, text)
	}
	e := p.Estimate
	if e.ReusedRows > 0 {
		return fmt.Sprintf("READY: the replay of %s is safe; it goes on with %s sealed rows", id, grouped(e.ReusedRows))
	}
	return fmt.Sprintf("READY: the replay of %s is safe", id)
}

// printCommand gives the line that replays, with what is missing.
func (sh *shell) printCommand(p *replay.Plan, f *replayFlags) {
	if p.Verdict == replay.IsBlocked {
		for _, c := range p.Open() {
			if c.Status == gate.Block && !c.Overridable {
				return
			}
		}
	}
	args := []string{"sluice", "replay", p.Execution}
	if !strings.EqualFold(p.Start, replay.FirstFailed) {
		args = append(args, "--from", quoted(p.Start))
	}
	for _, x := range []struct {
		flag   string
		values []string
	}{
		{"--project", []string{f.project}},
		{"--environment", f.environments},
		{"--var", f.variables},
		{"--param", f.parameters},
		{"--record", []string{f.record}},
		{"--ack", f.acks},
		{"--override", f.overrides},
		{"--reason", []string{f.reason}},
	} {
		for _, v := range x.values {
			if v != "" {
				args = append(args, x.flag, quoted(v))
			}
		}
	}
	if f.quick {
		args = append(args, "--quick")
	}
	if p.Definition != replay.Current {
		args = append(args, "--definition", p.Definition)
	}
	reason := f.reason != ""
	for _, c := range p.Open() {
		if c.Acknowledge {
			args = append(args, "--ack", quoted(c.ID))
			continue
		}
		args = append(args, "--override", quoted(c.ID))
		if !reason {
			args, reason = append(args, "--reason", `"..."`), true
		}
	}
	if p.Verdict == replay.Ready {
		args = append(args, "--plan", p.Token)
	}
	fmt.Fprintf(sh.Out, "\n  %s\n", strings.Join(args, " "))
}

// quoted writes an argument for a shell.
func quoted(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'$`\\|&;<>()*?#~!{}[]") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
