package replay_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/engine/gate"
	"sluice/engine/replay"
	"sluice/storage"
)

func shopTale(t *testing.T) (*bench, *tale) {
	t.Helper()
	b := newBench(t)
	text := mark(t, pipelineOf("src>out", source("src"), sink("out")), "src")
	b.write("load.hpl", text)
	b.write("w.hwf", workflowOf("Start>a a+load load+end", sets("a", "${STATUS}"), runs("load", "load.hpl"), sets("end", "y")))
	tl := b.tell(storage.KindWorkflow, "w.hwf", failed)
	tl.Root().Variables = append(tl.Root().Variables, storage.Variable{Name: "STATUS", Value: "open"}, storage.Variable{Name: "TOKEN", Value: sums{}.Sum("four"), Secret: true})
	tl.execution("load#1", storage.KindPipeline, "load.hpl", failed)
	tl.did("Start", ok).did("a", ok).did("load", bad)
	return b, tl.seal("load#1", text).was("load#1", "src", "finished", nil).was("load#1", "out", "failed", nil)
}

func TestAPlanIsTheSameEachTime(t *testing.T) {
	b, tl := shopTale(t)
	before := objects(t, b.remote, "")
	one, err := json.Marshal(b.plan(replay.Options{}, tl))
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(b.plan(replay.Options{}, tl))
	if err != nil || string(one) != string(two) {
		t.Errorf("%v\n%s\n%s", err, one, two)
	}
	if after := objects(t, b.remote, ""); !slices.Equal(before, after) {
		t.Errorf("the pre-flight wrote: %v, %v", before, after)
	}
	p := b.plan(replay.Options{}, tl)
	wantSteps(t, p, "Start=REUSE", "a=REUSE", "load=RUN", "load#1/src=REUSE", "load#1/out=RUN", "end=RUN")
	if e := p.Estimate; p.Verdict != replay.Ready || e.ReusedSteps != 3 || e.RunSteps != 3 || e.ReusedRows != 3 || e.ReusedBytes == 0 || e.Took == 0 {
		t.Errorf("%s, %+v", p.Verdict, e)
	}
}

// TestAPlanTellsWhatItsWordsAreAbout looks at what a dialog builds its own words and
// links from.
func TestAPlanTellsWhatItsWordsAreAbout(t *testing.T) {
	b, tl := shopTale(t)
	tl.was("load#1", "out", "failed", appended(7, true))
	p := b.plan(replay.Options{}, tl)
	i := slices.IndexFunc(p.Checks, func(c replay.Check) bool { return c.ID == replay.CheckSecondWrite+":out" })
	if i < 0 || p.Verdict != replay.NeedsAck {
		t.Fatalf("%s: %+v", p.Verdict, p.Checks)
	}
	if w := p.Checks[i].Wrote; w == nil || w.Transform != "out" || w.Rows != 7 || w.Unknown {
		t.Errorf("it wrote %+v", w)
	}
	token := p.Token
	p.Acknowledge([]string{replay.CheckSecondWrite})
	if p.Verdict != replay.Ready || !p.Checks[i].Acknowledged || p.Token != token {
		t.Errorf("acknowledged: %s", p.Verdict)
	}
	if p.Acknowledge(nil); p.Verdict != replay.NeedsAck {
		t.Errorf("taken back: %s", p.Verdict)
	}
	for _, s := range p.Starts {
		if s.Kind == replay.StartGate && (s.CallPath != "load#1" || s.Node != "src" || s.Snapshot.ID == "") {
			t.Errorf("gate %+v", s)
		}
		if s.Name == "load" && (s.Kind != replay.StartAction || s.Node != "load" || s.Ordinal != 1) {
			t.Errorf("action %+v", s)
		}
	}
}

func objects(t *testing.T, r storage.Remote, dir string) []string {
	t.Helper()
	list, err := r.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list {
		names = append(names, o.Name)
		if o.Dir {
			names = append(names, objects(t, r, o.Name)...)
		}
	}
	return names
}

