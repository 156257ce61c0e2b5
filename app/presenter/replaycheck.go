package presenter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/engine/gate"
	"sluice/engine/replay"
)

// ReplayCard is a check that says something else than OK, as the dialog shows it.
type ReplayCard struct {
	ID          string
	Status      gate.Status // an overridden block counts as a warning
	Title, Text string
	Then, Now   string
	Ask         string // what is ticked to acknowledge it; "" when nothing is
	Ticked      bool
	Overridden  bool
	Moved       bool // the check before said something else
	Fixes       []ReplayFix
}

// PassedCheck is a check that is OK.
type PassedCheck struct{ Name, Note string }

// SortedChecks puts what blocks first, then warnings, notes and what passed.
func SortedChecks(p *replay.Plan) []replay.Check {
	weight := map[gate.Status]int{gate.Block: 0, gate.Warn: 1, gate.Info: 2, gate.OK: 3}
	list := slices.Clone(p.Checks)
	slices.SortStableFunc(list, func(a, b replay.Check) int { return cmp.Compare(weight[a.Status], weight[b.Status]) })
	return list
}

// Cards lists what blocks first, then warnings and notes.
func (v *ReplayView) Cards(now time.Time) []ReplayCard {
	var list []ReplayCard
	for _, c := range SortedChecks(v.Plan) {
		if c.Status == gate.OK || c.Status == gate.Info && checkKind(c.ID) == gate.CheckSegments && !v.fits(replay.CheckQuick) {
			continue // the warning of the quick check says it for all gates
		}
		x := ReplayCard{ID: c.ID, Status: c.Status, Then: c.Then, Now: c.Now, Ticked: c.Acknowledged, Overridden: c.Overridden, Moved: v.checkMoved(c)}
		w := v.wordsOf(c, now)
		x.Title, x.Text = w.title, w.text
		if c.Acknowledge {
			x.Ask = w.ask
		}
		if c.Status == gate.Block && c.Overridable {
			x.Text += " Can be overridden with a reason."
		}
		if c.Overridden {
			x.Status, x.Text = gate.Warn, "Overridden: "+v.Choices.Reason
		}
		x.Fixes = v.fixes(c)
		list = append(list, x)
	}
	return list
}

func (v *ReplayView) checkMoved(c replay.Check) bool {
	return v.Before != nil && !slices.ContainsFunc(v.Before.Checks, func(b replay.Check) bool {
		return b.ID == c.ID && b.CallPath == c.CallPath && b.Status == c.Status && b.What == c.What && b.Then == c.Then && b.Now == c.Now
	})
}

// cardWords are what a card says.
type cardWords struct{ title, text, ask string }

// checkTitles are the headlines of checks whose own sentence says the rest; %s is the
// node.
var checkTitles = map[string]cardWords{
	replay.CheckRecord:     {title: "The record of this run"},
	replay.CheckStart:      {title: "The start point cannot be used"},
	replay.CheckDefinition: {title: "The definition cannot be used"},
	replay.CheckResult:     {title: "The result of %s", ask: "Go on with it as it is"},
	gate.CheckGate:         {title: "There are no sealed rows to start from"},
	gate.CheckSnapshot:     {title: "The snapshot of %s cannot be used"},
	gate.CheckManifest:     {title: "The manifest of %s does not match"},
	gate.CheckContract:     {title: "The contract of %s does not hold"},
	gate.CheckAge:          {title: "The rows of %s are too old"},
	gate.CheckPolicy:       {title: "The replay policy of %s"},
	gate.CheckOpenPath:     {title: "A path goes past the gate %s"},
	gate.CheckMixedTime:    {title: "Rows of different times would meet"},
	gate.CheckPorts:        {title: "The hops behind %s take other rows"},
}

func (v *ReplayView) wordsOf(c replay.Check, now time.Time) cardWords {
	_, object, _ := strings.Cut(c.ID, ":")
	object, _, _ = strings.Cut(object, "@")
	said := strings.TrimSpace(sentence(c.What) + " " + advice(c.Do))
	switch checkKind(c.ID) {
	case replay.CheckSecondWrite:
		return v.secondWrite(c)
	case replay.CheckSideEffect:
		return cardWords{"What " + c.Gate + " did is not done again", sentence(c.What), "Understood"}
	case gate.CheckSecret:
		if c.Status == gate.Warn && strings.Contains(c.What, "has another value") {
			return cardWords{"A secret changed since the run", object + " has another value than it had. The current value is used.", "Understood"}
		}
		return cardWords{"A secret cannot be compared", said, "Understood"}
	case replay.CheckQuick:
		return cardWords{"Segments were not hashed", "A bad one stops the replay before its rows leave.", "Start without the full check"}
	case replay.CheckReplayed:
		return v.replayed(c, now)
	case replay.CheckActive:
		return v.active(c, now)
	case gate.CheckSealed:
		return v.interrupted(c)
	case gate.CheckSegments:
		if c.Status == gate.Block {
			return cardWords{title: "The rows of " + c.Gate + " are damaged", text: damages(c.What) + " No row of it was used. Stage it again."}
		}
		return cardWords{title: "The rows of " + c.Gate, text: said}
	case gate.CheckVariable:
		if c.Status == gate.Block {
			return cardWords{title: "Upstream variable changed", text: object + " is read by " + c.Gate + ", above the start point."}
		}
		return cardWords{title: object + " has another value in the project", text: "The recorded value is used."}
	case gate.CheckUpstream:
		return upstream(c)
	case replay.CheckDefinition:
		if c.Status == gate.Warn {
			return cardWords{c.Gate + " runs another file than it did", said, "Run it from its start"}
		}
	}
	w := checkTitles[checkKind(c.ID)]
	w.title = strings.Replace(w.title, "%s", cmp.Or(c.Gate, "this run"), 1)
	if w.ask == "" {
		w.ask = "Go on all the same"
	}
	if w.title == "" {
		w.title = capitalized(checkKind(c.ID))
	}
	w.text = said
	return w
}

