package presenter

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage"
)

// GateView is what is shown of a gate, or of an output that is cached for
// development.
type GateView struct{ gate.Standing }

// Gates are the gates and cached outputs of a file as they stood when they were
// looked at, by name of the node in lower case. A nil one knows nothing.
type Gates struct {
	gates, caches map[string]GateView
	Err           error // why they could not be looked at
}

// LoadGates looks at the gates of a file. It asks their locations, so it runs
// beside the user interface. It closes the connections of the workspace.
func LoadGates(ctx context.Context, ws *workspace.Workspace, f *FileState) *Gates {
	defer func() { _ = ws.Places.Close(context.WithoutCancel(ctx)) }() // nothing was written
	s := gate.NewSession(gate.SessionOptions{
		Places: ws.Places, Secrets: ws.Secrets, Local: ws.Places.Local, Alloc: ws.Runner.Alloc, Log: ws.Runner.Log, Project: ws.Project.Name,
	})
	list, err := f.standings(ctx, ws, s)
	return NewGates(list, err)
}

// FileState is a document with its file, to be looked at in the background.
type FileState struct {
	Document *hopxml.Document
	Pipeline *hopxml.Pipeline // nil for a workflow
	Path     string
}

// State is the file as it stands.
func (f *File) State() *FileState { return &FileState{f.doc, f.view.pipeline, f.path} }

func (f *FileState) standings(ctx context.Context, ws *workspace.Workspace, s *gate.Session) (list []gate.Standing, err error) {
	if f.Pipeline != nil {
		asked := false
		_, _ = ws.Runner.Prepare(ctx, pipeline.Run{File: f.Path, Pipeline: f.Pipeline, Scope: ws.Scope, Extend: func(ctx context.Context, p *pipeline.Preparation) error {
			asked = true
			list, err = s.Standings(ctx, p)
			return errDesigned
		}}) // why it cannot be prepared is told by Check
		if asked {
			return list, err
		}
	}
	return s.StandingsOf(ctx, f.Document, ws.Scope)
}

// NewGates sorts what is known of gates.
func NewGates(list []gate.Standing, err error) *Gates {
	g := &Gates{gates: map[string]GateView{}, caches: map[string]GateView{}, Err: err}
	for _, x := range list {
		if x.Cache {
			g.caches[lower(x.Node)] = GateView{x}
		} else {
			g.gates[lower(x.Node)] = GateView{x}
		}
	}
	return g
}

// Gate is what is known of the gate at a node.
func (g *Gates) Gate(node string) (GateView, bool) {
	if g == nil {
		return GateView{}, false
	}
	v, ok := g.gates[lower(node)]
	return v, ok
}

// Cache is what is known of the cached output of a node.
func (g *Gates) Cache(node string) (GateView, bool) {
	if g == nil {
		return GateView{}, false
	}
	v, ok := g.caches[lower(node)]
	return v, ok
}

// Snapshot is what is known of the gate, else of the cache, of a node that has a
// snapshot with rows that can be read.
func (g *Gates) Snapshot(node string) (GateView, bool) {
	for _, find := range []func(string) (GateView, bool){g.Gate, g.Cache} {
		if v, ok := find(node); ok && v.State == storage.SnapshotSealed {
			return v, true
		}
	}
	return GateView{}, false
}

// Badge is the state of the gate.
func (v GateView) Badge() scene.Gate {
	switch {
	case v.Stale():
		return scene.GateStale
	case v.State == storage.SnapshotSealed:
		return scene.GateSealed
	case v.State == storage.SnapshotInterrupted:
		return scene.GateInterrupted
	case v.State == storage.SnapshotDamaged:
		return scene.GateCorrupt
	}
	return scene.GateArmed
}

// Title is what the badge says.
func (v GateView) Title() string {
	switch badge := v.Badge(); {
	case v.Cache && v.Err == nil && v.State == "":
		return "Cached at the next run (development)"
	case v.Cache && badge == scene.GateSealed:
		return "Cached (development), not a gate"
	case v.Cache && badge == scene.GateStale:
		return "Cache is stale: the next run reads the source"
	case v.Err != nil:
		return "Armed: its location cannot be asked"
	case v.State == storage.SnapshotOpen:
		return "Armed: a run is sealing it"
	case badge == scene.GateSealed:
		return "Sealed and verified"
	case badge == scene.GateStale && v.Unknown != "":
		return "Stale: what is above it cannot be compared"
	case badge == scene.GateStale:
		return "Stale: settings changed after the seal"
	case badge == scene.GateInterrupted:
		return "Interrupted: never sealed, cannot be replayed"
	case badge == scene.GateCorrupt:
		return "Corrupt: does not match its hash"
	}
	return "Armed: seals at the next run"
}

