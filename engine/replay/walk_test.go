package replay_test

import (
	"fmt"
	"testing"

	"sluice/engine/replay"
	"sluice/storage"
)

const (
	ok, bad, reused, busy = storage.ActionSucceeded, storage.ActionFailed, storage.ActionReused, storage.ActionRunning
	failed, interrupted   = storage.StateFailed, storage.StateInterrupted
)

func TestTheWalkThroughAWorkflow(t *testing.T) {
	both := "Start>fork fork>a fork>b a+join b+join join+end"
	loop := "Start>step step+more more+step more-end"
	for name, c := range map[string]struct {
		hops    string
		actions []string
		tell    func(*tale)
		from    string
		steps   []string
		checks  []string
	}{
		"goes on at the first failed action": {
			hops: "Start>a a+b b+c", actions: []string{sets("a", "x"), shell("b"), sets("c", "y")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("a", ok).did("b", bad) },
			steps: []string{"Start=REUSE", "a=REUSE", "b=RUN", "c=RUN"}, checks: []string{"WARN second-write:b"},
		},
		"leaves out the way that was not taken": {
			hops: "Start>there there+a there-b b+c", actions: []string{exists("there"), sets("a", "x"), sets("b", "x"), shell("c")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("there", bad, decided).did("b", ok).did("c", bad) },
			steps: []string{"there=REUSE", "a=SKIP", "b=REUSE", "c=RUN"}, checks: []string{"WARN second-write:c"},
		},
		"runs what failed though its failure was handled": {
			hops: "Start>a a-b b+c", actions: []string{shell("a"), sets("b", "x"), shell("c")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("a", bad).did("b", ok).did("c", bad) },
			steps: []string{"a=RUN", "b=SKIP", "c=SKIP"}, checks: []string{"WARN second-write:a"},
		},
		"begins behind a failure that was handled": {
			hops: "Start>a a-b b+c", actions: []string{shell("a"), sets("b", "x"), sets("c", "y")}, from: "c",
			tell:  func(tl *tale) { tl.did("Start", ok).did("a", bad).did("b", ok).did("c", bad) },
			steps: []string{"a=REUSE", "b=REUSE", "c=RUN"}, checks: []string{"WARN side-effect:a"},
		},
		"takes neither way for sure behind what decides anew": {
			hops: "Start>a a+there there+b there-c", actions: []string{sets("a", "x"), exists("there"), sets("b", "x"), shell("c")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("a", bad).did("c", ok) },
			steps: []string{"a=RUN", "there=RUN", "b=RUN", "c=RUN"}, checks: []string{"WARN second-write:c"},
		},
		"takes neither way for sure behind what decides again": {
			hops: "Start>there there+a there-b", actions: []string{exists("there"), shell("a"), shell("b")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("there", bad).did("b", ok) },
			steps: []string{"there=RUN", "a=RUN", "b=RUN"}, checks: []string{"WARN second-write:b"},
		},
		"counts the turns of a loop": {
			hops: loop, actions: []string{sets("step", "x"), exists("more"), sets("end", "y")},
			tell: func(tl *tale) {
				tl.did("Start", ok).did("step", ok).did("more", ok).did("step#2", ok).did("more#2", ok).did("step#3", bad)
			},
			steps: []string{"step=REUSE", "step#2=REUSE", "more#2=REUSE", "step#3=RUN", "more#3=RUN", "end=RUN"},
		},
		"starts a loop at a turn": {
			hops: loop, actions: []string{sets("step", "x"), exists("more"), sets("end", "y")}, from: "step#2",
			tell: func(tl *tale) {
				tl.did("Start", ok).did("step", ok).did("more", ok).did("step#2", ok).did("more#2", bad, decided).did("end", bad)
			},
			steps: []string{"step=REUSE", "more=REUSE", "step#2=RUN", "more#2=RUN", "end=RUN"},
		},
		"names effects of later turns of a loop": {
			hops: "Start>step step+more more+step more-end", actions: []string{shell("step"), exists("more"), sets("end", "y")}, from: "step",
			tell: func(tl *tale) {
				tl.did("Start", ok).did("step", ok).did("more", ok).did("step#2", ok).did("more#2", bad, decided).did("end", bad)
			},
			steps: []string{"Start=REUSE", "step=RUN", "end=RUN"}, checks: []string{"WARN second-write:step"},
		},
		"reuses the branch that succeeded": {
			hops: both, actions: []string{parallel(action("fork", "DUMMY", "")), shell("a"), sets("b", "x"), action("join", "JOIN", ""), sets("end", "y")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("fork", ok).did("a", ok).did("b", bad) },
			steps: []string{"fork=REUSE", "a=REUSE", "b=RUN", "join=RUN", "end=RUN"}, checks: []string{"WARN side-effect:a"},
		},
		"reuses a join when both branches are": {
			hops: both, actions: []string{parallel(action("fork", "DUMMY", "")), sets("a", "x"), sets("b", "x"), action("join", "JOIN", ""), sets("end", "y")},
			tell: func(tl *tale) {
				tl.did("Start", ok).did("fork", ok).did("a", ok).did("b", ok).did("join", ok).did("end", bad)
			},
			steps: []string{"a=REUSE", "b=REUSE", "join=REUSE", "end=RUN"},
		},
		"runs both branches that did not end": {
			hops: both, actions: []string{parallel(action("fork", "DUMMY", "")), sets("a", "x"), sets("b", "x"), action("join", "JOIN", ""), sets("end", "y")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("fork", ok).did("a", busy).did("b", bad) },
			steps: []string{"fork=REUSE", "a=RUN", "b=RUN", "join=RUN", "end=RUN"},
		},
		"runs everything from the start": {
			hops: "Start>a a+b", actions: []string{shell("a"), sets("b", "x")}, from: replay.FromStart,
			tell:  func(tl *tale) { tl.did("Start", ok).did("a", ok).did("b", bad) },
			steps: []string{"Start=RUN", "a=RUN", "b=RUN"}, checks: []string{"WARN second-write:a"},
		},
		"does not reuse a run that was stopped": {
			hops: "Start>a a+b", actions: []string{sets("a", "x"), sets("b", "x")},
			tell:  func(tl *tale) { tl.did("Start", ok).did("a", storage.ActionStopped) },
			steps: []string{"a=RUN", "b=RUN"},
		},
		"cannot give back a secret": {
			hops: "Start>a a+b", actions: []string{sets("a", "x"), sets("b", "x")},
			tell: func(tl *tale) {
				tl.did("Start", ok).did("a", ok, func(a *storage.ActionRun) {
					a.After = []storage.Variable{{Name: "TOKEN", Value: "test:00", Secret: true}}
				}).did("b", bad)
			},
			steps: []string{"a=BLOCKED", "b=RUN"}, checks: []string{"BLOCK result:a"},
		},
		"cannot give back rows that were only counted": {
			hops: "Start>a a+b", actions: []string{sets("a", "x"), sets("b", "x")},
			tell: func(tl *tale) {
				tl.did("Start", ok).did("a", ok, func(a *storage.ActionRun) { a.Rows.Count = 7 }).did("b", bad)
			},
			steps: []string{"a=BLOCKED", "b=RUN"}, checks: []string{"BLOCK result:a"},
		},
		"knows no such start point": {
			hops: "Start>a", actions: []string{sets("a", "x")}, from: "Lod",
			tell:  func(tl *tale) { tl.did("Start", ok).did("a", bad) },
			steps: []string{"a=RUN"}, checks: []string{"BLOCK start"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("w.hwf", workflowOf(c.hops, c.actions...))
			tl := b.tell(storage.KindWorkflow, "w.hwf", failed)
			c.tell(tl)
			p := b.plan(replay.Options{Start: c.from}, tl)
			wantSteps(t, p, c.steps...)
			wantChecks(t, p, c.checks...)
		})
	}
}

