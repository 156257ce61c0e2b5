package gate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// refusal gives the checks that block.
func refusal(t testing.TB, r ran) []gate.Check {
	t.Helper()
	var refused *gate.RefusedError
	if !errors.As(r.err, &refused) {
		t.Fatalf("not refused: %v", r.err)
	}
	var list []gate.Check
	for _, c := range refused.Checks {
		if c.Status == gate.Block && !c.Overridden {
			list = append(list, c)
		}
	}
	return list
}

func from(name string) gate.SessionOptions {
	return gate.SessionOptions{From: []gate.Start{{Node: name, Snapshot: gate.Latest}}}
}

func TestSealAndReplay(t *testing.T) {
	for name, settings := range map[string][]string{
		"sealed": nil, "streaming": {"release=streaming"}, "zstd": {"compression=zstd"}, "compatible": {"compatible=yes"},
	} {
		t.Run(name, func(t *testing.T) {
			w := use(newWorld(t, &storage.Memory{}))
			file := w.file("a.hpl", marked(t, hpl("in>gate gate>out", node("in", "TestSource", "<rows>20000</rows>"), node("gate", "Dummy", ""), node("out", "TestTarget", "")), "gate", settings...))
			first := w.mustRun(file, gate.SessionOptions{})
			o := first.outcome(t)
			if o.State != storage.SnapshotSealed || o.Rows != 20000 || o.Digest == "" {
				t.Fatalf("%+v", o)
			}
			again := w.mustRun(file, from("GATE"))
			if diff := cmp.Diff(first.rows, again.rows); diff != "" {
				t.Error(diff)
			}
			if again.starts["in"] != 0 {
				t.Error("the source was opened")
			}
			if r := again.session.Reused(); len(r) != 1 || r[0].Rows != 20000 || r[0].Snapshot != o.Snapshot {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestZeroRowsAreAValidSnapshot(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	file := w.file("a.hpl", marked(t, hpl("in>out", node("in", "TestSource", "<rows>0</rows>"), node("out", "TestTarget", "")), "in"))
	o := w.mustRun(file, gate.SessionOptions{}).outcome(t)
	if o.State != storage.SnapshotSealed || o.Rows != 0 {
		t.Fatalf("%+v", o)
	}
	if again := w.mustRun(file, from("in")); again.starts["in"] != 0 || again.starts["out"] != 1 {
		t.Errorf("%v", again.starts)
	}
}

// TestRestartWithRouting: copies x4, rows dealt out, a filter with true and false,
// an error hop: the replay gives identical outputs, and defined ones once a hop
// was added downstream.
func TestRestartWithRouting(t *testing.T) {
	condition := `<send_true_to>yes</send_true_to><send_false_to>no</send_false_to><compare><condition><negated>N</negated><leftvalue>id</leftvalue><function>&lt;</function><value><name>constant</name><type>Integer</type><text>500</text><isnull>N</isnull></value></condition></compare>`
	nodes := []string{
		node("in", "TestSource", "<rows>1000</rows>"), node("gate", "TestReject", "<every>10</every>"),
		node("dealt", "TestTarget", "", "copies=4"), node("filter", "FilterRows", condition), node("yes", "TestTarget", ""), node("no", "TestTarget", ""), node("bad", "TestTarget", ""),
	}
	hops := "in>gate gate>dealt gate>filter filter>yes filter>no gate!bad"
	w := use(newWorld(t, &storage.Memory{}))
	file := w.file("a.hpl", marked(t, hpl(hops, nodes...), "gate"))
	first := w.mustRun(file, gate.SessionOptions{})
	if len(first.rows["bad.0"]) != 100 || len(first.rows["yes.0"])+len(first.rows["no.0"]) != 180 || len(first.rows["dealt.3"]) == 0 {
		t.Fatalf("bad %d, yes %d, no %d, dealt.3 %d", len(first.rows["bad.0"]), len(first.rows["yes.0"]), len(first.rows["no.0"]), len(first.rows["dealt.3"]))
	}
	again := w.mustRun(file, from("gate"))
	if diff := cmp.Diff(first.rows, again.rows); diff != "" {
		t.Error(diff)
	}
	text := hpl(hops+" gate>third", append(slices.Clone(nodes), node("third", "TestTarget", ""))...)
	id := marksIn(t, readFile(t, file)).Gates[0].ID
	fixed := w.file("a.hpl", edited(t, text, gate.Mark("gate", nil, ids(hexBytes(t, id)...))))
	changed := w.mustRun(fixed, from("gate"))
	if n := len(changed.rows["third.0"]); n != 150 {
		t.Errorf("the third of three hops got %d of 900 rows", n)
	}
	if diff := cmp.Diff(first.rows["bad.0"], changed.rows["bad.0"]); diff != "" {
		t.Error(diff)
	}
}

// TestTheDeadTarget: with streaming, and with two gates side by side, a target
// that dies does not stop an extraction; the gates seal, the execution fails, and
// the replay loads.
func TestTheDeadTarget(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	text := hpl("a>ta b>tb", node("a", "TestSource", "<rows>50000</rows>"), node("ta", "TestTarget", ""), node("b", "TestSource", "<rows>40000</rows>"), node("tb", "TestTarget", ""))
	text = marked(t, marked(t, text, "a", "release=streaming"), "b")
	file := w.file("a.hpl", text)
	w.sinks.failAt["ta"] = 10
	r := w.run(file, gate.SessionOptions{})
	if !errors.Is(r.err, errDead) {
		t.Fatalf("error is %v", r.err)
	}
	for _, o := range r.session.Outcomes() {
		if o.State != storage.SnapshotSealed {
			t.Errorf("%+v", o)
		}
	}
	delete(w.sinks.failAt, "ta")
	again := w.mustRun(file, gate.SessionOptions{From: []gate.Start{{Node: "a"}, {Node: "b"}}})
	if len(again.rows["ta.0"]) != 50000 || len(again.rows["tb.0"]) != 40000 || again.starts["a"]+again.starts["b"] != 0 {
		t.Errorf("%d and %d rows, starts %v", len(again.rows["ta.0"]), len(again.rows["tb.0"]), again.starts)
	}
}

func TestOnFailureStop(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	file := w.file("a.hpl", marked(t, hpl("in>out", node("in", "TestSource", "<rows>5000000</rows>"), node("out", "TestTarget", "")), "in", "release=streaming", "on-failure=stop"))
	w.sinks.failAt["out"] = 10
	r := w.run(file, gate.SessionOptions{})
	if !errors.Is(r.err, errDead) || r.outcome(t).State != storage.SnapshotInterrupted {
		t.Fatalf("%v, %+v", r.err, r.outcome(t))
	}
	list := refusal(t, w.run(file, from("in")))
	if len(list) != 1 || list[0].ID != gate.CheckSealed || list[0].What != "the source was partially extracted, stage it again from scratch" {
		t.Errorf("%+v", list)
	}
}

func TestContractsAndLimits(t *testing.T) {
	for name, c := range map[string]struct {
		settings []string
		source   string
		want     string // of the reason; empty: sealed
	}{
		"all kept":       {[]string{"min-rows=10", "max-rows=10", "require=id:Integer,name", "not-null=name", "unique=id,name"}, "<rows>10</rows>", ""},
		"too few rows":   {[]string{"min-rows=11"}, "<rows>10</rows>", "10 rows, at least 11"},
		"too many rows":  {[]string{"max-rows=9"}, "<rows>10</rows>", "10 rows, at most 9"},
		"limit of rows":  {[]string{"limit-rows=5"}, "<rows>10</rows>", "limit of 5 rows"},
		"limit of bytes": {[]string{"limit-bytes=10"}, "<rows>10</rows>", "limit of 10 bytes"},
		"variable in it": {[]string{"min-rows=${N}"}, "<rows>10</rows>", "at least 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			w := use(newWorld(t, &storage.Memory{}))
			file := w.file("a.hpl", marked(t, hpl("in>out", node("in", "TestSource", c.source), node("out", "TestTarget", "")), "in", c.settings...))
			r := w.run(file, gate.SessionOptions{})
			o := r.outcome(t)
			if c.want == "" {
				if r.err != nil || o.State != storage.SnapshotSealed {
					t.Fatalf("%v, %+v", r.err, o)
				}
				return
			}
			if r.err == nil || o.State != storage.SnapshotInterrupted || !strings.Contains(o.Reason, c.want) {
				t.Fatalf("error %v, outcome %+v", r.err, o)
			}
			if len(r.rows["out.0"]) != 0 {
				t.Error("rows of a broken extraction reached the target")
			}
		})
	}
}

func TestAContractOnFieldsFailsBeforeAnythingIsRead(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	file := w.file("a.hpl", marked(t, hpl("in>out", node("in", "TestSource", "<rows>10</rows>"), node("out", "TestTarget", "")), "in", "require=id:Date"))
	r := w.run(file, gate.SessionOptions{})
	if r.err == nil || !strings.Contains(r.err.Error(), `field "id" must be Date and is Integer`) {
		t.Errorf("%v", r.err)
	}
}

func TestEveryRefusalNamesNodeSettingAndBothValues(t *testing.T) {
	base := func(rows, note string) string {
		return hpl("in>gate gate>out", node("in", "TestSource", rows), node("gate", "Dummy", ""), node("out", "TestTarget", "<note>"+note+"</note>"))
	}
	for name, c := range map[string]struct {
		text     string
		settings []string // of the gate today
		given    map[string]string
		later    time.Duration
		id       string // of the check that blocks; empty: replayed
		then     string
		now      string
		where    string
	}{
		"nothing changed":        {text: base("<rows>${N}</rows>", "x")},
		"downstream changed":     {text: base("<rows>${N}</rows>", "fixed")},
		"cosmetics changed":      {text: strings.ReplaceAll(base("<rows>${N}</rows><!-- note -->", "x"), "<xloc>1<", "<xloc>99<")},
		"upstream changed":       {text: base("<rows>5</rows>", "x"), id: gate.CheckUpstream, then: "1000", now: "5", where: `"in", setting rows`},
		"upstream unknown part":  {text: base("<rows>${N}</rows><strange><deep>1</deep></strange>", "x"), id: gate.CheckUpstream, now: "1", where: "strange>deep"},
		"same value spelled out": {text: base("<rows>1000</rows>", "x")},
		"variable of the caller": {text: base("<rows>${N}</rows>", "x"), given: map[string]string{"N": "7"}, id: gate.CheckVariable + ":N", then: "1000", now: "7", where: "N"},
		"type changed":           {text: strings.Replace(base("<rows>${N}</rows>", "x"), "<type>Dummy<", "<type>TestReject<", 1), id: gate.CheckUpstream, then: "Dummy", now: "TestReject", where: `"gate"`},
		"a transform added above": {
			text: hpl("in>mid mid>gate gate>out", node("in", "TestSource", "<rows>${N}</rows>"), node("mid", "Dummy", ""), node("gate", "Dummy", ""), node("out", "TestTarget", "")),
			id:   gate.CheckUpstream, where: "gate",
		},
		"never":      {text: base("<rows>${N}</rows>", "x"), settings: []string{"policy=never"}, id: gate.CheckPolicy, where: "never"},
		"ask":        {text: base("<rows>${N}</rows>", "x"), settings: []string{"policy=ask"}, id: gate.CheckPolicy, where: "ask"},
		"too old":    {text: base("<rows>${N}</rows>", "x"), settings: []string{"max-age=1d"}, later: 48 * time.Hour, id: gate.CheckAge, where: "at most"},
		"young":      {text: base("<rows>${N}</rows>", "x"), settings: []string{"policy=younger-than 3d"}, later: 48 * time.Hour},
		"not young":  {text: base("<rows>${N}</rows>", "x"), settings: []string{"policy=younger-than 1d"}, later: 48 * time.Hour, id: gate.CheckPolicy, where: "younger than"},
		"contract":   {text: base("<rows>${N}</rows>", "x"), settings: []string{"min-rows=2000"}, id: gate.CheckContract, where: "at least 2000"},
		"renamed up": {text: strings.ReplaceAll(strings.ReplaceAll(base("<rows>${N}</rows>", "x"), "<name>in<", "<name>reader<"), "<from>in<", "<from>reader<")},
	} {
		t.Run(name, func(t *testing.T) {
			w := use(newWorld(t, &storage.Memory{}))
			w.now = time.Now()
			one := func() *strings.Reader { return nil }
			_ = one
			mark := func(text string, settings ...string) string {
				set := map[string]string{}
				for _, s := range settings {
					k, v, _ := strings.Cut(s, "=")
					set[k] = v
				}
				return edited(t, text, gate.Mark("gate", set, ids(1, 2, 3, 4, 5, 6)))
			}
			w.mustRun(w.file("a.hpl", mark(base("<rows>${N}</rows>", "x"))), gate.SessionOptions{})
			w.now = w.now.Add(c.later)
			o := from("gate")
			o.Given = c.given
			file := w.file("a.hpl", mark(c.text, c.settings...))
			r := w.run(file, o)
			if c.id == "" {
				if r.err != nil || len(r.rows["out.0"]) != 1000 {
					t.Fatalf("%v, %d rows", r.err, len(r.rows["out.0"]))
				}
				return
			}
			list := refusal(t, r)
			i := slices.IndexFunc(list, func(k gate.Check) bool { return k.ID == c.id && strings.Contains(k.What, c.where) })
			if i < 0 {
				t.Fatalf("no check %s about %s in %+v", c.id, c.where, list)
			}
			if got := list[i]; c.then+c.now != "" && (got.Then != c.then || got.Now != c.now) {
				t.Errorf("then %q, now %q", got.Then, got.Now)
			}
			if len(r.starts) != 0 {
				t.Errorf("a refused replay started %v", r.starts)
			}
			o.Overrides, o.Reason = []string{strings.SplitN(c.id, ":", 2)[0]}, "because"
			if r := w.run(file, o); r.err != nil && name != "type changed" {
				t.Errorf("overridden, and still: %v", r.err)
			}
		})
	}
}

func TestDriftOfTheEnvironmentIsOnlyShown(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	file := w.file("a.hpl", marked(t, hpl("in>gate gate>out", node("in", "TestSource", "<rows>${COUNT}</rows>"), node("gate", "Dummy", ""), node("out", "TestTarget", "<note>${COUNT}</note>")), "gate"))
	w.scope.Set("COUNT", "3")
	w.mustRun(file, gate.SessionOptions{})
	w.scope.Set("COUNT", "4")
	r := w.mustRun(file, from("gate"))
	if v, _ := r.exec.Scope().Get("COUNT"); v != "3" {
		t.Errorf("the recorded value is not used: %s", v)
	}
	if !slices.ContainsFunc(r.session.Checks(), func(c gate.Check) bool {
		return c.Status == gate.Info && c.Then == "3" && c.Now == "4"
	}) {
		t.Errorf("not shown: %v", r.session.Checks())
	}
}

func TestSecretsAreComparedAndNeverKept(t *testing.T) {
	m := &storage.Memory{}
	w := use(newWorld(t, m))
	file := w.file("a.hpl", marked(t, hpl("in>out", node("in", "TestSource", "<rows>3</rows><text>${API_TOKEN}</text><password>hunter2secret</password>"), node("out", "TestTarget", "")), "in"))
	w.scope.Set("API_TOKEN", "tok-verysecret")
	w.mustRun(file, gate.SessionOptions{})
	for name, data := range everything(t, m, "") {
		for _, secret := range []string{"tok-verysecret", "hunter2secret"} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%s holds the secret %s", name, secret)
			}
		}
	}
	w.scope.Set("API_TOKEN", "tok-rotated")
	r := w.mustRun(file, from("in"))
	if !slices.ContainsFunc(r.session.Checks(), func(c gate.Check) bool { return c.Status == gate.Warn && c.ID == "secret:API_TOKEN" }) {
		t.Errorf("a rotated token is not told: %v", r.session.Checks())
	}
	o := from("in")
	o.Secrets = secretSums{"elsewhere"}
	r = w.mustRun(file, o)
	if !slices.ContainsFunc(r.session.Checks(), func(c gate.Check) bool {
		return c.Status == gate.Info && strings.Contains(c.What, "cannot be compared")
	}) {
		t.Errorf("another installation is not told: %v", r.session.Checks())
	}
}

func TestOpenPathsAndOtherInputs(t *testing.T) {
	join := `<transform1>gate</transform1><transform2>other</transform2><join_type>INNER</join_type><keys_1><key>id</key></keys_1><keys_2><key>id</key></keys_2>`
	t.Run("a transform above feeds past the gate", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		file := w.file("a.hpl", marked(t, hpl("in>gate in>side gate>out side>out", node("in", "TestSource", "<rows>9</rows>", "copy"), node("gate", "Dummy", ""), node("side", "Dummy", ""), node("out", "TestTarget", "")), "gate"))
		w.mustRun(file, gate.SessionOptions{})
		list := refusal(t, w.run(file, from("gate")))
		if len(list) != 1 || list[0].ID != gate.CheckOpenPath || list[0].Overridable || !strings.Contains(list[0].What, `"in"`) {
			t.Errorf("%+v", list)
		}
	})
	t.Run("another source would be read now", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		text := hpl("gate>join other>join join>out", node("gate", "TestSource", "<rows>9</rows>"), node("other", "TestSource", "<rows>9</rows>"), node("join", "MergeJoin", join), node("out", "TestTarget", ""))
		file := w.file("a.hpl", marked(t, text, "gate"))
		first := w.mustRun(file, gate.SessionOptions{})
		list := refusal(t, w.run(file, from("gate")))
		if len(list) != 1 || list[0].ID != gate.CheckMixedTime || list[0].Then == "" || list[0].Now == "" {
			t.Fatalf("%+v", list)
		}
		o := from("gate")
		o.Overrides, o.Reason = []string{gate.CheckMixedTime}, "a test"
		again := w.mustRun(file, o)
		if diff := cmp.Diff(first.rows, again.rows); diff != "" || again.starts["other"] != 1 || again.starts["gate"] != 0 {
			t.Errorf("%s %v", diff, again.starts)
		}
	})
	t.Run("the other input is a gate of the same execution", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		text := hpl("gate>join other>join join>out", node("gate", "TestSource", "<rows>9</rows>"), node("other", "TestSource", "<rows>9</rows>"), node("join", "MergeJoin", join), node("out", "TestTarget", ""))
		file := w.file("a.hpl", marked(t, marked(t, text, "gate"), "other"))
		first := w.mustRun(file, gate.SessionOptions{})
		again := w.mustRun(file, from("gate"))
		if diff := cmp.Diff(first.rows, again.rows); diff != "" || again.starts["other"]+again.starts["gate"] != 0 {
			t.Errorf("%s %v", diff, again.starts)
		}
	})
}

