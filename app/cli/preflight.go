package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/replay"
	"sluice/storage"
	"sluice/storage/record"
)

// ExitNeedsAck: the pre-flight found what a person has to acknowledge.
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
	ws      *workspace.Workspace
	store   storage.ExecutionStore
	source  *replay.Source
	ground  replay.Ground
	reload  func(context.Context) (*replay.Source, error)
	options replay.Options
	log     *slog.Logger
}

// close gives back what is open.
func (r *replaying) close(ctx context.Context) {
	if err := errors.Join(r.ws.Places.Close(context.WithoutCancel(ctx)), r.ws.History.Close()); err != nil {
		r.log.Warn("Not everything could be closed", "err", err)
	}
}

// openReplay finds the record of an execution and opens its project.
func (sh *shell) openReplay(ctx context.Context, id string, f *replayFlags) (r *replaying, err error) {
	log, err := logger(sh.Err, f.logLevel)
	if err != nil {
		return nil, err
	}
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	history := workspace.NewHistory(folders, log)
	defer func() {
		if err != nil {
			err = errors.Join(err, history.Close())
		}
	}()
	store, err := history.Store(ctx)
	if err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	r = &replaying{store: store, log: log}
	r.reload = func(ctx context.Context) (*replay.Source, error) {
		if f.record != "" {
			return remoteSource(ctx, folders, f.record, id, log)
		}
		full, err := store.ResolveID(ctx, id)
		if err != nil {
			return nil, err
		}
		return replay.FromStore(ctx, store, full)
	}
	r.source, err = r.reload(ctx)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, &exitError{ExitUnusable, fmt.Errorf("there is no record of execution %s; it may be at the location of its snapshots: --record LOCATION", id)}
	case err != nil:
		return nil, &exitError{ExitUnusable, err}
	}
	file := r.source.Root().File
	if f.project == "" {
		if _, serr := os.Stat(file); serr != nil {
			return nil, &exitError{ExitUnusable, fmt.Errorf("the file of the execution is not here: %w; name the folder of its project with --project", serr)}
		}
	}
	if r.ws, err = f.open(file, log); err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	r.ws.History = history
	r.ws.Places.SetWitness(store)
	given, err := assignments(f.variables, "--var")
	if err != nil {
		return nil, err
	}
	parameters, err := assignments(f.parameters, "--param")
	if err != nil {
		return nil, err
	}
	maps.Copy(given, parameters)
	r.options = replay.Options{
		Start: f.from, Given: given, Overrides: f.overrides, Reason: f.reason, Acknowledged: f.acks, Quick: f.quick, Definition: f.definition,
	}
	ws := r.ws
	r.ground = replay.Ground{
		Pipelines: ws.Runner, Workflows: ws.Workflows, Scope: ws.Scope, Secrets: ws.Secrets, Now: time.Now,
		Session: func(o gate.SessionOptions) *gate.Session {
			o.Places, o.Secrets, o.Local, o.Alloc, o.Log = ws.Places.ByHand(), ws.Secrets, ws.Places.Local, ws.Runner.Alloc, log
			o.Project, o.AppVersion = ws.Project.Name, Version
			return gate.NewSession(o)
		},
	}
	return r, nil
}

// remoteSource reads the record at a location.
func remoteSource(ctx context.Context, folders workspace.Folders, location, id string, log *slog.Logger) (*replay.Source, error) {
	places := workspace.NewPlaces(folders, nil, log).ByHand()
	place, err := places.Place(ctx, location)
	if err != nil {
		return nil, err
	}
	keys, err := workspace.SnapshotKeys()
	if err != nil {
		return nil, err
	}
	o := record.Options{Keys: keys, Who: workspace.Who(), Logger: log}
	origins, err := record.Origins(ctx, place.Remote)
	if err != nil {
		return nil, err
	}
	prefix, err := storage.NormalizeIDPrefix(id)
	if err != nil {
		return nil, err
	}
	var fit []string
	for _, origin := range origins {
		if strings.HasPrefix(origin, prefix) {
			fit = append(fit, origin)
		}
	}
	if len(fit) > 0 {
		if id, err = storage.OnlyID(prefix, fit); err != nil {
			return nil, err
		}
	}
	return replay.FromRemote(ctx, place.Remote, o, id)
}

func (sh *shell) preflight(ctx context.Context, id string, f *replayFlags) error {
	r, err := sh.openReplay(ctx, id, f)
	if err != nil {
		return err
	}
	defer r.close(ctx)
	plan, err := replay.Preflight(ctx, r.source, r.ground, r.options)
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
	switch p.Verdict {
	case replay.Ready:
		fmt.Fprintf(out, "READY: the replay of %s is safe\n", shortID(p.Execution))
	case replay.NeedsAck:
		fmt.Fprintf(out, "NEEDS ACKNOWLEDGEMENT: read and acknowledge %d checks\n", len(p.Open()))
	default:
		fmt.Fprintf(out, "BLOCKED: the replay of %s is not safe\n", shortID(p.Execution))
	}
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
		if s.Decision == replay.Reuse {
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
	fmt.Fprintf(out, "\n  %d steps reused (%s rows, %s), %d run, %d left out; plan %s\n",
		e.ReusedSteps, grouped(e.ReusedRows), workspace.FormatBytes(e.ReusedBytes), e.RunSteps, e.SkippedSteps, p.Token)
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
