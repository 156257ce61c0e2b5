package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/gate"
	"sluice/storage"
)

// Decision is what a replay does with one unit.
type Decision string

// The decisions.
const (
	Reuse   Decision = "REUSE"   // its recorded result or rows are given back
	Run     Decision = "RUN"     // it runs
	Skip    Decision = "SKIP"    // it is not reached, or its work was done
	Blocked Decision = "BLOCKED" // it would have to run, and cannot safely
)

// Verdict is the answer of a pre-flight.
type Verdict string

// The verdicts.
const (
	Ready     Verdict = "READY"
	NeedsAck  Verdict = "NEEDS_ACK"
	IsBlocked Verdict = "BLOCKED"
)

// StepKind is the kind of a unit.
type StepKind string

// The kinds.
const (
	KindAction    StepKind = "action"
	KindTransform StepKind = "transform"
)

// Step is one unit of a plan.
type Step struct {
	CallPath engine.CallPath `json:"callPath,omitempty"`
	Node     string          `json:"node"`
	Ordinal  int             `json:"ordinal,omitempty"` // of an action's run; 0 for transforms
	Kind     StepKind        `json:"kind"`
	Type     string          `json:"type,omitempty"`
	Decision Decision        `json:"decision"`
	Why      string          `json:"why,omitempty"`
	Rows     int64           `json:"rows,omitempty"` // that are given back
	Bytes    int64           `json:"bytes,omitempty"`
	Snapshot string          `json:"snapshot,omitempty"`
}

// Name is how a person names the unit.
func (s Step) Name() string {
	name := s.Node
	if s.Ordinal > 1 {
		name = fmt.Sprintf("%s#%d", s.Node, s.Ordinal)
	}
	if s.CallPath != "" {
		return string(s.CallPath) + "/" + name
	}
	return name
}

// Check is one line of the list; see gate.Check. Acknowledge is set on those that
// a person has to acknowledge one by one, Acknowledged when that was done.
type Check struct {
	gate.Check
	CallPath     engine.CallPath `json:"callPath,omitempty"`
	Acknowledge  bool            `json:"acknowledge,omitempty"`
	Acknowledged bool            `json:"acknowledged,omitempty"`
	Execution    string          `json:"execution,omitempty"` // another one that the check is about
	Wrote        *Wrote          `json:"wrote,omitempty"`     // nil: no rows are counted
}

// Wrote is what a sink has written already and would write again.
type Wrote struct {
	Transform string `json:"transform"`
	Target    string `json:"target,omitempty"`
	How       string `json:"how,omitempty"`
	Rows      int64  `json:"rows"`
	Unknown   bool   `json:"unknown,omitempty"` // there may be more
}

// Name is what --ack and --override take.
func (c Check) Name() string { return c.ID }

// blocks tells whether the replay cannot start because of it.
func (c Check) blocks() bool { return c.Status == gate.Block && !c.Overridden }

// The kinds of start points.
const (
	StartFirstFailed = "first-failed"
	StartWhole       = "start"
	StartAction      = "action"
	StartGate        = "gate"
)

// StartPoint is a place that a replay can start at.
type StartPoint struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Usable bool   `json:"usable"`
	Why    string `json:"why,omitempty"`
	// CallPath and Node are where an action or a gate is, Ordinal the turn of an
	// action.
	CallPath engine.CallPath `json:"callPath,omitempty"`
	Node     string          `json:"node,omitempty"`
	Ordinal  int             `json:"ordinal,omitempty"`
	// Snapshot is that of a gate, Location where it is.
	Snapshot storage.SnapshotRef `json:"snapshot,omitzero"`
	Location string              `json:"location,omitempty"`
}

// Where the value of a variable comes from.
const (
	fromRecorded = "recorded"
	fromGiven    = "given"
	fromCurrent  = "current"
)

// VariableUse is one variable of the original execution and the value that the
// replay uses.
type VariableUse struct {
	Name     string `json:"name"`
	Original string `json:"original,omitempty"`
	Current  string `json:"current,omitempty"` // of the project as it is now
	Used     string `json:"used,omitempty"`
	From     string `json:"from"` // recorded, given, current
	Secret   bool   `json:"secret,omitempty"`
}

// Change is a difference of a definition since the original execution.
type Change struct {
	File    string `json:"file"`
	Node    string `json:"node,omitempty"`
	Setting string `json:"setting,omitempty"`
	Then    string `json:"then,omitempty"`
	Now     string `json:"now,omitempty"`
}

// String names place and both values.
func (c Change) String() string {
	where := c.Node
	if c.Setting != "" {
		where += ", " + c.Setting
	}
	return fmt.Sprintf("%s: was %q, is %q", where, c.Then, c.Now)
}