func TestAHopThatTheSnapshotHasNoRowsForIsRefused(t *testing.T) {
	condition := func(targets string) string {
		return targets + `<compare><condition><negated>N</negated><leftvalue>id</leftvalue><function>&lt;</function><value><name>constant</name><type>Integer</type><text>5</text><isnull>N</isnull></value></condition></compare>`
	}
	w := use(newWorld(t, &storage.Memory{}))
	before := hpl("in>f f>yes", node("in", "TestSource", "<rows>9</rows>"), node("f", "FilterRows", condition("<send_true_to>yes</send_true_to>")), node("yes", "TestTarget", ""))
	w.mustRun(w.file("a.hpl", edited(t, before, gate.Mark("f", nil, ids(1, 2, 3, 4, 5, 6)))), gate.SessionOptions{})
	after := hpl("in>f f>yes f>no", node("in", "TestSource", "<rows>9</rows>"), node("f", "FilterRows", condition("<send_true_to>yes</send_true_to><send_false_to>no</send_false_to>")), node("yes", "TestTarget", ""), node("no", "TestTarget", ""))
	list := refusal(t, w.run(w.file("a.hpl", edited(t, after, gate.Mark("f", nil, ids(1, 2, 3, 4, 5, 6)))), from("f")))
	if len(list) != 1 || list[0].ID != gate.CheckPorts || list[0].Overridable {
		t.Errorf("%+v", list)
	}
}

