package presenter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/replay"
)

// leastReason is how long the reason of an override is at least, in characters.
const leastReason = 10

// ReplayChoices are what a person has chosen in the replay dialog.
type ReplayChoices struct {
	Start        string
	Given        map[string]string
	Acknowledged map[string]bool
	Overridden   map[string]bool
	Reason       string
	Original     bool // the definition as run
	Quick        bool
}

// NewReplayChoices begins at the first failed step, with the recorded values.
func NewReplayChoices() *ReplayChoices {
	return &ReplayChoices{Start: replay.FirstFailed, Given: map[string]string{}, Acknowledged: map[string]bool{}, Overridden: map[string]bool{}}
}

// Options are the choices as the pre-flight takes them. Overrides count only with
// a reason.
func (c *ReplayChoices) Options() replay.Options {
	o := replay.Options{Start: c.Start, Given: maps.Clone(c.Given), Acknowledged: chosen(c.Acknowledged), Reason: c.Reason, Quick: c.Quick, Definition: replay.Current}
	if c.Original {
		o.Definition = replay.Original
	}
	if c.ReasonProblem() == "" {
		o.Overrides = chosen(c.Overridden)
	}
	return o
}

func chosen(set map[string]bool) []string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if set[k] {
			list = append(list, k)
		}
	}
	return list
}

// ReasonProblem tells what is wrong with the reason; "" when it will do.
func (c *ReplayChoices) ReasonProblem() string {
	if len(chosen(c.Overridden)) > 0 && len([]rune(strings.TrimSpace(c.Reason))) < leastReason {
		return fmt.Sprintf("An override needs a reason of at least %d characters; it is recorded", leastReason)
	}
	return ""
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

// SortedChecks puts what blocks first, then warnings, notes and what passed.
func SortedChecks(p *replay.Plan) []replay.Check {
	weight := map[gate.Status]int{gate.Block: 0, gate.Warn: 1, gate.Info: 2, gate.OK: 3}
	list := slices.Clone(p.Checks)
	slices.SortStableFunc(list, func(a, b replay.Check) int { return cmp.Compare(weight[a.Status], weight[b.Status]) })
	return list
}

// StepLook is the badge and the word of a step of a plan.
func StepLook(s replay.Step) (scene.State, string) {
	switch s.Decision {
	case replay.Reuse:
		return scene.StateReused, "Reuse"
	case replay.Run:
		return scene.StateRunning, "Run"
	case replay.Blocked:
		return scene.StateFailed, "Blocked"
	}
	return scene.StateStopped, "Not run"
}

// EstimateText is what a replay reuses and runs.
func EstimateText(p *replay.Plan, bytes func(int64) string) string {
	e := p.Estimate
	return fmt.Sprintf("%s reused (%s rows, %s) · %d run · %d left out", Plural(int64(e.ReusedSteps), "step"), Grouped(e.ReusedRows), bytes(e.ReusedBytes), e.RunSteps, e.SkippedSteps)
}

// ReplayCommand is the command that does what the dialog would do.
func ReplayCommand(p *replay.Plan, c *ReplayChoices) string {
	args := []string{"sluice", "replay", p.Execution}
	if c.Start != replay.FirstFailed {
		args = append(args, "--from", shellQuoted(c.Start))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Given)) {
		args = append(args, "--var", shellQuoted(name+"="+c.Given[name]))
	}
	for _, id := range chosen(c.Acknowledged) {
		args = append(args, "--ack", shellQuoted(id))
	}
	for _, id := range chosen(c.Overridden) {
		args = append(args, "--override", shellQuoted(id))
	}
	if c.Reason != "" {
		args = append(args, "--reason", shellQuoted(c.Reason))
	}
	if c.Original {
		args = append(args, "--definition", replay.Original)
	}
	if c.Quick {
		args = append(args, "--quick")
	}
	if p.Verdict == replay.Ready {
		args = append(args, "--plan", p.Token)
	}
	return strings.Join(args, " ")
}

func shellQuoted(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'$`\\|&;<>()*?#~!{}[]") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// PlanView shows a plan on the canvas: what is reused and run at one place of the
// tree, and what is left out.
func PlanView(p *replay.Plan, at string) *RunView {
	v := &RunView{Actions: map[string]scene.State{}}
	for _, s := range p.Steps {
		if string(s.CallPath) != at {
			continue
		}
		look, _ := StepLook(s)
		name := strings.ToLower(s.Node)
		if have, ok := v.Actions[name]; !ok || have == scene.StateReused || have == scene.StateStopped {
			v.Actions[name] = look
		}
	}
	return v
}

// Values longer than this are shown from a little before their first difference.
const (
	longValue  = 48
	diffBefore = 16
)

// ShortDiff shortens two long values to where they differ.
func ShortDiff(then, now string) (shortThen, shortNow string) {
	a, b := []rune(then), []rune(now)
	if max(len(a), len(b)) <= longValue || len(a) == 0 || len(b) == 0 {
		return then, now
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if same <= diffBefore {
		return then, now
	}
	cut := same - diffBefore
	return "…" + string(a[cut:]), "…" + string(b[cut:])
}
