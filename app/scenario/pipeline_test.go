package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The source is changed, or made unreachable, between the failure and the replay
// in each of these.

func TestALoadThatFailedIsReplayedFromTheSealedRows(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sql("source.db", "UPDATE orders SET amount = 0")
	s.sourceGone()
	s.warehouseUp()
	p := s.preflight(ready, id)
	p.wantSteps(t, "orders=REUSE", "keep=RUN", "target=RUN")
	s.sluice("replay", id, "--plan", p.Token).want(ready, "SUCCEEDED")
	s.wantLoaded(original)
	s.sluice("executions", "list").want(ready, "replay of "+id[:8])
}

func TestAnExtractThatFailedIsNotReplayed(t *testing.T) {
	s := newShop(t)
	s.edit("load.hpl", "SELECT id, status, amount FROM orders WHERE status = '${STATUS}' ORDER BY id",
		"SELECT id, status, CASE WHEN id = 15000 THEN json(status) ELSE amount END AS amount FROM orders WHERE status = '${STATUS}'")
	s.sql("source.db", "INSERT INTO orders WITH RECURSIVE n(i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i, 'open', i FROM n")
	s.warehouseUp()
	id := s.fails(s.path("load.hpl"))
	s.preflight(blocked, id).wantCheck(t, "sealed", "BLOCK", "the source was partially extracted, stage it again from scratch")
	s.sluice("replay", id).want(blocked, "stage it again from scratch")
	s.wantLoaded(nil)
	s.edit("load.hpl", "json(status)", "amount")
	s.sql("source.db", "DELETE FROM orders WHERE id > 10")
	s.sluice("replay", id, "--from", "start").want(ready)
	s.wantLoaded(original)
}

func TestAnEditedUpstreamBlocks(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.warehouseUp()
	s.edit("load.hpl", "<limit>0</limit>", "<limit>3</limit>")
	p := s.preflight(blocked, id)
	p.wantCheck(t, "upstream", "BLOCK", "limit", "then ", "3")
	s.sluice("replay", id).want(blocked)
	s.wantLoaded(nil)
	s.sluice("replay", id, "--override", "upstream").want(unusable, "--reason")
	s.sluice("replay", id, "--override", "upstream", "--reason", "the limit was for a test").want(ready)
	s.wantLoaded(original)
	s.sluice("executions", "list", "--limit", "1", "--json").want(ready, "the limit was for a test")
}

func TestAMovedIconAndANoteDoNotBlock(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.edit("load.hpl", "<xloc>100</xloc>", "<xloc>480</xloc>")
	s.edit("load.hpl", "<notepads>\n", "<notepads>\n    <notepad>\n      <note>look here</note>\n    </notepad>\n")
	s.edit("load.hpl", "<description/>", "<description>what is open</description>")
	if p := s.preflight(ready, id); len(p.Changes) != 0 {
		t.Errorf("shown as changes: %+v", p.Changes)
	}
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
}

func TestAFixBehindTheGateIsShownAndUsed(t *testing.T) {
	s := newShop(t)
	s.warehouseUp()
	s.edit("load.hpl", "<table>loaded</table>", "<table>laoded</table>")
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.edit("load.hpl", "<table>laoded</table>", "<table>loaded</table>")
	p := s.preflight(ready, id)
	if len(p.Changes) != 1 || p.Changes[0].Node != "target" || p.Changes[0].Then != "laoded" || p.Changes[0].Now != "loaded" {
		t.Errorf("changes %+v", p.Changes)
	}
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
}

