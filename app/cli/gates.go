package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/recorder"
)

// gateFlags are what a run says about gates.
type gateFlags struct {
	from      []string
	snapshots []string
	overrides []string
	reason    string
	quick     bool
	safe      bool
	fresh     bool
	fromCache bool
}

func (f *gateFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.from, "from-gate", nil, "start from the sealed rows of this `gate`; nothing above it is opened; may be given again")
	fl.StringArrayVar(&f.snapshots, "snapshot", nil, "`id` of the snapshot, shortened or not, or latest; one for each --from-gate")
	fl.StringArrayVar(&f.overrides, "override", nil, "go on in spite of this `check`; needs --reason")
	fl.StringVar(&f.reason, "reason", "", "why checks are overridden; it is recorded")
	fl.BoolVar(&f.quick, "quick", false, "compare only the sizes of segments before the start; each is hashed before its rows leave in any case")
	fl.BoolVar(&f.safe, "safe", false, "seal the output of every transform on this machine, and continue where the last run of this file failed")
	fl.BoolVar(&f.fresh, "fresh", false, "with --safe: start over")
	fl.BoolVar(&f.fromCache, "from-cache", false, "take the output of transforms from the dev cache where it is not stale")
}

func (f *gateFlags) starts() ([]gate.Start, error) {
	if len(f.from) == 0 && len(f.snapshots) > 0 {
		return nil, errors.New("--snapshot needs --from-gate: name the gate that it was made at")
	}
	if len(f.snapshots) > 1 && len(f.snapshots) != len(f.from) {
		return nil, fmt.Errorf("%d gates and %d snapshots: give one --snapshot for each --from-gate", len(f.from), len(f.snapshots))
	}
	if len(f.overrides) > 0 && f.reason == "" {
		return nil, errors.New("--override needs --reason: say why, it is recorded")
	}
	if len(f.from) > 0 && (f.safe || f.fromCache) || f.safe && f.fromCache {
		return nil, errors.New("--from-gate, --safe and --from-cache exclude each other")
	}
	var list []gate.Start
	for i, name := range f.from {
		s := gate.Start{Node: name, Snapshot: gate.Latest}
		switch {
		case len(f.snapshots) == 1:
			s.Snapshot = f.snapshots[0]
		case len(f.snapshots) > 1:
			s.Snapshot = f.snapshots[i]
		}
		list = append(list, s)
	}
	return list, nil
}

// session makes the gates of a run.
func (f *runFlags) session(ws *workspace.Workspace, params map[string]string, rec *recorder.Recorder, log *slog.Logger) (*gate.Session, error) {
	starts, err := f.gates.starts()
	if err != nil {
		return nil, err
	}
	given, err := assignments(f.variables, "--var")
	if err != nil {
		return nil, err
	}
	maps.Copy(given, params)
	s := gate.NewSession(gate.SessionOptions{
		Places: ws.Places, Secrets: ws.Secrets, Local: ws.Places.Local, Alloc: ws.Runner.Alloc, Log: log,
		Project: ws.Project.Name, AppVersion: Version,
		From: starts, Overrides: f.gates.overrides, Reason: f.gates.reason, Quick: f.gates.quick, Given: given,
		Safe: f.gates.safe, Fresh: f.gates.fresh, FromCache: f.gates.fromCache,
		Told: rec.Told,
	})
	rec.Follow(s)
	ws.Runner.Extend = s.Extend
	return s, nil
}

// endSession gives back what a session holds; its errors join those of the run.
func endSession(ctx context.Context, ws *workspace.Workspace, s *gate.Session, succeeded bool) error {
	return errors.Join(s.Close(ctx, succeeded), ws.Places.Close(context.WithoutCancel(ctx)))
}

// showStart prints the checks of a start from a gate and what is reused.
func (sh *shell) showStart(s *gate.Session) {
	for _, c := range s.Checks() {
		fmt.Fprintln(sh.Err, c)
	}
	for _, r := range s.Reused() {
		fmt.Fprintf(sh.Err, "REUSED %s: %s rows, sealed %s (snapshot %s)\n", r.Node, grouped(r.Rows), r.Sealed.Local().Format("2006-01-02 15:04:05"), r.Snapshot)
	}
	for _, x := range s.Stale() {
		fmt.Fprintf(sh.Err, "STALE  %s\n", x)
	}
}

// jsonGates is what --json tells of gates.
type jsonGates struct {
	Snapshots []jsonOutcome `json:"snapshots,omitempty"`
	Checks    []gate.Check  `json:"checks,omitempty"`
	Reused    []gate.Reused `json:"reused,omitempty"`
	Stale     []gate.Stale  `json:"stale,omitempty"`
	Reason    string        `json:"override_reason,omitempty"`
}

type jsonOutcome struct {
	Transform string `json:"transform"`
	Gate      string `json:"gate"`
	Snapshot  string `json:"snapshot"`
	Location  string `json:"location"`
	State     string `json:"state"`
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
	Digest    string `json:"digest,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

func gatesOf(s *gate.Session, reason string) *jsonGates {
	g := &jsonGates{Checks: s.Checks(), Reused: s.Reused(), Stale: s.Stale(), Reason: reason}
	for _, o := range s.Outcomes() {
		g.Snapshots = append(g.Snapshots, jsonOutcome{o.Node, o.Gate, o.Snapshot, o.Location, string(o.State), o.Rows, o.Bytes, o.Digest, o.Reason})
	}
	if len(g.Snapshots)+len(g.Checks)+len(g.Reused)+len(g.Stale) == 0 {
		return nil
	}
	return g
}

// showOutcomes prints what became of the gates' snapshots.
func (sh *shell) showOutcomes(s *gate.Session) {
	for _, o := range s.Outcomes() {
		switch o.State {
		case "SEALED":
			fmt.Fprintf(sh.Err, "SEALED %s: %s rows, %s at %s (snapshot %s)\n", o.Node, grouped(o.Rows), workspace.FormatBytes(o.Bytes), o.Location, o.Snapshot)
		case "INTERRUPTED":
			fmt.Fprintf(sh.Err, "INTERRUPTED %s: %s\n", o.Node, o.Reason)
		}
	}
}