func TestBadInputIsToldClearly(t *testing.T) {
	text := hpl("in>out", node("in", "TestSource", "<rows>9</rows>"), node("out", "TestTarget", ""))
	t.Run("unknown remote", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		r := w.run(w.file("a.hpl", marked(t, text, "in", "location=unknown:")), gate.SessionOptions{})
		if !errors.Is(r.err, storage.ErrUnknownRemote) || !strings.Contains(r.err.Error(), "sluice remotes list") || r.starts["in"] != 0 {
			t.Errorf("%v %v", r.err, r.starts)
		}
	})
	t.Run("no gate of that name", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		list := refusal(t, w.run(w.file("a.hpl", text), from("in")))
		if list[0].ID != gate.CheckGate {
			t.Errorf("%+v", list)
		}
	})
	t.Run("no snapshot", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		list := refusal(t, w.run(w.file("a.hpl", marked(t, text, "in")), from("in")))
		if list[0].ID != gate.CheckSnapshot || list[0].Overridable {
			t.Errorf("%+v", list)
		}
	})
	t.Run("wrong key, no key, newer format", func(t *testing.T) {
		m := &storage.Memory{}
		w := use(newWorld(t, m))
		file := w.file("a.hpl", marked(t, text, "in"))
		key := func(text string) []*snapshot.Key {
			k, err := snapshot.ParseKey(text)
			if err != nil {
				t.Fatal(err)
			}
			return []*snapshot.Key{k}
		}
		w.mustRun(file, gate.SessionOptions{})
		w.place = placeOf(m, snapshot.Options{Keys: key("one key of sixteen bytes")})
		if list := refusal(t, w.run(file, from("in"))); list[0].ID != gate.CheckManifest || !strings.Contains(list[0].What, "not signed") {
			t.Errorf("%+v", list)
		}
		w.mustRun(file, gate.SessionOptions{})
		w.mustRun(file, from("in"))
		w.place = placeOf(m, snapshot.Options{Keys: key("another key of sixteen bytes")})
		if list := refusal(t, w.run(file, from("in"))); list[0].ID != gate.CheckManifest || list[0].Overridable {
			t.Errorf("%+v", list)
		}
	})
	t.Run("marks that cannot be trusted", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		r := w.run(w.file("a.hpl", strings.ReplaceAll(marked(t, text, "in"), "<key>in : ", "<key>gone : ")), gate.SessionOptions{})
		_ = r
		broken := strings.ReplaceAll(strings.ReplaceAll(marked(t, text, "in"), "<key>in : ", "<key>gone : "), "<key>id</key>", "<key>x</key>")
		r = w.run(w.file("a.hpl", broken), gate.SessionOptions{})
		if r.err == nil || !strings.Contains(r.err.Error(), "sluice gate unmark") || len(r.starts) != 0 {
			t.Errorf("%v, %v", r.err, r.starts)
		}
	})
}

func TestTwoSpoolsOfTheSameRowsHaveOneContentDigest(t *testing.T) {
	m := &storage.Memory{}
	w := use(newWorld(t, m))
	text := hpl("in>out", node("in", "TestSource", "<rows>30000</rows>"), node("out", "TestTarget", ""))
	var digests []string
	for _, codec := range []string{"snappy", "zstd"} {
		o := w.mustRun(w.file("a.hpl", edited(t, text, gate.Mark("in", map[string]string{gate.KeyCompression: codec}, ids(1, 2, 3, 4, 5, 6)))), gate.SessionOptions{}).outcome(t)
		sn, err := w.place.Store.Load(t.Context(), storage.SnapshotRef{Gate: o.Gate, ID: o.Snapshot})
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, sn.Manifest.ContentDigest)
	}
	if digests[0] != digests[1] {
		t.Errorf("%v", digests)
	}
}
