package presenter_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/storage"
)

func TestEveryStateOfAGateHasItsWords(t *testing.T) {
	now := time.Date(2026, 11, 30, 14, 0, 0, 0, time.Local)
	sealed := gate.Standing{Node: "Read orders", State: storage.SnapshotSealed, Snapshot: "s1", Rows: 48210, Bytes: 3_250_586, At: now.Add(-11*time.Hour - 50*time.Minute)}
	with := func(change func(*gate.Standing)) gate.Standing {
		s := sealed
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		of                             gate.Standing
		badge                          scene.Gate
		title, caption, metric, reason string
	}{
		"armed":  {gate.Standing{Node: "a"}, scene.GateArmed, "Armed: seals at the next run", "", "", ""},
		"sealed": {sealed, scene.GateSealed, "Sealed and verified", "Sealed today 02:10 · 48,210 rows · 3.1 MiB", "48,210 rows · 3.1 MiB", ""},
		"stale": {
			with(func(s *gate.Standing) { s.Changes = []gate.Change{{Node: "in", Setting: "rows", Then: "1", Now: "2"}} }), scene.GateStale,
			"Stale: settings changed after the seal", "Sealed today 02:10 · 48,210 rows · 3.1 MiB", "48,210 rows · 3.1 MiB", "",
		},
		"another host is not stale": {
			with(func(s *gate.Standing) { s.Changes = []gate.Change{{Node: "in", Setting: "host", Moved: true}} }), scene.GateSealed,
			"Sealed and verified", "Sealed today 02:10 · 48,210 rows · 3.1 MiB", "48,210 rows · 3.1 MiB", "",
		},
		"unknown": {
			with(func(s *gate.Standing) { s.Unknown = "X has no settings" }), scene.GateStale,
			"Stale: what is above it cannot be compared", "Sealed today 02:10 · 48,210 rows · 3.1 MiB", "48,210 rows · 3.1 MiB", "X has no settings",
		},
		"interrupted": {
			with(func(s *gate.Standing) {
				s.State, s.At, s.Why = storage.SnapshotInterrupted, now.AddDate(0, 0, -1), "snapshot g/s1: INTERRUPTED: the source was partially extracted (connection reset)"
			}), scene.GateInterrupted, "Interrupted: never sealed, cannot be replayed", "Begun yesterday 14:00 · 3.1 MiB", "", "the source was partially extracted (connection reset)",
		},
		"corrupt": {
			with(func(s *gate.Standing) {
				s.State, s.Why = storage.SnapshotDamaged, "snapshot g/s1: segment 2 is missing"
			}), scene.GateCorrupt,
			"Corrupt: does not match its hash", "Begun today 02:10 · 3.1 MiB", "", "segment 2 is missing",
		},
		"unreachable": {
			gate.Standing{Node: "a", Err: errors.New("no such remote")}, scene.GateArmed, "Armed: its location cannot be asked", "", "", "no such remote",
		},
		"cached": {
			with(func(s *gate.Standing) { s.Cache = true }), scene.GateSealed, "Cached (development), not a gate",
			"Sealed today 02:10 · 48,210 rows · 3.1 MiB", "48,210 rows cached", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := presenter.GateView{Standing: c.of}
			got := []string{v.Badge().String(), v.Title(), v.Caption(now), v.Metric(), v.Reason()}
			want := []string{c.badge.String(), c.title, c.caption, c.metric, c.reason}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			problems := presenter.NewGates([]gate.Standing{c.of}, nil).Problems()
			wantProblem := c.badge != scene.GateSealed && c.badge != scene.GateArmed || c.of.Err != nil
			if (len(problems) == 1) != wantProblem && !c.of.Cache {
				t.Errorf("problems: %+v", problems)
			}
		})
	}
}

func TestAStaleGateNamesTheLine(t *testing.T) {
	v := presenter.GateView{Standing: gate.Standing{State: storage.SnapshotSealed, Changes: []gate.Change{
		{Node: "Read customers", Setting: "SQL", Then: "select *\nfrom c\nwhere active = 1", Now: "select *\nfrom c\nwhere active = 1 or vip = 1"},
		{Node: "Gone"},
	}}}
	want := []presenter.GateDifference{{"Read customers › SQL, line 3", "where active = 1", "where active = 1 or vip = 1"}, {"Gone", "", ""}}
	if diff := cmp.Diff(want, v.Differences()); diff != "" {
		t.Error(diff)
	}
}

func TestWhenIsAsPeopleSayIt(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.Local)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{now, "today 00:30"}, {now.Add(-time.Hour), "yesterday 23:30"}, {now.AddDate(0, 0, -3), "26 Feb 00:30"}, {now.AddDate(-1, 0, 0), "1 Mar 2025 00:30"},
	} {
		if got := presenter.When(c.at, now); got != c.want {
			t.Errorf("%v: %q, not %q", c.at, got, c.want)
		}
	}
}

