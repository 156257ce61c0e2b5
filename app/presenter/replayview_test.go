package presenter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/replay"
	"sluice/storage"
)

// midday is of the zone that times are shown in.
var midday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)

// night is a failed workflow: it loaded orders from a gate in its child, and could
// not write them.
func night(checks ...replay.Check) *presenter.ReplayView {
	of := &presenter.ExecutionDetail{Execution: storage.Execution{ExecutionHead: storage.ExecutionHead{
		ID: "0199aaaa-0000-7000", Root: "0199aaaa-0000-7000", Kind: storage.KindWorkflow, Name: "nightly", State: storage.StateFailed, Ended: midday.Add(-time.Hour),
	}}}
	of.Tree = []storage.ExecutionHead{of.ExecutionHead, {ID: "child", CallPath: "Load#1", File: "/shop/load.hpl"}}
	of.Runs = []storage.ActionRun{
		{ActionKey: storage.ActionKey{Node: "Start", Ordinal: 1}, State: storage.ActionSucceeded, Started: midday.Add(-2 * time.Hour), Ended: midday.Add(-2 * time.Hour)},
		{ActionKey: storage.ActionKey{Node: "Load", Ordinal: 1}, State: storage.ActionFailed, Message: "the warehouse is down\nmore", Started: midday.Add(-90 * time.Minute), Ended: midday.Add(-time.Hour)},
	}
	of.Actions = of.Runs
	p := &replay.Plan{
		Execution: of.ID, Kind: "workflow", File: "/shop/nightly.hwf", Start: replay.FirstFailed, Verdict: replay.Ready, Checks: checks,
		Steps: []replay.Step{
			{Node: "Start", Ordinal: 1, Kind: replay.KindAction, Decision: replay.Reuse},
			{Node: "Load", Ordinal: 1, Kind: replay.KindAction, Decision: replay.Run, Why: "failed"},
			{CallPath: "Load#1", Node: "Orders", Kind: replay.KindTransform, Type: "TableInput", Decision: replay.Reuse, Rows: 1842310, Bytes: 96 << 20, Snapshot: "snap"},
			{CallPath: "Load#1", Node: "Write", Kind: replay.KindTransform, Type: "TableOutput", Decision: replay.Run},
			{Node: "Mail", Ordinal: 1, Kind: replay.KindAction, Decision: replay.Skip},
		},
		Starts: []replay.StartPoint{
			{Name: replay.FirstFailed, Kind: replay.StartFirstFailed, Usable: true},
			{Name: replay.FromStart, Kind: replay.StartWhole, Usable: true},
			{Name: "Load", Kind: replay.StartAction, Usable: true, Node: "Load", Ordinal: 1},
			{Name: "Mail", Kind: replay.StartAction, Why: "it was not reached", Node: "Mail", Ordinal: 1},
			{Name: "Load#1/Orders", Kind: replay.StartGate, Usable: true, CallPath: "Load#1", Node: "Orders"},
			{Name: "Load#1/Customers", Kind: replay.StartGate, CallPath: "Load#1", Node: "Customers", Why: "the source was partially extracted, stage it again from scratch"},
		},
		Estimate: replay.Estimate{ReusedSteps: 2, RunSteps: 2, SkippedSteps: 1, ReusedRows: 1842310, ReusedBytes: 96 << 20, Took: 30 * time.Minute},
	}
	return &presenter.ReplayView{
		Plan: p, Of: of, Choices: presenter.NewReplayChoices(), Catalog: presenter.NewCatalog(workspace.Registry(), workspace.Actions()), Checked: midday,
		Sealed: map[string]presenter.SealedRows{
			"Load#1/Orders":    {State: storage.SnapshotSealed, Rows: 1842310, Bytes: 96 << 20, At: midday.Add(-64 * time.Minute)},
			"Load#1/Customers": {State: storage.SnapshotInterrupted, Why: "552,700 rows, then connection reset"},
		},
	}
}

