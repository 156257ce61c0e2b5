package replay_test

import (
	"os"
	"strings"
	"testing"

	"sluice/engine/replay"
	"sluice/storage"
)

func TestThePlanOfAPipeline(t *testing.T) {
	two := []string{source("one"), source("two"), node("both", "Append", "<head_name>one</head_name><tail_name>two</tail_name>"), sink("out")}
	for name, c := range map[string]struct {
		hops   string
		nodes  []string
		gates  []string
		states string // "src finished, out failed"
		now    func(text string) string
		o      replay.Options
		steps  []string
		checks []string
		says   map[string][]string
	}{
		"goes on behind the gate": {
			hops: "src>mid mid>out", nodes: []string{source("src"), dummy("mid"), sink("out")}, gates: []string{"src"},
			states: "src finished, mid stopped, out failed", steps: []string{"src=REUSE", "mid=RUN", "out=RUN"},
		},
		"runs a side branch that did not end": {
			hops: "src>out src>audit", nodes: []string{source("src"), sink("out"), dummy("audit")}, gates: []string{"src"},
			states: "src finished, out failed, audit stopped", steps: []string{"src=REUSE", "out=RUN", "audit=RUN"},
		},
		"leaves out a side branch that did": {
			hops: "src>out src>audit", nodes: []string{source("src"), sink("out"), dummy("audit")}, gates: []string{"src"},
			states: "src finished, out failed, audit finished", steps: []string{"src=REUSE", "out=RUN", "audit=SKIP"},
		},
		"begins at the last of two gates": {
			hops: "src>mid mid>out", nodes: []string{source("src"), dummy("mid"), sink("out")}, gates: []string{"src", "mid"},
			states: "src finished, mid finished, out failed", steps: []string{"src=SKIP", "mid=REUSE", "out=RUN"},
		},
		"begins at the gate that was chosen": {
			hops: "src>mid mid>out", nodes: []string{source("src"), dummy("mid"), sink("out")}, gates: []string{"src", "mid"}, o: replay.Options{Start: "src"},
			states: "src finished, mid finished, out failed", steps: []string{"src=REUSE", "mid=RUN", "out=RUN"},
		},
		"takes two sources from their gates": {
			hops: "one>both two>both both>out", nodes: two, gates: []string{"one", "two"},
			states: "one finished, two finished, both stopped, out failed", steps: []string{"one=REUSE", "two=REUSE", "both=RUN", "out=RUN"},
		},
		"does not mix two times": {
			hops: "one>both two>both both>out", nodes: two, gates: []string{"one"},
			states: "one finished, two finished, both stopped, out failed", steps: []string{"one=REUSE", "two=RUN", "both=RUN", "out=RUN"},
			checks: []string{"BLOCK mixed-time"}, says: map[string][]string{"mixed-time": {`"two"`, `"one"`, "2026-12-01T02:"}},
		},
		"mixes two times when a person says so": {
			hops: "one>both two>both both>out", nodes: two, gates: []string{"one"}, o: replay.Options{Overrides: []string{"mixed-time"}, Reason: "they are the same"},
			states: "one finished, two finished, both stopped, out failed", checks: []string{"BLOCK mixed-time"}, says: map[string][]string{"mixed-time": {"[overridden]"}},
		},
		"adds constants at any time": {
			hops:  "one>both two>both both>out",
			nodes: []string{source("one"), node("two", "RowGenerator", "<limit>1</limit><fields><field><name>id</name><type>Integer</type></field></fields>"), two[2], two[3]}, gates: []string{"one"},
			states: "one finished, two finished, both stopped, out failed", steps: []string{"one=REUSE", "two=RUN", "out=RUN"},
		},
		"names a path past the gate": {
			hops: "src>mid mid>out src>audit", nodes: []string{source("src"), dummy("mid"), sink("out"), dummy("audit")}, gates: []string{"mid"},
			states: "src finished, mid finished, out failed, audit stopped", checks: []string{"BLOCK open-path"}, says: map[string][]string{"open-path": {`"src"`, `"mid"`, `"audit"`}},
		},
		"cannot override a path past the gate": {
			hops: "src>mid mid>out src>audit", nodes: []string{source("src"), dummy("mid"), sink("out"), dummy("audit")}, gates: []string{"mid"},
			o:      replay.Options{Overrides: []string{"open-path"}, Reason: "it does not matter", Acknowledged: []string{"open-path"}},
			states: "src finished, mid finished, out failed, audit stopped", checks: []string{"BLOCK open-path"}, says: map[string][]string{"open-path": {"mark"}},
		},
		"does not care for a path past the gate to what was done": {
			hops: "src>mid mid>out src>audit", nodes: []string{source("src"), dummy("mid"), sink("out"), dummy("audit")}, gates: []string{"mid"},
			states: "src finished, mid finished, out failed, audit finished", steps: []string{"src=SKIP", "mid=REUSE", "out=RUN", "audit=SKIP"},
		},
		"has nothing left": {
			hops: "src>out", nodes: []string{source("src"), sink("out")}, gates: []string{"src"},
			states: "src finished, out finished", steps: []string{"src=SKIP", "out=SKIP"}, checks: []string{"BLOCK start"},
		},
		"has no gate": {
			hops: "src>out", nodes: []string{source("src"), sink("out")}, states: "src finished, out failed", steps: []string{"src=SKIP", "out=BLOCKED"}, checks: []string{"BLOCK gate"},
		},
		"has no gate, from the start": {
			hops: "src>out", nodes: []string{source("src"), sink("out")}, states: "src finished, out failed", steps: []string{"src=RUN", "out=RUN"}, o: replay.Options{Start: replay.FromStart},
		},
		"starts at no transform of that name": {
			hops: "src>out", nodes: []string{source("src"), sink("out")}, gates: []string{"src"}, states: "src finished, out failed", o: replay.Options{Start: "nowhere"}, checks: []string{"BLOCK start", "BLOCK gate"},
		},
		"starts at no gate": {
			hops: "src>mid mid>out", nodes: []string{source("src"), dummy("mid"), sink("out")}, gates: []string{"src"}, states: "src finished, mid finished, out failed", o: replay.Options{Start: "mid"},
			steps: []string{"out=BLOCKED"}, checks: []string{"BLOCK gate"}, says: map[string][]string{"gate": {"no rows of \"mid\""}},
		},
		"sees a change above the gate": {
			hops: "src>out", nodes: []string{source("src"), sink("out")}, gates: []string{"src"}, states: "src finished, out failed",
			now:    func(s string) string { return strings.Replace(s, "<separator>,<", "<separator>;<", 1) },
			checks: []string{"BLOCK upstream"}, says: map[string][]string{"upstream": {"separator", ",", ";"}},
		},
		"sees no change below the gate": {
			hops: "src>out", nodes: []string{source("src"), sink("out")}, gates: []string{"src"}, states: "src finished, out failed",
			now:   func(s string) string { return strings.Replace(s, "<table>loaded<", "<table>other<", 1) },
			steps: []string{"src=REUSE", "out=RUN"},
		},
		"warns of quick verification": {
			hops: "src>out", nodes: []string{source("src"), sink("out")}, gates: []string{"src"}, states: "src finished, out failed", o: replay.Options{Quick: true},
			steps: []string{"src=REUSE", "out=RUN"}, checks: []string{"WARN quick"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			text := mark(t, pipelineOf(c.hops, c.nodes...), c.gates...)
			b.write("p.hpl", text)
			tl := b.tell(storage.KindPipeline, "p.hpl", failed).seal("", text)
			for part := range strings.SplitSeq(c.states, ", ") {
				n, state, _ := strings.Cut(part, " ")
				tl.was("", n, state, nil)
			}
			if c.now != nil {
				b.write("p.hpl", c.now(text))
			}
			p := b.plan(c.o, tl)
			wantSteps(t, p, c.steps...)
			wantChecks(t, p, c.checks...)
			for id, texts := range c.says {
				says(t, p, id, texts...)
			}
			if list, err := os.ReadDir(b.dir); err != nil || len(list) > 2 {
				t.Errorf("the pre-flight left files: %v, %v", list, err)
			}
		})
	}
}