// Estimate is how much is reused and run.
type Estimate struct {
	ReusedSteps  int           `json:"reusedSteps"`
	RunSteps     int           `json:"runSteps"`
	SkippedSteps int           `json:"skippedSteps"`
	ReusedRows   int64         `json:"reusedRows"`
	ReusedBytes  int64         `json:"reusedBytes"`
	Took         time.Duration `json:"tookNanoseconds"` // that the units to run took then
}

// Plan is what a replay would do.
type Plan struct {
	Execution  string        `json:"execution"`
	Origin     string        `json:"origin"`
	Kind       string        `json:"kind"`
	File       string        `json:"file"`
	Start      string        `json:"start"`
	Verdict    Verdict       `json:"verdict"`
	Token      string        `json:"token"`
	Checks     []Check       `json:"checks"`
	Steps      []Step        `json:"steps"`
	Starts     []StartPoint  `json:"startPoints"`
	Variables  []VariableUse `json:"variables,omitempty"`
	Changes    []Change      `json:"changes,omitempty"`
	Estimate   Estimate      `json:"estimate"`
	Definition string        `json:"definition"` // current or original

	source *Source                                 // with what other machines did
	reuse  map[storage.ActionKey]storage.ActionRun // without root
	from   []gate.Start
	only   map[engine.CallPath]map[string]bool
	left   map[engine.CallPath]left
	bound  []gate.Reused
	sealed map[storage.ActionKey]*gate.SealedAction // without root
}

// judge gives the verdict from the checks.
func (p *Plan) judge() {
	p.Verdict = Ready
	for _, c := range p.Checks {
		switch {
		case c.blocks():
			p.Verdict = IsBlocked
			return
		case c.Acknowledge && !c.Acknowledged:
			p.Verdict = NeedsAck
		}
	}
}

// Open lists the checks that keep the plan from being run.
func (p *Plan) Open() []Check {
	var list []Check
	for _, c := range p.Checks {
		if c.blocks() || c.Acknowledge && !c.Acknowledged {
			list = append(list, c)
		}
	}
	return list
}

// add notes checks; what a person has said about them is looked at in the end.
func (p *Plan) add(at engine.CallPath, checks ...gate.Check) {
	for _, c := range checks {
		p.note(Check{Check: c, CallPath: at})
	}
}

// note is add for one check that knows more.
func (p *Plan) note(x Check) {
	x.Acknowledge = x.Status == gate.Warn
	if !slices.ContainsFunc(p.Checks, func(y Check) bool { return y.ID == x.ID && y.What == x.What && y.CallPath == x.CallPath }) {
		p.Checks = append(p.Checks, x)
	}
}

// Acknowledge takes over what a person has acknowledged since the plan was made,
// without another look at anything.
func (p *Plan) Acknowledge(names []string) {
	for i := range p.Checks {
		c := &p.Checks[i]
		c.Acknowledged = c.Acknowledge && matches(names, c.ID)
	}
	p.judge()
}

// answer applies what a person has said about the checks. Each is answered by
// itself, so those of different places that would have one name get their place
// into it: "second-write:target@load#2".
func (p *Plan) answer(o *Options) {
	places := map[string]map[engine.CallPath]bool{}
	for _, c := range p.Checks {
		if c.answerable() {
			if places[c.ID] == nil {
				places[c.ID] = map[engine.CallPath]bool{}
			}
			places[c.ID][c.CallPath] = true
		}
	}
	for i := range p.Checks {
		c := &p.Checks[i]
		if c.answerable() && len(places[c.ID]) > 1 && c.CallPath != "" {
			c.ID += "@" + string(c.CallPath)
		}
		c.Overridden = c.Status == gate.Block && c.Overridable && matches(o.Overrides, c.ID)
		c.Acknowledged = c.Acknowledge && matches(o.Acknowledged, c.ID)
	}
}

func (c Check) answerable() bool { return c.Acknowledge || c.Status == gate.Block && c.Overridable }

// forSessions are overrides as sessions know them, without places. What a person
// has not overridden at another place keeps the plan from being run.
func forSessions(overrides []string) []string {
	list := slices.Clone(overrides)
	for _, o := range overrides {
		for i, r := range o {
			if r == '@' {
				list = append(list, o[:i])
			}
		}
	}
	return list
}

// matches tells whether a check is named, whole or by the part before its colon.
func matches(names []string, id string) bool {
	kind, _, _ := strings.Cut(id, ":")
	kind, _, _ = strings.Cut(kind, "@")
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, id) || strings.EqualFold(n, kind) })
}