func TestVariables(t *testing.T) {
	t.Run("read above the gate", func(t *testing.T) {
		s := newShop(t)
		id := s.fails(s.path("load.hpl"))
		s.warehouseUp()
		s.preflight(blocked, id, "--var", "STATUS=shipped").wantCheck(t, "variable:STATUS", "BLOCK", "open", "shipped")
	})
	t.Run("drifted in the project", func(t *testing.T) {
		s := newShop(t)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		s.edit("project-config.json", `"value": "open"`, `"value": "shipped"`)
		s.preflight(ready, id)
		s.sluice("replay", id).want(ready, "recorded \"open\" is used")
		s.wantLoaded(original)
	})
	t.Run("read only below the gate", func(t *testing.T) {
		s := newShop(t)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		if err := os.Rename(s.path("warehouse"), s.path("elsewhere")); err != nil {
			t.Fatal(err)
		}
		s.sluice("replay", id, "--var", "WAREHOUSE="+s.path("elsewhere")).want(ready)
		if err := os.Rename(s.path("elsewhere"), s.path("warehouse")); err != nil {
			t.Fatal(err)
		}
		s.wantLoaded(original)
		a := s.sluice("executions", "show", s.newest(), "--json").want(ready)
		if !strings.Contains(a.out, `"WAREHOUSE"`) || !strings.Contains(a.out, "elsewhere") {
			t.Errorf("the choice was not recorded:\n%s", a.out)
		}
	})
}

// newest is the id of the newest execution.
func (s *shop) newest() string {
	s.t.Helper()
	a := s.sluice("executions", "list", "--limit", "1", "--json").want(ready)
	_, rest, _ := strings.Cut(a.out, `"execution_id": "`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func TestASnapshotThatIsTooOldBlocks(t *testing.T) {
	s := newShop(t)
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--set", "max-age=1ms").want(ready)
	id := s.fails(s.path("load.hpl"))
	s.warehouseUp()
	s.preflight(blocked, id).wantCheck(t, "age", "BLOCK")
	s.sluice("replay", id, "--override", "age", "--reason", "the day is over anyway").want(ready)
	s.wantLoaded(original)
}

// segment gives a stored segment of the only snapshot.
func (s *shop) stored(pattern string) string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.data, "snapshots", "*", "*", pattern))
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%s: %v, %v", pattern, list, err)
	}
	return list[0]
}

func TestTamperedSnapshotsAreRefused(t *testing.T) {
	for name, pattern := range map[string]string{"manifest": "SnapshotManifest.json", "segment": "p00-seg-*.parquet"} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			id := s.fails(s.path("load.hpl"))
			s.warehouseUp()
			file := s.stored(pattern)
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 1
			if err := os.Chmod(file, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s.preflight(blocked, id)
			s.sluice("replay", id).want(blocked)
			s.wantLoaded(nil)
			s.sluice("replay", id, "--override", "manifest", "--override", "segments", "--override", "sealed", "--reason", "x").want(blocked)
			s.wantLoaded(nil)
		})
	}
}

func TestAReplayThatSucceededIsNotRepeatedUnnoticed(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.warehouseUp()
	s.sluice("replay", id).want(ready)
	first := s.newest()
	p := s.preflight(needsAck, id)
	p.wantCheck(t, "replayed", "WARN", first)
	p.wantCheck(t, "second-write:target", "WARN", "6 rows", "loaded")
	s.sluice("replay", id).want(needsAck)
	s.wantLoaded(original)
	s.sluice("replay", id, "--ack", "replayed", "--ack", "second-write:target").want(ready)
	if n := len(s.loaded()); n != 12 {
		t.Errorf("%d rows; the second replay was acknowledged", n)
	}
	s.sluice("executions", "show", id).want(ready, "LINEAGE", first[:18])
}

func TestATargetThatWasWrittenInPartIsNamed(t *testing.T) {
	s := newShop(t)
	s.warehouseUp()
	s.sql("warehouse/target.db", "DROP TABLE loaded")
	s.sql("warehouse/target.db", "CREATE TABLE loaded (id INTEGER, amount INTEGER CHECK (amount < 50))")
	id := s.fails(s.path("load.hpl"))
	if n := len(s.loaded()); n != 4 {
		t.Fatalf("%d rows were committed before the failure", n)
	}
	s.sql("warehouse/target.db", "DROP TABLE loaded")
	s.warehouseUp()
	s.preflight(needsAck, id).wantCheck(t, "second-write:target", "WARN", "before it failed", "connection target, table loaded")
	s.sluice("replay", id, "--ack", "second-write:target").want(ready)
	s.wantLoaded(original)
}