// TestAChangeBelowTheGateIsShown: it is the fix.
func TestAChangeBelowTheGateIsShown(t *testing.T) {
	b := newBench(t)
	text := mark(t, pipelineOf("src>out", source("src"), sink("out")), "src")
	b.write("p.hpl", text)
	tl := b.tell(storage.KindPipeline, "p.hpl", failed).seal("", text).was("", "src", "finished", nil).was("", "out", "failed", nil)
	changed := strings.Replace(text, "<table>loaded<", "<table>other<", 1)
	changed = strings.Replace(changed, "<name>out</name>", "<name>out</name><description>the fix</description><GUI><xloc>9</xloc><yloc>9</yloc></GUI>", 1)
	b.write("p.hpl", changed)
	p := b.plan(replay.Options{}, tl)
	if len(p.Changes) != 1 || p.Changes[0].String() != `out, table: was "loaded", is "other"` {
		t.Errorf("changes %v", p.Changes)
	}
	if p := b.plan(replay.Options{Definition: replay.Original}, tl); len(p.Changes) != 0 {
		t.Errorf("changes by the original definition %v", p.Changes)
	}
}

// TestSecondWrites: what a sink has written counts for every sink that writes there
// now.
func TestSecondWrites(t *testing.T) {
	const to = "connection target, table "
	emptied := node("out", "TableOutput", "<connection>target</connection><table>loaded</table><truncate>Y</truncate>")
	for name, c := range map[string]struct {
		was   *storage.SinkFacts
		state storage.State
		now   string // the sink as it is now
		texts []string
	}{
		"committed":                 {appended(6, true), failed, sink("out"), []string{"6 rows", to + "loaded already", "write again"}},
		"failed on the way":         {appended(4, false), failed, sink("out"), []string{"up to 4 rows", "before it failed"}},
		"killed":                    {appended(4, false), interrupted, sink("out"), []string{"number unknown", "4 were counted"}},
		"killed before it counted":  {appended(0, false), interrupted, sink("out"), []string{"number unknown"}},
		"wrote nothing":             {appended(0, false), failed, sink("out"), nil},
		"is emptied first":          {&storage.SinkFacts{Target: to + "loaded", Idempotent: true, How: "truncate first", Rows: 4}, failed, emptied, nil},
		"was emptied first":         {&storage.SinkFacts{Target: to + "loaded", Idempotent: true, How: "truncate first", Rows: 4}, failed, sink("out"), []string{"4 rows", "truncate first"}},
		"is emptied from now on":    {appended(4, false), failed, emptied, nil},
		"wrote to another table":    {&storage.SinkFacts{Target: to + "before", How: "append", Rows: 4}, failed, sink("out"), []string{to + "before", "would now write to " + to + "loaded"}},
		"emptied another table":     {&storage.SinkFacts{Target: to + "before", Idempotent: true, How: "truncate first", Rows: 4}, failed, emptied, []string{to + "before", to + "loaded"}},
		"has another name":          {appended(4, true), failed, sink("new"), []string{`"out" has written 4 rows`, `"new" would write there`}},
		"was another sink, and new": {&storage.SinkFacts{Target: to + "before", How: "append", Rows: 4}, failed, sink("new"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			text := mark(t, pipelineOf("src>out", source("src"), sink("out")), "src")
			b.write("p.hpl", text)
			tl := b.tell(storage.KindPipeline, "p.hpl", c.state).seal("", text).was("", "src", "finished", nil).was("", "out", "failed", c.was)
			now := "out"
			if strings.Contains(c.now, "<name>new<") {
				now = "new"
			}
			b.write("p.hpl", strings.NewReplacer(sink("out"), c.now, "<to>out</to>", "<to>"+now+"</to>").Replace(text))
			p := b.plan(replay.Options{}, tl)
			if c.texts == nil {
				wantChecks(t, p)
				return
			}
			wantChecks(t, p, "WARN second-write:"+now)
			says(t, p, "second-write:"+now, c.texts...)
			if p.Verdict != replay.NeedsAck {
				t.Errorf("the verdict is %s", p.Verdict)
			}
			if p := b.plan(replay.Options{Acknowledged: []string{"second-write:" + now}}, tl); p.Verdict != replay.Ready {
				t.Errorf("acknowledged, the verdict is %s", p.Verdict)
			}
		})
	}
}