func TestWhatAChildDidIsPlannedInside(t *testing.T) {
	begin := func(t *testing.T) (*bench, *tale) {
		b := newBench(t)
		b.write("load.hpl", pipelineOf("src>out", source("src"), sink("out")))
		b.write("in.hwf", workflowOf("Start>a a+load load+z", sets("a", "x"), runs("load", "load.hpl"), sets("z", "x")))
		b.write("w.hwf", workflowOf("Start>in in+end", runs("in", "in.hwf"), sets("end", "x")))
		tl := b.tell(storage.KindWorkflow, "w.hwf", failed)
		tl.execution("in#1", storage.KindWorkflow, "in.hwf", failed)
		tl.execution("in#1/load#1", storage.KindPipeline, "load.hpl", failed)
		tl.did("Start", ok).did("in", bad).did("in#1/Start", ok).did("in#1/a", ok).did("in#1/load", bad)
		tl.was("in#1/load#1", "src", "finished", nil).was("in#1/load#1", "out", "failed", appended(4, false))
		return b, tl
	}
	t.Run("at the first failed action", func(t *testing.T) {
		b, tl := begin(t)
		p := b.plan(replay.Options{}, tl)
		wantSteps(t, p, "in=RUN", "in#1/Start=REUSE", "in#1/a=REUSE", "in#1/load=RUN", "in#1/z=RUN", "in#1/load#1/src=RUN", "in#1/load#1/out=RUN", "end=RUN")
		wantChecks(t, p, "WARN second-write:out")
		says(t, p, "second-write:out", "up to 4 rows", "table loaded", "append")
	})
	for _, from := range []string{"in#1/load", "load"} {
		t.Run("from "+from, func(t *testing.T) {
			b, tl := begin(t)
			wantSteps(t, b.plan(replay.Options{Start: from}, tl), "in=RUN", "in#1/a=REUSE", "in#1/load=RUN")
		})
	}
	t.Run("from the start", func(t *testing.T) {
		b, tl := begin(t)
		p := b.plan(replay.Options{Start: replay.FromStart}, tl)
		wantSteps(t, p, "Start=RUN", "in=RUN", "in#1/Start=RUN", "in#1/a=RUN", "in#1/load#1/out=RUN")
		wantChecks(t, p, "WARN second-write:out")
	})
	t.Run("in a file that is gone", func(t *testing.T) {
		b, tl := begin(t)
		p := b.plan(replay.Options{Definition: replay.Original}, tl)
		wantSteps(t, p, "in#1/load#1/out=RUN")
		b.texts = map[string][]byte{}
		wantChecks(t, b.plan(replay.Options{Definition: replay.Original}, tl), "BLOCK definition")
	})
}

