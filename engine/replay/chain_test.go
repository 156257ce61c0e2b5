package replay_test

import (
	"testing"

	"sluice/engine/replay"
	"sluice/storage"
)

// reusedOf makes a run one that was given back.
func reusedOf(of *tale) func(*storage.ActionRun) {
	return func(a *storage.ActionRun) { a.ReusedFrom = of.Root().ID }
}

func TestAReplayOfAReplayIsComparedWithWhatReallyRan(t *testing.T) {
	begin := func(t *testing.T) (b *bench, first *tale) {
		b = newBench(t)
		b.write("words.hpl", pipelineOf("src>gone", source("src"), dummy("gone")))
		b.write("w.hwf", workflowOf("Start>words words+day day+load", runs("words", "words.hpl"), sets("day", "monday"), shell("load")))
		first = b.tell(storage.KindWorkflow, "w.hwf", failed)
		first.execution("words#1", storage.KindPipeline, "words.hpl", storage.StateSucceeded)
		first.did("Start", ok).did("words", ok).did("day", ok).did("load", bad)
		return b, first
	}
	next := func(b *bench, first *tale) *tale {
		return b.tell(storage.KindWorkflow, "w.hwf", failed).replays(first).
			did("Start", reused, reusedOf(first)).did("words", reused, reusedOf(first)).did("day", reused, reusedOf(first)).did("load", bad)
	}
	t.Run("unchanged", func(t *testing.T) {
		b, first := begin(t)
		second := next(b, first)
		p := b.plan(replay.Options{}, second, first, second)
		wantSteps(t, p, "words=REUSE", "day=REUSE", "load=RUN")
		wantChecks(t, p, "WARN second-write:load")
	})
	t.Run("a bypassed child changed", func(t *testing.T) {
		b, first := begin(t)
		second := next(b, first)
		b.write("words.hpl", pipelineOf("src>gone", source("src"), node("gone", "Dummy", "<copies>2</copies>")))
		p := b.plan(replay.Options{}, second, first, second)
		wantChecks(t, p, "BLOCK upstream:words", "WARN second-write:load")
		says(t, p, "upstream:words", "copies", "2")
	})
	t.Run("a bypassed action had changed before the second", func(t *testing.T) {
		b, first := begin(t)
		b.write("w.hwf", workflowOf("Start>words words+day day+load", runs("words", "words.hpl"), sets("day", "tuesday"), shell("load")))
		second := next(b, first) // with an override
		p := b.plan(replay.Options{}, second, first, second)
		wantChecks(t, p, "BLOCK upstream:day", "WARN second-write:load")
		says(t, p, "upstream:day", "monday", "tuesday")
	})
	t.Run("the one that ran is gone", func(t *testing.T) {
		b, first := begin(t)
		second := next(b, first)
		p := b.plan(replay.Options{}, second)
		wantChecks(t, p, "BLOCK upstream:Start", "BLOCK upstream:words", "BLOCK upstream:day", "WARN second-write:load")
		says(t, p, "upstream:words", "there is no record of execution "+first.Root().ID)
	})
}

func TestWhatOtherReplaysDidCounts(t *testing.T) {
	b := newBench(t)
	b.write("load.hpl", pipelineOf("src>out", source("src"), sink("out")))
	b.write("w.hwf", workflowOf("Start>a a+load load+tell", sets("a", "x"), runs("load", "load.hpl"), shell("tell")))
	first := b.tell(storage.KindWorkflow, "w.hwf", failed).did("Start", ok).did("a", bad)
	wantChecks(t, b.plan(replay.Options{}, first))
	second := b.tell(storage.KindWorkflow, "w.hwf", failed).replays(first).did("Start", reused, reusedOf(first)).did("a", ok).did("load", ok).did("tell", bad)
	second.execution("load#1", storage.KindPipeline, "load.hpl", storage.StateSucceeded)
	second.was("load#1", "src", "finished", nil).was("load#1", "out", "finished", appended(6, true))
	p := b.plan(replay.Options{}, first, first, second)
	wantSteps(t, p, "a=RUN", "load=RUN", "load#1/out=RUN", "tell=RUN")
	wantChecks(t, p, "WARN second-write:out", "WARN second-write:tell")
	third := b.tell(storage.KindWorkflow, "w.hwf", storage.StateSucceeded).replays(second)
	p = b.plan(replay.Options{}, first, first, second, third)
	wantChecks(t, p, "WARN replayed", "WARN second-write:out", "WARN second-write:tell")
	says(t, p, "replayed", third.Root().ID)
}

