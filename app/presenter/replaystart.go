package presenter

import (
	"context"
	"strings"
	"time"

	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/replay"
	"sluice/storage"
)

// SealedRows is what a gate has sealed.
type SealedRows struct {
	State storage.SnapshotState
	Why   string // explains every state but SEALED
	Rows  int64
	Bytes int64
	At    time.Time
}

// mostGates bounds the snapshots that are looked at for the list of start points.
const mostGates = 50

// LoadSealed looks at the snapshots of the gates of a plan, by name of the start
// point. It asks their locations, so it runs beside the user interface.
func LoadSealed(ctx context.Context, run *workspace.Replaying, starts []replay.StartPoint) map[string]SealedRows {
	known := map[string]SealedRows{}
	for _, s := range starts {
		if s.Kind != replay.StartGate || len(known) == mostGates || ctx.Err() != nil {
			continue
		}
		place, err := run.Workspace.Places.ByHand().Place(ctx, s.Location)
		if err != nil {
			known[s.Name] = SealedRows{Why: err.Error()}
			continue
		}
		sum := place.Store.Inspect(ctx, s.Snapshot)
		x := SealedRows{State: sum.State, Rows: sum.Rows, Bytes: sum.Stored, At: sum.Begun}
		if sum.Why != nil {
			x.Why = GateView{gate.Standing{State: sum.State, Snapshot: s.Snapshot.ID, Why: sum.Why.Error()}}.Reason()
		}
		if sum.State == storage.SnapshotSealed {
			x.At = sum.Ended
		}
		known[s.Name] = x
	}
	return known
}

// ReplayStart is a start point as the dialog lists it.
type ReplayStart struct {
	Name, Title, Detail, Trail string
	Icon                       string
	Tone                       scene.Tone
	Usable, Chosen             bool
	Blocked                    bool // it is chosen, and something blocks
	Moved                      bool // the check before said something else
}

// Starts lists the start points, the whole run last.
func (v *ReplayView) Starts(now time.Time) []ReplayStart {
	var list, last []ReplayStart
	runs := map[replay.StartPoint]*storage.ActionRun{} // a loop has thousands
	for i := range v.Of.Runs {
		a := &v.Of.Runs[i]
		runs[replay.StartPoint{CallPath: engine.CallPath(a.CallPath), Node: a.Node, Ordinal: a.Ordinal}] = a
	}
	before := map[replay.StartPoint]bool{}
	if v.Before != nil {
		for _, s := range v.Before.Starts {
			before[s] = true
		}
	}
	for _, s := range v.Plan.Starts {
		x := v.start(s, runs[replay.StartPoint{CallPath: s.CallPath, Node: s.Node, Ordinal: s.Ordinal}], now)
		x.Moved = v.Before != nil && !before[s]
		if s.Kind == replay.StartWhole {
			last = append(last, x)
		} else {
			list = append(list, x)
		}
	}
	return append(list, last...)
}

func (v *ReplayView) start(s replay.StartPoint, ran *storage.ActionRun, now time.Time) ReplayStart {
	x := ReplayStart{Name: s.Name, Usable: s.Usable, Chosen: s.Name == v.Plan.Start}
	switch s.Kind {
	case replay.StartFirstFailed:
		v.firstFailed(&x)
	case replay.StartWhole:
		x.Title, x.Detail = "Whole "+strings.ToLower(v.Plan.Kind)+" from the start", "Reads its sources again, reuses nothing"
		x.Icon = "t-start"
	case replay.StartAction:
		actionStart(&x, s, ran, now)
	case replay.StartGate:
		v.gateStart(&x, s, now)
	}
	if !s.Usable {
		why := v.whyNot(s)
		if ran, ok := strings.CutPrefix(why, "it "); ok {
			why = "this run " + ran
		}
		x.Detail, x.Trail = "Not usable: "+why, ""
	}
	if x.Chosen && v.Plan.Verdict == replay.IsBlocked {
		x.Blocked, x.Trail, x.Icon, x.Tone = true, "blocked", scene.StateBlocked.Icon(), scene.ToneError
	}
	return x
}