func TestStartPointsTellWhatTheyAreAndWhyNot(t *testing.T) {
	list := night().Starts(midday)
	var lines []string
	for _, s := range list {
		lines = append(lines, s.Title+" | "+s.Detail+" | "+s.Trail)
	}
	want := []string{
		"First failed action: Load | Uses gate Orders | recommended",
		"Action: Load | Failed today 11:00, took 30 m 00 s | ",
		"Action: Mail | Not usable: this run did not reach it | ",
		"Gate: Orders | Sealed today 10:56 · 1,842,310 rows · 96.0 MiB · in Load#1 | 1 h 04 m old",
		"Gate: Customers | Not usable: 552,700 rows, then connection reset | ",
		"Whole workflow from the start | Reads its sources again, reuses nothing | ",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("the list is\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if !list[0].Chosen || list[1].Chosen || list[2].Usable || list[4].Icon != scene.GateInterrupted.Icon() {
		t.Errorf("%+v", list)
	}
	v := night()
	v.Plan.Verdict = replay.IsBlocked
	if first := v.Starts(midday)[0]; !first.Blocked || first.Trail != "blocked" {
		t.Errorf("blocked: %+v", first)
	}
}

// TestCardsSpeakTheWordsOfTheDesign goes through the kinds of checks: what the card
// says, what is ticked, and what the buttons do.
func TestCardsSpeakTheWordsOfTheDesign(t *testing.T) {
	wrote := &replay.Wrote{Transform: "Write", Target: "table sales.orders", How: "append", Rows: 128000}
	for _, c := range []struct {
		name             string
		check            replay.Check
		title, text, ask string
		fixes            []string
	}{
		{
			"second write",
			replay.Check{Check: gate.Check{ID: "second-write:Write", Gate: "Write", Status: gate.Warn}, CallPath: "Load#1", Acknowledge: true, Wrote: wrote},
			"Load already wrote 128,000 rows", "Write wrote to table sales.orders (append). A replay writes them again unless you remove them.",
			"I removed the 128,000 rows, or they may be written twice",
			[]string{"Open definition"},
		},
		{
			"of a file",
			replay.Check{Check: gate.Check{ID: "second-write:Write", Gate: "Write", Status: gate.Warn}, Acknowledge: true, Wrote: &replay.Wrote{Transform: "Write", Target: "/out/a.csv", Rows: 1, Unknown: true}},
			"Write may have written rows", "Write wrote to /out/a.csv before it failed: 1 row counted, there may be more or fewer. A replay writes there again.",
			"I removed what it wrote, or it may be written twice",
			[]string{"Open target"},
		},
		{
			"secret",
			replay.Check{Check: gate.Check{ID: "secret:DB_PASSWORD", Status: gate.Warn, What: "the secret DB_PASSWORD has another value than it had; the present one is used"}, Acknowledge: true},
			"A secret changed since the run", "DB_PASSWORD has another value than it had. The current value is used.", "Understood", nil,
		},
		{
			"quick",
			replay.Check{Check: gate.Check{ID: "quick", Status: gate.Warn, What: "x"}, Acknowledge: true},
			"Segments were not hashed", "A bad one stops the replay before its rows leave.", "Start without the full check",
			[]string{"Check fully"},
		},
		{
			"replayed",
			replay.Check{Check: gate.Check{ID: "replayed", Status: gate.Warn, Do: "replay it again only when its result was lost"}, Acknowledge: true, Execution: "0199bbbb-0000-7000"},
			"A replay of this run succeeded yesterday 03:02", "Execution 0199bbbb-0000-7000. Replay it again only when its result was lost.", "Replay it again",
			[]string{"Open it"},
		},
		{
			"active",
			replay.Check{Check: gate.Check{ID: "active", Status: gate.Block, What: "x", Do: "wait for its end, or stop it"}, Execution: "0199cccc-0000-7000"},
			"Another replay of this run is active", "Started today 03:12 by ann on build-1. Wait for its end, or stop it.", "",
			[]string{"Open it"},
		},
		{
			"variable",
			replay.Check{Check: gate.Check{ID: "variable:RUN_DATE", Gate: "Orders", Status: gate.Block, Overridable: true, Then: "1", Now: "2"}, CallPath: "Load#1"},
			"Upstream variable changed", "RUN_DATE is read by Orders, above the start point. Can be overridden with a reason.", "",
			[]string{"Override…", "Reset"},
		},
		{
			"upstream",
			replay.Check{Check: gate.Check{ID: "upstream", Gate: "Orders", Status: gate.Block, Overridable: true, What: `upstream logic changed: "Orders", setting sql`}, CallPath: "Load#1"},
			"Upstream logic changed", "Orders, setting sql. It is above the start point. Can be overridden with a reason.", "",
			[]string{"Override…", "Open definition", "Start from the beginning"},
		},
		{
			"interrupted",
			replay.Check{Check: gate.Check{ID: "sealed", Gate: "Customers", Status: gate.Block, What: gate.InterruptedMessage}, CallPath: "Load#1"},
			"Customers was interrupted", "The source was partially extracted (552,700 rows, then connection reset). Stage it again from scratch.", "",
			[]string{"Start at Load"},
		},
		{
			"corrupt",
			replay.Check{Check: gate.Check{ID: "segments", Gate: "Orders", Status: gate.Block, What: "p00: segment p00 does not have its 2427 bytes: corrupt; p01: gone"}, CallPath: "Load#1"},
			"The rows of Orders are damaged", "Segment p00 does not have its 2427 bytes. P01: gone. No row of it was used. Stage it again.", "",
			[]string{"Start from the beginning"},
		},
		{
			"result",
			replay.Check{Check: gate.Check{ID: "result:Load", Gate: "Load", Status: gate.Block, What: `action "Load": its rows were not kept`, Do: "start at this action: --from Load"}},
			"The result of Load", "Action Load: its rows were not kept. Start at this action.", "",
			[]string{"Start at Load"},
		},
		{
			"no gate",
			replay.Check{Check: gate.Check{ID: "gate", Status: gate.Block, What: "no gate was reached, so there are no rows to replay", Do: "run it from its start: --from start"}},
			"There are no sealed rows to start from", "No gate was reached, so there are no rows to replay. Run it from its start.", "",
			[]string{"Start from the beginning"},
		},
		{
			"drift",
			replay.Check{Check: gate.Check{ID: "variable:DAY", Status: gate.Info}},
			"DAY has another value in the project", "The recorded value is used.", "", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := night(c.check)
			v.Of.Lineage = []storage.ExecutionHead{
				{ID: "0199bbbb-0000-7000", State: storage.StateSucceeded, Ended: time.Date(2026, 11, 29, 3, 2, 0, 0, time.Local)},
				{ID: "0199cccc-0000-7000", State: storage.StateRunning, Started: time.Date(2026, 11, 30, 3, 12, 0, 0, time.Local), Who: "ann", Host: "build-1"},
			}
			cards := v.Cards(midday)
			if len(cards) != 1 {
				t.Fatalf("%d cards", len(cards))
			}
			x := cards[0]
			if x.Title != c.title || x.Text != c.text || x.Ask != c.ask {
				t.Errorf("the card says\n%s\n%s\n%s", x.Title, x.Text, x.Ask)
			}
			var labels []string
			for _, f := range x.Fixes {
				labels = append(labels, f.Label)
			}
			if !slices.Equal(labels, c.fixes) {
				t.Errorf("buttons %q", labels)
			}
		})
	}
}