// TestGatesAreFoundAlongTheChain: the second replay goes back to what the first had
// bypassed, whose rows the original has sealed.
func TestGatesAreFoundAlongTheChain(t *testing.T) {
	b := newBench(t)
	text := mark(t, pipelineOf("src>out", source("src"), dummy("out")), "src")
	b.write("load.hpl", text)
	b.write("w.hwf", workflowOf("Start>load load+end", runs("load", "load.hpl"), shell("end")))
	first := b.tell(storage.KindWorkflow, "w.hwf", failed).did("Start", ok).did("load", ok).did("end", bad)
	first.execution("load#1", storage.KindPipeline, "load.hpl", storage.StateSucceeded)
	first.seal("load#1", text).was("load#1", "src", "finished", nil).was("load#1", "out", "finished", nil)
	second := b.tell(storage.KindWorkflow, "w.hwf", failed).replays(first).did("Start", reused, reusedOf(first)).did("load", reused, reusedOf(first)).did("end", bad)
	p := b.plan(replay.Options{Start: "load"}, second, first, second)
	wantSteps(t, p, "load=RUN", "load#1/src=REUSE", "load#1/out=RUN", "end=RUN")
	wantChecks(t, p, "WARN second-write:end")
}

// TestWhatASiblingFinishedIsNotDone: only what a replay goes on from counts.
func TestWhatASiblingFinishedIsNotDone(t *testing.T) {
	b := newBench(t)
	text := mark(t, pipelineOf("src>out src>audit", source("src"), dummy("out"), dummy("audit")), "src")
	b.write("p.hpl", text)
	tell := func(of *tale, out, audit string) *tale {
		tl := b.tell(storage.KindPipeline, "p.hpl", failed)
		if of != nil {
			tl.replays(of)
		}
		return tl.seal("", text).was("", "src", "finished", nil).was("", "out", out, nil).was("", "audit", audit, nil)
	}
	first := tell(nil, "failed", "stopped")
	sibling := tell(first, "failed", "finished")
	other := tell(first, "finished", "stopped")
	p := b.plan(replay.Options{}, other, first, sibling, other)
	wantSteps(t, p, "src=REUSE", "out=SKIP", "audit=RUN")
	child := b.tell(storage.KindPipeline, "p.hpl", failed).replays(sibling)
	child.Snapshots = sibling.Snapshots
	child.Snapshots[0].Execution = child.Root().ID
	child.was("", "out", "failed", nil)
	p = b.plan(replay.Options{}, child, first, sibling, other, child)
	wantSteps(t, p, "src=REUSE", "out=RUN", "audit=SKIP")
}

// TestASiblingThatWasKilled: its record ends abruptly.
func TestASiblingThatWasKilled(t *testing.T) {
	t.Run("a pipeline", func(t *testing.T) {
		b := newBench(t)
		text := mark(t, pipelineOf("src>out", source("src"), sink("out")), "src")
		b.write("p.hpl", text)
		first := b.tell(storage.KindPipeline, "p.hpl", failed).seal("", text).was("", "src", "finished", nil).was("", "out", "failed", appended(0, false))
		wantChecks(t, b.plan(replay.Options{}, first))
		killed := b.tell(storage.KindPipeline, "p.hpl", storage.StateRunning).replays(first)
		p := b.plan(replay.Options{}, first, first, killed)
		wantChecks(t, p, "WARN second-write:out")
		says(t, p, "second-write:out", "number unknown")
	})
	t.Run("a workflow", func(t *testing.T) {
		b := newBench(t)
		b.write("w.hwf", workflowOf("Start>a", sets("a", "x")))
		first := b.tell(storage.KindWorkflow, "w.hwf", failed).did("Start", ok).did("a", bad)
		killed := b.tell(storage.KindWorkflow, "w.hwf", storage.StateRunning).replays(first)
		p := b.plan(replay.Options{}, first, first, killed)
		wantChecks(t, p, "WARN replayed")
		says(t, p, "replayed", killed.Root().ID, "not fully known")
	})
}
