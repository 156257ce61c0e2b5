package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/storage"
)

// startAt is where a replay begins.
type startAt struct {
	whole bool // nothing is reused
	// gate or action: the name of the node, with its place and turn.
	gate    string
	at      engine.CallPath
	ordinal int
	found   bool
	// forced are action runs that run although they succeeded, "path/node#n".
	forced map[string]bool
}

func actionKey(at engine.CallPath, node string, ordinal int) string {
	return string(at.Child(node, ordinal, 1))
}

// parseStart understands a start point. Whether it is an action or a gate is
// found while the tree is walked.
func parseStart(src *Source, text string) startAt {
	switch {
	case strings.EqualFold(text, FirstFailed):
		return startAt{}
	case strings.EqualFold(text, FromStart):
		return startAt{whole: true}
	}
	s := startAt{ordinal: 1, forced: map[string]bool{}}
	name := text
	if i := strings.LastIndexByte(text, '/'); i >= 0 && executionAt(&src.Record, engine.CallPath(text[:i])) != nil {
		s.at, name = engine.CallPath(text[:i]), text[i+1:]
	}
	if i := strings.LastIndexByte(name, '#'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 0 {
			name, s.ordinal = name[:i], n
		}
	}
	s.gate = name
	if s.at == "" {
		s.at = placeOf(src, name)
	}
	// What is above the place of the start has to run, so that the place is
	// reached.
	for at := s.at; at != ""; at = at.Parent() {
		s.forced[withoutChild(at)] = true
	}
	for i := range src.Runs {
		a := &src.Runs[i]
		if a.CallPath == string(s.at) && strings.EqualFold(a.Node, name) && a.Ordinal == s.ordinal {
			s.forced[actionKey(s.at, a.Node, a.Ordinal)] = true
			s.found = true
		}
	}
	return s
}

// withoutChild takes the number of the child from the last part of a path.
func withoutChild(at engine.CallPath) string {
	text := string(at)
	slash := strings.LastIndexByte(text, '/')
	if colon := strings.LastIndexByte(text, ':'); colon > slash && colon > strings.LastIndexByte(text, '#') {
		return text[:colon]
	}
	return text
}

// placeOf finds the only place where a gate or action of that name ran; the root
// goes first.
func placeOf(src *Source, name string) engine.CallPath {
	var places []string
	for i := range src.Runs {
		if strings.EqualFold(src.Runs[i].Node, name) {
			places = append(places, src.Runs[i].CallPath)
		}
	}
	for _, l := range src.Snapshots {
		if strings.EqualFold(l.Node, name) {
			places = append(places, l.CallPath)
		}
	}
	if len(places) == 0 || slices.Contains(places, "") {
		return ""
	}
	return engine.CallPath(places[0])
}

// startPoints lists what a person can choose, unusable ones with the reason.
func (p *planner) startPoints() {
	add := func(s StartPoint) { p.plan.Starts = append(p.plan.Starts, s) }
	add(StartPoint{Name: FirstFailed, Kind: StartFirstFailed, Usable: p.failed(), Why: map[bool]string{false: "nothing failed"}[p.failed()]})
	add(StartPoint{Name: FromStart, Kind: StartWhole, Usable: true, Why: "sources are read again"})
	for i := range p.src.Runs {
		a := &p.src.Runs[i]
		s := StartPoint{Kind: StartAction, Usable: true, CallPath: engine.CallPath(a.CallPath), Node: a.Node, Ordinal: a.Ordinal}
		s.Name = Step{CallPath: s.CallPath, Node: a.Node, Ordinal: a.Ordinal}.Name()
		if a.State == storage.ActionSkipped {
			s.Usable, s.Why = false, "it was not reached"
		}
		add(s)
	}
	for _, l := range p.src.Snapshots {
		s := StartPoint{Kind: StartGate, Usable: l.Digest != "", CallPath: engine.CallPath(l.CallPath), Node: l.Node, Snapshot: l.Ref, Location: l.Location}
		s.Name = Step{CallPath: s.CallPath, Node: l.Node}.Name()
		if !s.Usable {
			s.Why = "the source was partially extracted, stage it again from scratch"
		} else {
			s.Why = fmt.Sprintf("snapshot %s", l.Ref.ID)
		}
		add(s)
	}
}

// failed tells whether there is something that a replay would go on with.
func (p *planner) failed() bool { return p.src.Root().State != storage.StateSucceeded }