// TestTheTokenIsOfAllThatCounts changes one thing after the other.
func TestTheTokenIsOfAllThatCounts(t *testing.T) {
	for name, change := range map[string]func(b *bench, tl *tale, o *replay.Options) []*tale{
		"a file": func(b *bench, _ *tale, _ *replay.Options) []*tale {
			b.write("w.hwf", string(mustRead(b, "w.hwf"))+" ")
			return nil
		},
		"a child's file": func(b *bench, _ *tale, _ *replay.Options) []*tale {
			b.write("load.hpl", string(mustRead(b, "load.hpl"))+" ")
			return nil
		},
		"the record": func(_ *bench, tl *tale, _ *replay.Options) []*tale { tl.Runs[2].Attempts = 2; return nil },
		"the counters": func(_ *bench, tl *tale, _ *replay.Options) []*tale {
			tl.was("load#1", "out", "failed", appended(1, true))
			return nil
		},
		"a variable": func(_ *bench, _ *tale, o *replay.Options) []*tale {
			o.Given = map[string]string{"NOTE": "x"}
			return nil
		},
		"the start":      func(_ *bench, _ *tale, o *replay.Options) []*tale { o.Start = "load"; return nil },
		"the definition": func(_ *bench, _ *tale, o *replay.Options) []*tale { o.Definition = replay.Original; return nil },
		"a sibling": func(b *bench, tl *tale, _ *replay.Options) []*tale {
			return []*tale{tl, b.tell(storage.KindWorkflow, "w.hwf", failed).replays(tl)}
		},
		"another recording": func(_ *bench, tl *tale, _ *replay.Options) []*tale {
			tl.Root().Variables[1].Value = "closed"
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, tl := shopTale(t)
			before := b.plan(replay.Options{}, tl).Token
			o := replay.Options{}
			chain := change(b, tl, &o)
			if after := b.plan(o, tl, chain...).Token; len(before) != 16 || before == after {
				t.Errorf("the token is %s, and was %s", after, before)
			}
		})
	}
}

