package presenter

import (
	"path/filepath"
	"slices"

	"sluice/engine/gate"
	"sluice/engine/project"
	"sluice/engine/replay"
)

// FixKind is what a button beside a check does.
type FixKind int

// The kinds. Target is the check, the start point, the variable, the execution or
// the file.
const (
	FixOverride  FixKind = iota // asks for the reason of an override of Target
	FixTakeBack                 // the override
	FixStart                    // starts at Target
	FixReset                    // gives the variable Target its recorded value back
	FixExecution                // shows the execution Target
	FixOpen                     // opens the file Target in the designer, at Node
	FixReveal                   // opens the file Target with the program of the system
	FixFull                     // hashes all segments
)

// ReplayFix is a button beside a check.
type ReplayFix struct {
	Kind         FixKind
	Label, Icon  string
	Target, Node string
}

// fixes are the ways out of a check.
func (v *ReplayView) fixes(c replay.Check) []ReplayFix {
	var list []ReplayFix
	add := func(f ReplayFix, ok bool) {
		if ok {
			list = append(list, f)
		}
	}
	switch {
	case c.Overridden:
		add(ReplayFix{Kind: FixTakeBack, Label: "Take back", Icon: "undo", Target: c.ID}, true)
		return list
	case c.Status == gate.Block && c.Overridable:
		add(ReplayFix{Kind: FixOverride, Label: "Override…", Icon: "edit", Target: c.ID}, true)
	}
	switch checkKind(c.ID) {
	case gate.CheckVariable:
		_, name := splitID(c.ID)
		add(ReplayFix{Kind: FixReset, Label: "Reset", Icon: "undo", Target: name}, c.Status == gate.Block)
	case replay.CheckQuick:
		add(ReplayFix{Kind: FixFull, Label: "Check fully", Icon: "refresh"}, true)
	case replay.CheckReplayed, replay.CheckActive:
		add(ReplayFix{Kind: FixExecution, Label: "Open it", Icon: "open", Target: c.Execution}, c.Execution != "")
	case replay.CheckSecondWrite:
		if c.Wrote != nil {
			path, ok := project.LocalPath(c.Wrote.Target)
			if ok && filepath.IsAbs(path) {
				add(ReplayFix{Kind: FixReveal, Label: "Open target", Icon: "open", Target: path}, true)
				break
			}
		}
		add(v.definitionFix(c))
	case gate.CheckUpstream, gate.CheckOpenPath, replay.CheckDefinition:
		add(v.definitionFix(c))
	}
	if c.Status == gate.Block {
		add(v.startFix(c))
	}
	return list
}

func (v *ReplayView) definitionFix(c replay.Check) (ReplayFix, bool) {
	file := v.fileAt(c.CallPath)
	return ReplayFix{Kind: FixOpen, Label: "Open definition", Icon: "designer", Target: file, Node: c.Gate}, file != ""
}

// needRows are the checks that a fresh extraction settles.
var needRows = []string{
	gate.CheckGate, gate.CheckSnapshot, gate.CheckSealed, gate.CheckManifest, gate.CheckSegments, gate.CheckUpstream, gate.CheckContract,
	gate.CheckAge, gate.CheckMixedTime, gate.CheckOpenPath, replay.CheckResult, replay.CheckStart, gate.CheckPorts,
}

// startFix starts where the rows are made again. An action whose result cannot be
// given back runs; what a gate has sealed is only left alone by a run from the
// beginning; a gate that never was sealed is staged again when what started it runs.
func (v *ReplayView) startFix(c replay.Check) (ReplayFix, bool) {
	kind := checkKind(c.ID)
	if !slices.Contains(needRows, kind) {
		return ReplayFix{}, false
	}
	f := ReplayFix{Kind: FixStart, Label: "Start from the beginning", Icon: "replay", Target: replay.FromStart}
	at, node := c.CallPath, c.Gate
	if kind == gate.CheckSealed && at != "" {
		at, node = at.Parent(), at.Node()
	}
	for _, s := range v.Plan.Starts {
		if s.Kind == replay.StartAction && s.Usable && s.CallPath == at && s.Node == node {
			f.Target, f.Label = s.Name, "Start at "+s.Node
		}
	}
	return f, f.Target != v.Plan.Start
}

func splitID(id string) (kind, object string) {
	kind = checkKind(id)
	if len(id) <= len(kind) || id[len(kind)] != ':' {
		return kind, ""
	}
	object = id[len(kind)+1:]
	for i, r := range object {
		if r == '@' {
			return kind, object[:i]
		}
	}
	return kind, object
}

// Passed lists the checks that are OK: those that the engine names, and those that
// speak only when something is wrong.
func (v *ReplayView) Passed() []PassedCheck {
	count := map[string]int{}
	note := map[string]string{}
	for _, c := range v.Plan.Checks {
		if c.Status == gate.OK {
			kind := checkKind(c.ID)
			count[kind]++
			note[kind] = c.What
		}
	}
	var list []PassedCheck
	add := func(name, text string, ok bool) {
		if ok {
			list = append(list, PassedCheck{name, text})
		}
	}
	rows := v.bound() && v.fits(gate.CheckGate, gate.CheckSnapshot, gate.CheckSealed, gate.CheckManifest, replay.CheckDefinition)
	add("Record found", Plural(int64(len(v.Of.Runs)), "action run"), v.fits(replay.CheckRecord) && len(v.Of.Runs) > 0)
	add("Record found", "complete", v.fits(replay.CheckRecord) && len(v.Of.Runs) == 0)
	add("Gates sealed", fmtCount(count[gate.CheckSealed], "", "gate")+", "+Plural(v.Plan.Estimate.ReusedRows, "row"), count[gate.CheckSealed] > 0 && v.fits(gate.CheckSealed))
	add("Segments verified", fmtCount(count[gate.CheckSegments], note[gate.CheckSegments], "gate"), count[gate.CheckSegments] > 0 && v.fits(gate.CheckSegments))
	add("Upstream logic unchanged", fmtCount(count[gate.CheckUpstream], "", "gate"), count[gate.CheckUpstream] > 0 && v.fits(gate.CheckUpstream))
	add("No uncut path", "every source is behind a gate", rows && v.fits(gate.CheckOpenPath))
	add("Same time", "nothing is read beside older rows", rows && v.fits(gate.CheckMixedTime))
	add("Variables read upstream", "as recorded", rows && v.fits(gate.CheckVariable))
	add("Contract, age and policy", "hold", rows && v.fits(gate.CheckContract, gate.CheckAge, gate.CheckPolicy))
	add("Secrets", "as they were", rows && v.fits(gate.CheckSecret))
	add("Nothing written twice", "no sink has written its rows yet", v.fits(replay.CheckSecondWrite, replay.CheckDefinition, replay.CheckStart, gate.CheckGate))
	add("No other replay", "none is active, none has succeeded", v.fits(replay.CheckActive, replay.CheckReplayed))
	return list
}

// fmtCount tells of one check itself, of several how many there are.
func fmtCount(n int, note, noun string) string {
	if n == 1 && note != "" {
		return unquoted(note)
	}
	return Plural(int64(n), noun)
}