func TestBlocksComeFirstAndOverriddenOnesWarn(t *testing.T) {
	v := night(
		replay.Check{Check: gate.Check{ID: "sealed", Status: gate.OK}},
		replay.Check{Check: gate.Check{ID: "variable:DAY", Status: gate.Info}},
		replay.Check{Check: gate.Check{ID: "quick", Status: gate.Warn}, Acknowledge: true},
		replay.Check{Check: gate.Check{ID: "segments", Status: gate.Info}},
		replay.Check{Check: gate.Check{ID: "upstream", Status: gate.Block, Overridable: true, Overridden: true}},
	)
	v.Choices.Reason = "the filter was wrong"
	cards := v.Cards(midday)
	if len(cards) != 3 || cards[0].ID != "upstream" || cards[1].ID != "quick" || cards[2].ID != "variable:DAY" {
		t.Fatalf("%+v", cards)
	}
	if c := cards[0]; c.Status != gate.Warn || c.Text != "Overridden: the filter was wrong" || len(c.Fixes) != 1 || c.Fixes[0].Kind != presenter.FixTakeBack {
		t.Errorf("overridden: %+v", c)
	}
}

func TestPassedChecksAreOnlyThoseThatWereMade(t *testing.T) {
	ok := func(id string) replay.Check { return replay.Check{Check: gate.Check{ID: id, Status: gate.OK}} }
	passed := func(v *presenter.ReplayView) string {
		var names []string
		for _, p := range v.Passed() {
			names = append(names, p.Name)
		}
		return strings.Join(names, ", ")
	}
	all := passed(night(ok("sealed"), ok("segments"), ok("upstream")))
	for _, want := range []string{"Record found", "Gates sealed", "Segments verified", "Upstream logic unchanged", "No uncut path", "Nothing written twice", "No other replay"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %s", want, all)
		}
	}
	bad := replay.Check{Check: gate.Check{ID: "manifest", Status: gate.Block}}
	if list := passed(night(ok("sealed"), bad)); strings.Contains(list, "No uncut path") || strings.Contains(list, "Segments") || strings.Contains(list, "Upstream") {
		t.Errorf("behind a bad manifest passed: %s", list)
	}
	v := night()
	for i := range v.Plan.Steps {
		v.Plan.Steps[i].Snapshot = ""
	}
	if list := passed(v); strings.Contains(list, "Same time") || strings.Contains(list, "Contract") {
		t.Errorf("without rows of a gate passed: %s", list)
	}
}