// TestExecutorsAreJudgedByWhatTheirChildrenDid: an executor starts all its children
// again.
func TestExecutorsAreJudgedByWhatTheirChildrenDid(t *testing.T) {
	b := newBench(t)
	b.write("each.hpl", pipelineOf("src>out", source("src"), sink("out")))
	b.write("each.hwf", workflowOf("Start>tell tell+set", shell("tell"), sets("set", "x")))
	text := pipelineOf("src>call src>other", source("src"),
		node("call", "PipelineExecutor", "<filename>${PROJECT_HOME}/each.hpl</filename><run_configuration>local</run_configuration>"),
		node("other", "WorkflowExecutor", "<filename>${PROJECT_HOME}/each.hwf</filename><run_configuration>local</run_configuration>"))
	b.write("p.hpl", text)
	tl := b.tell(storage.KindPipeline, "p.hpl", failed)
	for n := range 3 {
		at := fmt.Sprintf("call#%d", n+1)
		tl.execution(at, storage.KindPipeline, "each.hpl", storage.StateSucceeded)
		tl.was(at, "out", "finished", appended(2, true))
	}
	tl.execution("other#1", storage.KindWorkflow, "each.hwf", failed)
	tl.did("other#1/tell", ok).did("other#1/set", bad)
	tl.was("", "src", "finished", nil).was("", "call", "failed", nil).was("", "other", "failed", nil)
	p := b.plan(replay.Options{Start: replay.FromStart}, tl)
	wantChecks(t, p, "WARN second-write:call", "WARN second-write:other")
	says(t, p, "second-write:call", "6 rows", "table loaded")
	says(t, p, "second-write:other", `action "tell"`)
}