// whyNot is why a start point is not usable.
func (v *ReplayView) whyNot(s replay.StartPoint) string {
	if why := v.Sealed[s.Name].Why; s.Kind == replay.StartGate && why != "" {
		return why
	}
	if s.Why == "it was not reached" {
		return "it did not reach it"
	}
	if s.Kind == replay.StartFirstFailed {
		return "it failed nowhere"
	}
	return s.Why
}

func (v *ReplayView) firstFailed(x *ReplayStart) {
	look := ExecutionState(v.Of.State)
	x.Icon, x.Tone, x.Trail = look.Icon(), look.Tone(), "recommended"
	noun, node := string(v.noun()), v.failedNode()
	x.Title = "First failed " + noun
	if node != "" {
		x.Title += ": " + node
	}
	_, cause := v.Of.FirstCause()
	x.Detail, _, _ = strings.Cut(cause, "\n")
	if gates := v.usedGates(); x.Chosen && len(gates) > 0 {
		x.Detail = "Uses " + nounOf(len(gates), "gate") + " " + joined(gates)
	}
}

func nounOf(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// joined writes names as a person lists them.
func joined(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// failedNode is the action or transform that failed first; "" when that is not known.
func (v *ReplayView) failedNode() string {
	for _, a := range v.Of.Actions {
		if a.State == storage.ActionFailed || a.State == storage.ActionInterrupted || a.State == storage.ActionRunning {
			return a.Node
		}
	}
	for _, m := range v.Of.Metrics {
		if m.State == "failed" || m.Errors > 0 {
			return m.Transform
		}
	}
	return ""
}

// usedGates are the gates whose rows the plan reuses.
func (v *ReplayView) usedGates() []string {
	return listed(func(yield func(string)) {
		for _, s := range v.Plan.Steps {
			if s.Snapshot != "" {
				yield(s.Node)
			}
		}
	})
}

func actionStart(x *ReplayStart, s replay.StartPoint, ran *storage.ActionRun, now time.Time) {
	x.Title = "Action: " + replay.Step{Node: s.Node, Ordinal: s.Ordinal}.Name()
	if ran != nil {
		look := ActionBadge(ran.State)
		x.Icon, x.Tone = look.Icon(), look.Tone()
		x.Detail = look.String()
		if !ran.Ended.IsZero() {
			x.Detail += " " + When(ran.Ended, now) + ", took " + Elapsed(ran.Ended.Sub(ran.Started))
		}
	}
	if s.CallPath != "" {
		x.Detail += " · in " + string(s.CallPath)
	}
}

func (v *ReplayView) gateStart(x *ReplayStart, s replay.StartPoint, now time.Time) {
	x.Title = "Gate: " + s.Node
	known := v.Sealed[s.Name]
	badge := v.gateBadge(s)
	x.Icon, x.Tone = badge.Icon(), badge.Tone()
	if known.State == storage.SnapshotSealed {
		x.Detail = "Sealed " + When(known.At, now) + " · " + Plural(known.Rows, "row") + " · " + workspace.FormatBytes(known.Bytes)
		x.Trail = age(now.Sub(known.At))
	}
	if s.CallPath != "" {
		x.Detail = strings.TrimPrefix(x.Detail+" · in "+string(s.CallPath), " · ")
	}
}

// age writes how old something is.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Plural(int64(d.Minutes()), "minute") + " old"
	case d < 24*time.Hour:
		return Elapsed(d) + " old"
	}
	return Plural(int64(d.Hours()/24), "day") + " old"
}

// gateBadge is the badge of a gate: how its snapshot is, and what the checks say.
func (v *ReplayView) gateBadge(s replay.StartPoint) scene.Gate {
	switch known := v.Sealed[s.Name]; {
	case known.State == storage.SnapshotDamaged:
		return scene.GateCorrupt
	case !s.Usable:
		return scene.GateInterrupted
	}
	badge := scene.GateSealed
	for _, c := range v.Plan.Checks {
		if c.Status != gate.Block || c.CallPath != s.CallPath || c.Gate != s.Node {
			continue
		}
		switch checkKind(c.ID) {
		case gate.CheckSegments, gate.CheckManifest:
			return scene.GateCorrupt
		case gate.CheckUpstream:
			badge = scene.GateStale
		}
	}
	return badge
}