// secondWrite is a sink, or an action, that has done its work already.
func (v *ReplayView) secondWrite(c replay.Check) cardWords {
	w := c.Wrote
	if w == nil {
		return cardWords{c.Gate + " would run a second time", sentence(c.What) + " " + advice(c.Do), "It may run a second time"}
	}
	who := c.Gate
	if c.CallPath != "" {
		who = rootNode(c.CallPath)
	}
	target := w.Target
	if target == "" {
		target = "its target"
	}
	how := ""
	if w.How != "" {
		how = " (" + w.How + ")"
	}
	if w.Unknown {
		return cardWords{
			who + " may have written rows",
			fmt.Sprintf("%s wrote to %s%s before it failed: %s counted, there may be more or fewer. A replay writes there again.", w.Transform, target, how, Plural(w.Rows, "row")),
			"I removed what it wrote, or it may be written twice",
		}
	}
	rows := Plural(w.Rows, "row")
	return cardWords{
		who + " already wrote " + rows,
		fmt.Sprintf("%s wrote to %s%s. A replay writes them again unless you remove them.", w.Transform, target, how),
		"I removed the " + rows + ", or they may be written twice",
	}
}

// replayed is another execution of the chain that has done the work.
func (v *ReplayView) replayed(c replay.Check, now time.Time) cardWords {
	w := cardWords{"A replay of this run succeeded already", sentence(c.What) + " " + advice(c.Do), "Replay it again"}
	if c.Execution == "" {
		w.title = "This run succeeded"
		if !v.Of.Ended.IsZero() {
			w.text = "It ended " + When(v.Of.Ended, now) + ". " + advice(c.Do)
		}
		return w
	}
	for _, h := range v.Of.Lineage {
		switch {
		case h.ID != c.Execution:
		case h.State.Ended() && !h.Ended.IsZero():
			w.title = "A replay of this run succeeded " + When(h.Ended, now)
			w.text = "Execution " + ShortID(h.ID) + ". " + advice(c.Do)
		default:
			w.title = "What another replay did is not fully known"
		}
	}
	return w
}

func (v *ReplayView) active(c replay.Check, now time.Time) cardWords {
	w := cardWords{title: "Another replay of this run is active", text: sentence(c.What) + " " + advice(c.Do)}
	if c.Status != gate.Block {
		w.title = "Another replay of this run may be active"
	}
	for _, h := range v.Of.Lineage {
		if h.ID == c.Execution && !h.Started.IsZero() {
			w.text = fmt.Sprintf("Started %s by %s on %s. %s", When(h.Started, now), cmp.Or(h.Who, "somebody"), cmp.Or(h.Host, "this machine"), advice(c.Do))
		}
	}
	return w
}

// interrupted is a gate that was never sealed.
func (v *ReplayView) interrupted(c replay.Check) cardWords {
	why := ""
	for _, s := range v.Plan.Starts {
		if s.Kind == replay.StartGate && s.CallPath == c.CallPath && s.Node == c.Gate {
			if known := v.Sealed[s.Name]; known.Why != "" {
				why = " (" + strings.TrimSuffix(known.Why, ".") + ")"
			}
		}
	}
	return cardWords{title: c.Gate + " was interrupted", text: "The source was partially extracted" + why + ". Stage it again from scratch."}
}

// damages says what is wrong with segments; the engine names each before its error,
// which names it once more.
func damages(what string) string {
	var list []string
	for part := range strings.SplitSeq(what, "; ") {
		if _, err, ok := strings.Cut(part, ": segment "); ok {
			part = "segment " + err
		}
		list = append(list, sentence(strings.TrimSuffix(part, ": corrupt")))
	}
	return strings.Join(list, " ")
}

// upstream is a change above the start point.
func upstream(c replay.Check) cardWords {
	w := cardWords{title: "Upstream logic changed"}
	if rest, ok := strings.CutPrefix(c.What, "upstream logic changed: "); ok {
		w.text = unquoted(rest) + ". It is above the start point."
		return w
	}
	w.text = sentence(c.What)
	return w
}

// sentence makes a sentence of what an engine says.
func sentence(s string) string {
	s = unquoted(strings.TrimSpace(s))
	if s == "" || strings.HasSuffix(s, ".") {
		return capitalized(s)
	}
	return capitalized(s) + "."
}

// unquoted drops the quotes around names.
func unquoted(s string) string { return strings.ReplaceAll(s, `"`, "") }

// advice is what to do, without the words of the command line.
func advice(do string) string {
	for _, cut := range []string{": --from", " with --override", ", or name the project with", " of sluice preflight"} {
		do, _, _ = strings.Cut(do, cut)
	}
	if strings.HasPrefix(do, "see sluice ") {
		return ""
	}
	return sentence(do)
}