func TestARecordThatEndsAbruptly(t *testing.T) {
	b := newBench(t)
	b.write("load.hpl", pipelineOf("src>out", source("src"), sink("out")))
	b.write("w.hwf", workflowOf("Start>fork fork>a fork>load fork>tell a+b", parallel(action("fork", "DUMMY", "")), sets("a", "x"), runs("load", "load.hpl"), shell("tell"), shell("b")))
	tl := b.tell(storage.KindWorkflow, "w.hwf", storage.StateRunning).did("Start", ok).did("fork", ok)
	// What is next may have begun after the last word of the record; what is behind
	// it may not.
	wantChecks(t, b.plan(replay.Options{}, tl), "WARN second-write:load", "WARN second-write:tell")
	tl.Root().State = interrupted // a store saw the death: it knows what had begun
	wantChecks(t, b.plan(replay.Options{}, tl))
	tl.Root().State = storage.StateRunning
	tl.did("load", busy).execution("load#1", storage.KindPipeline, "load.hpl", storage.StateRunning)
	p := b.plan(replay.Options{}, tl)
	wantChecks(t, p, "WARN second-write:out", "WARN second-write:tell")
	says(t, p, "second-write:out", "number unknown")
}

// TestAnActionThatRunsAnotherFileNow is the fix of somebody who made a new file.
func TestAnActionThatRunsAnotherFileNow(t *testing.T) {
	b := newBench(t)
	text := mark(t, pipelineOf("src>out", source("src"), sink("out")), "src")
	b.write("load.hpl", text)
	b.write("w.hwf", workflowOf("Start>load load+end", runs("load", "load.hpl"), sets("end", "x")))
	tl := b.tell(storage.KindWorkflow, "w.hwf", failed).did("Start", ok).did("load", bad)
	tl.execution("load#1", storage.KindPipeline, "load.hpl", failed)
	tl.seal("load#1", text).was("load#1", "src", "finished", nil).was("load#1", "out", "failed", appended(4, false))
	b.write("w.hwf", workflowOf("Start>load load+end", runs("load", "new.hpl"), sets("end", "x")))
	for _, from := range []string{"", "load", replay.FromStart} {
		p := b.plan(replay.Options{Start: from}, tl)
		wantSteps(t, p, "load=RUN", "end=RUN")
		wantChecks(t, p, "WARN definition:load", "WARN second-write:load")
		says(t, p, "definition:load", "load.hpl", "new.hpl", "no sealed rows")
	}
}

// TestADefinitionThatLacksItsPasswords cannot be run as it was.
func TestADefinitionThatLacksItsPasswords(t *testing.T) {
	b := newBench(t)
	b.write("w.hwf", workflowOf("Start>a", action("a", "SHELL", "<insertScript>Y</insertScript><script>login "+storage.RedactedText+"</script>")))
	tl := b.tell(storage.KindWorkflow, "w.hwf", failed).did("Start", ok).did("a", bad)
	p := b.plan(replay.Options{Definition: replay.Original}, tl)
	wantChecks(t, p, "BLOCK definition")
	says(t, p, "definition", "passwords, which are never recorded")
	wantChecks(t, b.plan(replay.Options{}, tl), "WARN second-write:a")
}