func mustRead(b *bench, name string) []byte {
	b.t.Helper()
	d, err := b.ground.Pipelines.Document(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return d.Bytes()
}

func TestVariablesOfAPlan(t *testing.T) {
	b, tl := shopTale(t)
	b.ground.Scope.Set("STATUS", "drifted")
	b.ground.Scope.Set("TOKEN", "rotated")
	use := func(p *replay.Plan) map[string]replay.VariableUse {
		list := map[string]replay.VariableUse{}
		for _, v := range p.Variables {
			list[v.Name] = v
		}
		return list
	}
	p := b.plan(replay.Options{}, tl)
	if v := use(p)["STATUS"]; v.Used != "open" || v.Original != "open" || v.Current != "drifted" || v.From != "recorded" {
		t.Errorf("%+v", v)
	}
	if v := use(p)["TOKEN"]; !v.Secret || v.Used != "" || v.From != "current" || strings.Contains(v.Current+v.Original, "rotated") {
		t.Errorf("%+v", v)
	}
	wantChecks(t, p)
	p = b.plan(replay.Options{Given: map[string]string{"STATUS": "shipped", "NEW": "1"}}, tl)
	if v := use(p)["STATUS"]; v.Used != "shipped" || v.Original != "open" || v.From != "given" {
		t.Errorf("%+v", v)
	}
	if v := use(p)["NEW"]; v.Used != "1" || v.From != "given" {
		t.Errorf("%+v", v)
	}
	wantChecks(t, p, "BLOCK variable:STATUS") // the bypassed action reads it
	wantChecks(t, b.plan(replay.Options{Given: map[string]string{"STATUS": "shipped"}, Start: "a"}, tl))
}

func TestStartPoints(t *testing.T) {
	b, tl := shopTale(t)
	tl.did("end", storage.ActionSkipped)
	tl.Snapshots = append(tl.Snapshots, storage.SnapshotLink{Execution: tl.child("load#1").ID, CallPath: "load#1", Node: "later", Location: "test:", Ref: storage.SnapshotRef{Gate: "000000000009", ID: tl.id()}})
	usable := map[string]bool{}
	for _, s := range b.plan(replay.Options{}, tl).Starts {
		usable[s.Name] = s.Usable
		if !s.Usable && s.Why == "" {
			t.Errorf("%s does not say why not", s.Name)
		}
	}
	for name, want := range map[string]bool{
		"first-failed": true, "start": true, "a": true, "load": true, "end": false, "load#1/src": true, "load#1/later": false,
	} {
		if got, ok := usable[name]; !ok || got != want {
			t.Errorf("%s: usable %v, listed %v; %v", name, got, ok, usable)
		}
	}
	// Each usable one leads to a plan that finds it.
	for name, can := range usable {
		if !can {
			continue
		}
		for _, c := range b.plan(replay.Options{Start: name}, tl).Checks {
			if c.ID == replay.CheckStart {
				t.Errorf("from %s: %s", name, c.What)
			}
		}
	}
}

func TestChecksThatPeopleAnswer(t *testing.T) {
	b, tl := shopTale(t)
	b.write("w.hwf", workflowOf("Start>a a+load load+end", sets("a", "changed"), runs("load", "load.hpl"), sets("end", "y")))
	tl.was("load#1", "out", "failed", appended(2, true))
	open := func(o replay.Options) (ids []string) {
		for _, c := range b.plan(o, tl).Open() {
			ids = append(ids, c.ID)
		}
		return ids
	}
	for name, c := range map[string]struct {
		o    replay.Options
		want []string
	}{
		"nothing":                   {replay.Options{}, []string{"upstream:a", "second-write:out"}},
		"an override without ack":   {replay.Options{Overrides: []string{"upstream:a"}, Reason: "r"}, []string{"second-write:out"}},
		"an ack is no override":     {replay.Options{Acknowledged: []string{"upstream:a", "second-write:out"}}, []string{"upstream:a"}},
		"an override is no ack":     {replay.Options{Overrides: []string{"upstream:a", "second-write:out"}, Reason: "r"}, []string{"second-write:out"}},
		"that of another node":      {replay.Options{Overrides: []string{"upstream:b"}, Acknowledged: []string{"second-write:in"}, Reason: "r"}, []string{"upstream:a", "second-write:out"}},
		"no reason":                 {replay.Options{Overrides: []string{"upstream:a"}, Acknowledged: []string{"second-write:out"}}, []string{"upstream:a"}},
		"both":                      {replay.Options{Overrides: []string{"upstream:a"}, Acknowledged: []string{"second-write:out"}, Reason: "r"}, nil},
		"both, in any letter case":  {replay.Options{Overrides: []string{"Upstream:A"}, Acknowledged: []string{"Second-Write:Out"}, Reason: "r"}, nil},
		"a location that is silent": {replay.Options{Overrides: []string{"upstream:a", "record"}, Acknowledged: []string{"second-write:out", "record"}, Reason: "r"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := open(c.o); !slices.Equal(got, c.want) {
				t.Errorf("open are %v, want %v", got, c.want)
			}
		})
	}
}

// TestALocationThatIsSilentBlocks: another machine may have replayed.
func TestALocationThatIsSilentBlocks(t *testing.T) {
	b, tl := shopTale(t)
	tl.Snapshots = append(tl.Snapshots, storage.SnapshotLink{Execution: tl.Root().ID, Node: "a#1", Location: "down:", Ref: storage.SnapshotRef{Gate: "000000000009", ID: tl.id()}})
	p := b.plan(replay.Options{Overrides: []string{"record"}, Reason: "r", Acknowledged: []string{"record"}}, tl)
	wantChecks(t, p, "BLOCK record")
	says(t, p, "record", "another machine", errDown.Error(), "down:")
	if p.Verdict != replay.IsBlocked {
		t.Errorf("the verdict is %s", p.Verdict)
	}
	if i := slices.IndexFunc(p.Checks, func(c replay.Check) bool { return c.Status == gate.Block && c.Overridden }); i >= 0 {
		t.Errorf("%s was overridden", p.Checks[i])
	}
}

// TestChecksOfTwoPlacesAreAnsweredOneByOne: both loads have a sink of the same name.
func TestChecksOfTwoPlacesAreAnsweredOneByOne(t *testing.T) {
	b := newBench(t)
	b.write("load.hpl", pipelineOf("src>out", source("src"), sink("out")))
	b.write("w.hwf", workflowOf("Start>one one>two", runs("one", "load.hpl"), runs("two", "load.hpl")))
	tl := b.tell(storage.KindWorkflow, "w.hwf", failed).did("Start", ok).did("one", bad).did("two", bad)
	for _, at := range []string{"one#1", "two#1"} {
		tl.execution(at, storage.KindPipeline, "load.hpl", failed)
		tl.was(at, "out", "failed", appended(2, true))
	}
	for acks, want := range map[string]string{
		"": "second-write:out@one#1 second-write:out@two#1", "second-write:out": "second-write:out@one#1 second-write:out@two#1",
		"second-write:out@two#1": "second-write:out@one#1", "second-write:out@one#1 second-write:out@two#1": "", "second-write": "",
	} {
		p := b.plan(replay.Options{Acknowledged: strings.Fields(acks)}, tl)
		var open []string
		for _, c := range p.Open() {
			open = append(open, c.ID)
		}
		if got := strings.Join(open, " "); got != want {
			t.Errorf("with %q open are %q, want %q", acks, got, want)
		}
	}
}

// TestWhatCountsAsAChange of a bypassed action and of what it ran.
func TestWhatCountsAsAChange(t *testing.T) {
	child := pipelineOf("src>gone", source("src"), dummy("gone"))
	night := workflowOf("Start>words words+load", runs("words", "words.hpl"), shell("load"))
	in := func(text, old, with string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(text, old, with, 1)
	}
	for name, c := range map[string]struct {
		child, night string
		counts       bool
	}{
		"nothing":                         {child, night, false},
		"an icon":                         {in(child, "<type>Dummy</type>", "<type>Dummy</type><GUI><xloc>7</xloc><yloc>7</yloc></GUI>"), night, false},
		"a note":                          {in(child, "<order>", "<notepads><notepad><note>n</note></notepad></notepads><order>"), night, false},
		"a description":                   {in(child, "<type>Dummy</type>", "<description>d</description><type>Dummy</type>"), in(night, "<type>PIPELINE</type>", "<type>PIPELINE</type><description>d</description>"), false},
		"defaults of a newer program":     {in(child, "<header>Y</header>", "<header>Y</header><lazy_conversion>N</lazy_conversion><copies>1</copies><distribute>Y</distribute>"), in(night, "<type>PIPELINE</type>", "<type>PIPELINE</type><clear_rows>N</clear_rows><parallel>N</parallel>"), false},
		"a setting that nobody reads":     {in(child, "<header>Y</header>", "<header>Y</header><from_the_future>x</from_the_future>"), night, false},
		"a setting":                       {in(child, "<header>Y</header>", "<header>N</header>"), night, true},
		"a setting that was absent":       {in(child, "<header>Y</header>", "<header>Y</header><encoding>UTF-16</encoding>"), night, true},
		"copies":                          {in(child, "<header>Y</header>", "<header>Y</header><copies>2</copies>"), night, true},
		"a hop":                           {in(child, "<enabled>Y</enabled>", "<enabled>N</enabled>"), night, true},
		"one transform more":              {in(child, "</order>", "</order>"+dummy("more")), night, true},
		"a type":                          {in(child, "<type>Dummy</type>", "<type>Unique</type>"), night, true},
		"error handling":                  {in(child, "</pipeline>", "<transform_error_handling><error><source_transform>src</source_transform><is_enabled>Y</is_enabled></error></transform_error_handling></pipeline>"), night, true},
		"the default of a parameter":      {in(child, "<name>p</name>", "<name>p</name><parameters><parameter><name>P</name><default_value>1</default_value></parameter></parameters>"), night, true},
		"a setting of the action":         {child, in(night, "<wait_until_finished>Y<", "<wait_until_finished>N<"), true},
		"another run configuration of it": {child, in(night, "<run_configuration>local<", "<run_configuration>other<"), true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("words.hpl", child)
			b.write("w.hwf", night)
			tl := b.tell(storage.KindWorkflow, "w.hwf", failed).did("Start", ok).did("words", ok).did("load", storage.ActionSkipped)
			tl.execution("words#1", storage.KindPipeline, "words.hpl", storage.StateSucceeded)
			b.write("words.hpl", c.child)
			b.write("w.hwf", c.night)
			if c.counts {
				wantChecks(t, b.plan(replay.Options{}, tl), "BLOCK upstream:words")
				return
			}
			wantChecks(t, b.plan(replay.Options{}, tl))
		})
	}
}