func TestWhatMovedIsMarked(t *testing.T) {
	v := night(replay.Check{Check: gate.Check{ID: "replayed", Status: gate.Warn}, Acknowledge: true}, replay.Check{Check: gate.Check{ID: "quick", Status: gate.Warn}})
	v.Plan.Variables = []replay.VariableUse{{Name: "A", Original: "1", Used: "1", From: "recorded"}, {Name: "B", Original: "1", Used: "2", From: "given"}}
	before := *v.Plan
	before.Checks = before.Checks[1:]
	before.Variables = []replay.VariableUse{{Name: "A", Original: "0", Used: "0", From: "recorded"}, v.Plan.Variables[1]}
	before.Starts = slices.Clone(before.Starts)
	before.Starts[2].Usable = false
	if v.Cards(midday)[0].Moved {
		t.Error("a first check marks something")
	}
	v.Before = &before
	cards, starts, vars := v.Cards(midday), v.Starts(midday), v.Variables()
	if !cards[0].Moved || cards[1].Moved || !starts[1].Moved || starts[0].Moved {
		t.Errorf("cards %+v\nstarts %+v", cards, starts)
	}
	if vars[0].Name != "B" || vars[0].Moved || !vars[1].Moved {
		t.Errorf("variables %+v", vars)
	}
	if v.CheckedText() != "Something changed since the check. Checked again." {
		t.Error(v.CheckedText())
	}
}

func TestTheEstimateNamesWhatIsNotOpened(t *testing.T) {
	var parts []string
	for _, p := range night().Estimate() {
		parts = append(parts, p.Word+" "+p.Text)
	}
	want := []string{"Reuse 1,842,310 rows · 96.0 MiB · 1 action", "Run 1 action · took 30 m 00 s then", "Not opened Orders"}
	if !slices.Equal(parts, want) {
		t.Errorf("%q", parts)
	}
}