const cutText = `<pipeline>
  <info><name>cut</name></info>
  <order>
    <hop><from>rows</from><to>gate</to><enabled>Y</enabled></hop>
    <hop><from>gate</from><to>end</to><enabled>Y</enabled></hop>
  </order>
  <transform><name>rows</name><type>RowGenerator</type><limit>12</limit><fields><field><name>a</name><type>String</type><nullif>x</nullif></field></fields></transform>
  <transform><name>gate</name><type>Dummy</type></transform>
  <transform><name>end</name><type>Dummy</type></transform>
</pipeline>
`

// openCut opens a pipeline of rows, gate and end.
func openCut(t *testing.T) *presenter.File {
	t.Helper()
	t.Setenv("SLUICE_DATA", t.TempDir())
	t.Setenv("SLUICE_CACHE", t.TempDir())
	path := filepath.Join(t.TempDir(), "cut.hpl")
	must(t, os.WriteFile(path, []byte(cutText), 0o600))
	return openFile(t, path)
}

// looked looks at the gates.
func looked(t *testing.T, f *presenter.File) *presenter.Gates {
	t.Helper()
	ws, err := opener(f)(&presenter.Log{}, "")
	must(t, err)
	g := presenter.LoadGates(t.Context(), ws, f.State())
	must(t, g.Err)
	f.SetGates(g)
	return g
}

// onCanvas gives the node as the canvas shows it without a run.
func onCanvas(t *testing.T, f *presenter.File, name string) scene.Node {
	t.Helper()
	for _, n := range f.Scene(nil).Nodes {
		if n.Label == name {
			return n
		}
	}
	t.Fatalf("there is no %s", name)
	return scene.Node{}
}

func TestTheCanvasShowsHowAGateStands(t *testing.T) {
	f := openCut(t)
	must(t, f.MarkGate("gate", nil))
	if n := onCanvas(t, f, "gate"); n.Gate != scene.GateArmed || n.Metric != "" {
		t.Errorf("when it is marked: %+v", n)
	}
	looked(t, f)
	if s, _ := ran(t, f, pipeline.Run{}, nil); s.View().State != presenter.RunSucceeded {
		t.Fatal(s.View().Err)
	}
	g := looked(t, f)
	if n := onCanvas(t, f, "gate"); n.Gate != scene.GateSealed || !strings.HasPrefix(n.Metric, "12 rows · ") {
		t.Errorf("after a run: %+v", n)
	}
	if v, ok := g.Snapshot("GATE"); !ok || v.Root == "" || v.CallPath != "" {
		t.Errorf("its snapshot: %+v", v)
	}
	for _, h := range f.Scene(nil).Hops {
		if sealed := h.From == id(t, f, "gate"); sealed != (h.Gate == scene.GateSealed) {
			t.Errorf("the hop from %s shows %v", h.From, h.Gate)
		}
	}
	fm := form(t, f, "rows")
	entry(t, fm, "limit").Text = "13"
	must(t, fm.Apply())
	g = looked(t, f)
	v, _ := g.Gate("gate")
	if diff := cmp.Diff([]presenter.GateDifference{{"rows › limit", "12", "13"}}, v.Differences()); diff != "" {
		t.Error(diff)
	}
	if n := onCanvas(t, f, "gate"); n.Gate != scene.GateStale {
		t.Errorf("after a change above: %+v", n)
	}
	if p := g.Problems(); len(p) != 1 || p[0].Node != "gate" || p[0].Message != "Stale: rows › limit: was 12, is 13" {
		t.Errorf("%+v", p)
	}
}

func TestARunTakesItsRowsFromTheCache(t *testing.T) {
	f := openCut(t)
	must(t, f.MarkCache("gate", 5))
	if rows, ok := f.CacheOf("Gate"); !ok || rows != 5 {
		t.Errorf("it keeps %d rows, %v", rows, ok)
	}
	if n := onCanvas(t, f, "gate"); n.Metric != "cached at the next run" || n.Gate != scene.GateNone {
		t.Errorf("%+v", n)
	}
	ran(t, f, pipeline.Run{}, nil)
	looked(t, f)
	if n := onCanvas(t, f, "gate"); n.Metric != "5 rows cached" {
		t.Errorf("after a run: %+v", n)
	}
	s := presenter.NewSession(&presenter.Log{}, time.Now)
	s.Run(t.Context(), opener(f), pipeline.Run{File: f.Path(), Pipeline: f.Pipeline()}, presenter.RunOptions{FromCache: true})
	v := s.View()
	if v.State != presenter.RunSucceeded {
		t.Fatal(v.Err)
	}
	for _, m := range v.Metrics {
		if m.Name == "rows" {
			t.Errorf("the source ran: %+v", m)
		}
		if m.Name == "end" && m.Read != 5 {
			t.Errorf("end read %d rows", m.Read)
		}
	}
	must(t, f.UnmarkCache("gate"))
	if n := onCanvas(t, f, "gate"); n.Metric != "" {
		t.Errorf("after it was taken away: %+v", n)
	}
}