// Caption is when, how many rows, how large, "" when there is no snapshot.
func (v GateView) Caption(now time.Time) string {
	if v.State == "" {
		return ""
	}
	verb := "Begun"
	if v.State == storage.SnapshotSealed {
		verb = "Sealed"
	}
	text := verb + " " + When(v.At, now)
	if v.State == storage.SnapshotSealed {
		text += " · " + Plural(v.Rows, "row")
	}
	return text + " · " + workspace.FormatBytes(v.Bytes)
}

// Metric is the line under the node while no run is shown.
func (v GateView) Metric() string {
	if v.State != storage.SnapshotSealed {
		return ""
	}
	if v.Cache {
		return Plural(v.Rows, "row") + " cached"
	}
	return Plural(v.Rows, "row") + " · " + workspace.FormatBytes(v.Bytes)
}

// GateDifference is one setting that changed after the seal.
type GateDifference struct{ Where, Then, Now string }

// Differences are what made the gate stale; Unknown is told by Reason.
func (v GateView) Differences() []GateDifference {
	var list []GateDifference
	for _, c := range v.Changes {
		if c.Moved {
			continue
		}
		d := GateDifference{Where: c.Node}
		if c.Setting != "" {
			d.Where += " › " + c.Setting
		}
		line := 0
		if line, d.Then, d.Now = differingLine(c.Then, c.Now); line > 0 {
			d.Where += ", line " + Grouped(int64(line))
		}
		list = append(list, d)
	}
	return list
}

// Reason is why the gate is not simply sealed, one sentence; "" when it is.
func (v GateView) Reason() string {
	switch {
	case v.Err != nil:
		message, hint := Explain(v.Err)
		if hint != "" {
			message += " (" + hint + ")"
		}
		return message
	case v.Why != "" && v.State != storage.SnapshotOpen:
		_, cause, cut := strings.Cut(v.Why, v.Snapshot+": ")
		if !cut {
			cause = v.Why
		}
		cause = strings.TrimPrefix(cause, string(v.State)+": ")
		if _, own, ok := strings.Cut(cause, stageAgain+" ("); ok && strings.HasSuffix(own, ")") {
			return strings.TrimSuffix(own, ")") // Advice says the rest
		}
		return cause
	case v.Unknown != "" && v.Stale():
		return v.Unknown
	}
	return ""
}

// stageAgain ends what storage says of every interrupted snapshot.
const stageAgain = "stage it again from scratch"

// Advice is what to do, "" when there is nothing.
func (v GateView) Advice() string {
	switch badge := v.Badge(); {
	case v.Err != nil:
		return ""
	case v.Cache && (badge == scene.GateInterrupted || badge == scene.GateCorrupt || badge == scene.GateStale):
		return "Run once to fill the cache again."
	case badge == scene.GateStale:
		return "A replay from here needs a reason."
	case badge == scene.GateInterrupted, badge == scene.GateCorrupt:
		return "Stage it again from scratch: run the pipeline."
	}
	return ""
}

// GateSetting is what problems of gates are about.
const GateSetting = "Replay gate"

// Problems are the gates that need a look, for the list of problems.
func (g *Gates) Problems() []Problem {
	if g == nil {
		return nil
	}
	var list []Problem
	for _, e := range flatten(g.Err) {
		list = append(list, problemOf(e))
	}
	for _, key := range slices.Sorted(maps.Keys(g.gates)) {
		v := g.gates[key]
		p := Problem{Node: v.Node, Setting: GateSetting, Severity: transform.Warning, Hint: v.Advice()}
		reason := v.Reason()
		if d := v.Differences(); reason == "" && len(d) > 0 {
			reason = d[0].Where + ": was " + shownOr(d[0].Then) + ", is " + shownOr(d[0].Now)
			if len(d) > 1 {
				reason += ", and " + Plural(int64(len(d)-1), "more change")
			}
		}
		if reason == "" {
			continue
		}
		p.Message, _, _ = strings.Cut(v.Title(), ":")
		p.Message += ": " + reason
		list = append(list, p)
	}
	return worstFirst(list, nil)
}

func shownOr(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

// differingLine gives the first line in which two values differ, and its number when
// one of them has more than one line.
func differingLine(then, now string) (line int, a, b string) {
	x, y := strings.Split(then, "\n"), strings.Split(now, "\n")
	if len(x) == 1 && len(y) == 1 {
		return 0, then, now
	}
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	at := func(list []string) string {
		if i < len(list) {
			return strings.TrimSpace(list[i])
		}
		return ""
	}
	return i + 1, at(x), at(y)
}

// When writes a time as people say it: "today 02:10", "yesterday 02:13", "28 Nov
// 02:15", with the year when it is another one.
func When(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	day := func(t time.Time) string { return t.Format("2006-01-02") }
	switch {
	case day(at) == day(now):
		return "today " + at.Format("15:04")
	case day(at) == day(now.AddDate(0, 0, -1)):
		return "yesterday " + at.Format("15:04")
	case at.Year() == now.Year():
		return at.Format("2 Jan 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}