func TestThePlanIsDrawnOnTheGraph(t *testing.T) {
	v := night()
	f := openFile(t, openNightly(t))
	v.Plan.Steps = []replay.Step{
		{Node: "Start", Ordinal: 1, Kind: replay.KindAction, Decision: replay.Reuse},
		{Node: "Name the load", Ordinal: 1, Kind: replay.KindAction, Decision: replay.Reuse},
		{Node: "Load orders", Ordinal: 1, Kind: replay.KindAction, Decision: replay.Run},
		{Node: "Note the load", Ordinal: 1, Kind: replay.KindAction, Decision: replay.Skip},
		{CallPath: "Load orders#1", Node: "Open orders", Kind: replay.KindTransform, Decision: replay.Reuse, Snapshot: "s"},
	}
	v.Plan.Start = "Load orders#1/Open orders"
	v.Plan.Starts = []replay.StartPoint{
		{Name: "Load orders", Kind: replay.StartAction, Usable: true, Node: "Load orders", Ordinal: 1},
		{Name: v.Plan.Start, Kind: replay.StartGate, Usable: true, CallPath: "Load orders#1", Node: "Open orders"},
	}
	g := v.Scene(f, "")
	node := func(name string) scene.Node {
		for _, n := range g.Nodes {
			if n.Label == name {
				return n
			}
		}
		t.Fatalf("there is no %s", name)
		return scene.Node{}
	}
	if n := node("Load orders"); n.Plan != scene.PlanRun || n.Flag != "Start here" || n.Gate != scene.GateSealed || n.Metric != "from gate rows" || n.State != scene.StateRunning {
		t.Errorf("Load orders: %+v", n)
	}
	if n := node("Name the load"); n.Plan != scene.PlanReuse || n.Flag != "" || n.State != scene.StateReused {
		t.Errorf("Name the load: %+v", n)
	}
	if n := node("Note the load"); n.Plan != scene.PlanNotReached || n.State != scene.StateNotReached {
		t.Errorf("Note the load: %+v", n)
	}
	for _, h := range g.Hops {
		if h.To == node("Note the load").ID && (h.Plan != scene.PlanNotReached || h.Gate != scene.GateSealed) {
			t.Errorf("the last hop: %+v", h)
		}
		if h.From == node("Name the load").ID && h.Plan != scene.PlanReuse {
			t.Errorf("the hop of what is reused: %+v", h)
		}
	}
	if v.StartOf("", "load orders") != "Load orders" || v.StartOf("Load orders#1", "Open orders") != v.Plan.Start || v.StartOf("", "Start") != "" {
		t.Error("start points of nodes")
	}
	if v.ChildOf("", "Load orders") != "Load orders#1" || v.ChildOf("", "Start") != "" {
		t.Error("children of nodes")
	}
}

func TestAPipelineStartsWhereItsRowsEnter(t *testing.T) {
	v := night()
	f := openSample(t)
	var names []string
	for _, n := range f.Scene(nil).Nodes {
		names = append(names, n.Label)
	}
	v.Plan.Kind = "pipeline"
	v.Of.Actions, v.Of.Metrics = nil, []storage.TransformMetrics{{Transform: names[2], State: "failed"}}
	v.Plan.Steps = []replay.Step{
		{Node: names[0], Kind: replay.KindTransform, Decision: replay.Reuse, Snapshot: "s"},
		{Node: names[1], Kind: replay.KindTransform, Decision: replay.Run},
		{Node: names[2], Kind: replay.KindTransform, Decision: replay.Run},
	}
	for _, n := range v.Scene(f, "").Nodes {
		if want := n.Label == names[1]; (n.Flag != "") != want {
			t.Errorf("%s has the flag %q", n.Label, n.Flag)
		}
	}
}
