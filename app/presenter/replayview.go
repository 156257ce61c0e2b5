package presenter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/replay"
	"sluice/storage"
)

// ReplayView is a plan as the dialog shows it.
type ReplayView struct {
	Plan    *replay.Plan
	Of      *ExecutionDetail
	Choices *ReplayChoices
	Catalog *Catalog
	Sealed  map[string]SealedRows // what is known of gates, by name of the start point
	Before  *replay.Plan          // what was checked before something moved; nil
	Checked time.Time
}

// VerdictText is the headline of a plan.
func VerdictText(p *replay.Plan) (string, scene.Tone) {
	blocks, open := 0, 0
	for _, c := range p.Open() {
		if c.Status == gate.Block {
			blocks++
		} else {
			open++
		}
	}
	switch {
	case blocks > 0:
		return "Blocked by " + Plural(int64(blocks), "check"), scene.ToneError
	case open > 0:
		return "Acknowledge " + Plural(int64(open), "warning"), scene.ToneWarn
	}
	return "Ready to replay", scene.ToneOK
}

// CheckedText tells when the checks were made, and how thoroughly.
func (v *ReplayView) CheckedText() string {
	if v.Before != nil {
		return "Something changed since the check. Checked again."
	}
	text := "Checked " + v.Checked.Local().Format("15:04:05")
	switch {
	case !v.bound():
	case v.Choices.Quick:
		text += ", only the sizes of segments"
	case v.fits(gate.CheckSegments):
		text += ", all segments verified"
	}
	return text
}

// bound tells whether rows of a snapshot are reused.
func (v *ReplayView) bound() bool {
	return slices.ContainsFunc(v.Plan.Steps, func(s replay.Step) bool { return s.Snapshot != "" })
}

// fits tells whether no check of a kind says anything but OK.
func (v *ReplayView) fits(kinds ...string) bool {
	return !slices.ContainsFunc(v.Plan.Checks, func(c replay.Check) bool {
		return slices.Contains(kinds, checkKind(c.ID)) && (c.Status == gate.Block || c.Status == gate.Warn)
	})
}

// checkKind is the id of a check without the object behind it.
func checkKind(id string) string {
	kind, _, _ := strings.Cut(id, ":")
	kind, _, _ = strings.Cut(kind, "@")
	return kind
}

// EstimatePart is one figure of what a replay will do.
type EstimatePart struct {
	Icon, Word, Text string
	Tone             scene.Tone
}

// Estimate is what is reused, run and left out.
func (v *ReplayView) Estimate() []EstimatePart {
	e, noun := v.Plan.Estimate, v.noun()
	var list []EstimatePart
	add := func(s scene.State, word string, parts ...string) {
		text := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
		list = append(list, EstimatePart{s.Icon(), word, text, s.Tone()})
	}
	if e.ReusedSteps > 0 {
		rows, bytes := "", ""
		if e.ReusedRows > 0 || e.ReusedBytes > 0 {
			rows, bytes = Plural(e.ReusedRows, "row"), workspace.FormatBytes(e.ReusedBytes)
		}
		add(scene.StateReused, "Reuse", rows, bytes, v.steps(replay.Reuse, noun))
	}
	if names := v.names(replay.Blocked); len(names) > 0 {
		add(scene.StateBlocked, "Blocked", strings.Join(names, ", "))
	}
	if e.RunSteps > 0 {
		about := ""
		if e.Took > 0 {
			about = "took " + Elapsed(e.Took) + " then"
		}
		add(scene.StateRunning, "Run", v.steps(replay.Run, noun), about)
	}
	if names := v.notOpened(); len(names) > 0 {
		list = append(list, EstimatePart{scene.StateSkipped.Icon(), "Not opened", strings.Join(names, ", "), scene.ToneNeutral})
	}
	return list
}

// noun is what a replay of this file is counted in.
func (v *ReplayView) noun() replay.StepKind {
	if v.Plan.Kind == string(storage.KindWorkflow) {
		return replay.KindAction
	}
	return replay.KindTransform
}

func (v *ReplayView) steps(d replay.Decision, kind replay.StepKind) string {
	n := int64(0)
	for _, s := range v.Plan.Steps {
		if s.Decision == d && s.Kind == kind && (kind != replay.KindAction || s.CallPath == "") {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return Plural(n, string(kind))
}

// mostNames is how many names a line lists before it counts the rest.
const mostNames = 3

func (v *ReplayView) names(d replay.Decision) []string {
	return listed(func(yield func(string)) {
		for _, s := range v.Plan.Steps {
			if s.Decision == d {
				yield(s.Node)
			}
		}
	})
}

// notOpened are the sources whose rows are behind a gate.
func (v *ReplayView) notOpened() []string {
	palette := v.Catalog.Palette(true)
	sealed := map[engine.CallPath]bool{}
	for _, s := range v.Plan.Steps {
		sealed[s.CallPath] = sealed[s.CallPath] || s.Snapshot != ""
	}
	return listed(func(yield func(string)) {
		for _, s := range v.Plan.Steps {
			k, ok := palette.Kind(s.Type)
			if s.Kind == replay.KindTransform && sealed[s.CallPath] && (s.Decision == replay.Skip || s.Decision == replay.Reuse) && ok && k.Outside {
				yield(s.Node)
			}
		}
	})
}

// listed gives different names in order, and how many more there are.
func listed(each func(yield func(string))) []string {
	var list []string
	more := 0
	each(func(name string) {
		switch {
		case slices.Contains(list, name):
		case len(list) == mostNames:
			more++
		default:
			list = append(list, name)
		}
	})
	if more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return list
}

// ReplayVariable is a variable of the run, with the value that the replay uses.
type ReplayVariable struct {
	replay.VariableUse
	Changed bool   // by the person
	Note    string // beside the value
	Moved   bool   // the check before said something else
}

// Variables lists those with a chosen value first, then those that the project has
// another value of.
func (v *ReplayView) Variables() []ReplayVariable {
	before := map[string]replay.VariableUse{}
	if v.Before != nil {
		for _, u := range v.Before.Variables {
			before[u.Name] = u
		}
	}
	var list []ReplayVariable
	for _, u := range v.Plan.Variables {
		x := ReplayVariable{VariableUse: u, Changed: u.From == variableGiven}
		switch {
		case u.Secret && u.Original == "changed":
			x.Note = "secret, changed since"
		case u.Secret:
			x.Note = "secret, not stored"
		case !x.Changed && u.Current != "" && u.Current != u.Original:
			x.Note = "project: " + u.Current
		}
		x.Moved = v.Before != nil && before[u.Name] != u
		list = append(list, x)
	}
	weight := func(x ReplayVariable) int {
		switch {
		case x.Changed:
			return 0
		case x.Note != "":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b ReplayVariable) int { return cmp.Compare(weight(a), weight(b)) })
	return list
}

// variableGiven is the engine's word for a value that a person has chosen.
const variableGiven = "given"

// fileAt is the file of the execution at a place of the tree.
func (v *ReplayView) fileAt(at engine.CallPath) string {
	if at == "" {
		return v.Plan.File
	}
	for _, h := range v.Of.Tree {
		if h.CallPath == string(at) {
			return h.File
		}
	}
	return ""
}

// rootNode is the node of the root under which a place is: "Night" of
// "Night#1/Load#2".
func rootNode(at engine.CallPath) string {
	for at.Parent() != "" {
		at = at.Parent()
	}
	return at.Node()
}
