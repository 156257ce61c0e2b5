package scenario_test

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestARotatedPasswordIsNoReasonToBlock(t *testing.T) {
	s := newShop(t)
	s.edit("load.hpl", "WHERE status = '${STATUS}'", "WHERE status = '${STATUS}' AND '${API_TOKEN}' IS NOT NULL")
	a := s.sluice("run", s.path("load.hpl"), "--var", "API_TOKEN=old and secret", "--json", "--log-level", "error").want(failed)
	id := between(a.out, `"execution_id": "`, `"`)
	s.warehouseUp()
	s.preflight(needsAck, id, "--var", "API_TOKEN=new and secret").wantCheck(t, "secret:API_TOKEN", "WARN", "another value")
	s.sluice("replay", id, "--var", "API_TOKEN=new and secret", "--ack", "secret").want(ready)
	s.wantLoaded(original)
	s.noSecret("old and secret", "new and secret")
}

func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	part, _, _ := strings.Cut(rest, after)
	return part
}

// noSecret looks for texts in everything that the installation has written.
func (s *shop) noSecret(secrets ...string) {
	s.t.Helper()
	n := 0
	err := filepath.WalkDir(s.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		n++
		for _, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				s.t.Errorf("%s holds the secret %q", path, secret)
			}
		}
		return err
	})
	if err != nil || n < 5 {
		s.t.Errorf("%d files were looked through, %v", n, err)
	}
}

func TestNothingStoredHoldsASecret(t *testing.T) {
	s := newShop(t)
	const secret = "tr0ub4dor&3"
	s.edit("load.hpl", "<commit>2</commit>", "<commit>2</commit>\n    <password>"+strings.ReplaceAll(secret, "&", "&amp;")+"</password>")
	s.write("night.hwf", workflowOf("Start>say say+load",
		sets("say", "SHOP_PASSWORD", "${MY_SECRET}"), runs("load", "load.hpl")))
	s.sluice("run", s.path("night.hwf"), "--var", "MY_SECRET="+secret, "--log-level", "debug").want(failed)
	s.noSecret(secret, strings.ReplaceAll(secret, "&", "&amp;"))
	bundle := filepath.Join(t.TempDir(), "bundle.zip")
	s.sluice("support-bundle", s.newest(), "-o", bundle).want(ready)
	z, err := zip.OpenReader(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	names := ""
	for _, f := range z.File {
		names += f.Name + "\n"
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(secret)) || bytes.Contains(data, []byte("tr0ub4dor")) {
			t.Errorf("%s in the bundle holds the secret", f.Name)
		}
	}
	for _, want := range []string{"executions.json", "log.jsonl", "definitions/", "project/project-config.json", "metadata/rdbms/source.json", "versions.txt"} {
		if !strings.Contains(names, want) {
			t.Errorf("the bundle has no %s:\n%s", want, names)
		}
	}
}

func TestSnapshotsThatAreNeededAreNotPruned(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	prune := []string{"snapshots", "prune", "--file", s.path("load.hpl"), "--age", "1ms", "--executions", "1"}
	s.sluice(prune...).want(ready, "keep")
	s.preflight(ready, id)
	s.preflight(ready, id)
	s.warehouseUp()
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
	s.sluice(prune...).want(ready, "prune")
	s.sluice("executions", "show", id).want(ready, "PRUNED")
	s.preflight(blocked, id).wantCheck(t, "sealed", "BLOCK")
}

func TestASchemaThatChangedBlocks(t *testing.T) {
	s := newShop(t)
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--set", "require=id,amount").want(ready)
	id := s.fails(s.path("load.hpl"))
	s.warehouseUp()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--set", "require=id,amount,customer").want(ready)
	s.preflight(blocked, id).wantCheck(t, "contract", "BLOCK", "customer")
}

func TestAStreamingGateNamesWhatWasWritten(t *testing.T) {
	s := newShop(t)
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--set", "release=streaming").want(ready)
	s.warehouseUp()
	s.sql("warehouse/target.db", "DROP TABLE loaded")
	s.sql("warehouse/target.db", "CREATE TABLE loaded (id INTEGER, amount INTEGER CHECK (amount < 50))")
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	p := s.preflight(needsAck, id)
	p.wantCheck(t, "second-write:target", "WARN", "rows to connection target, table loaded")
	p.wantSteps(t, "orders=REUSE")
	s.sql("warehouse/target.db", "DROP TABLE loaded")
	s.warehouseUp()
	s.sluice("replay", id, "--ack", "second-write:target").want(ready)
	s.wantLoaded(original)
}

func TestADefaultedSettingOfANewerVersionIsNoChange(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	// A newer program writes more settings, with the values they have when absent.
	s.edit("load.hpl", "<limit>0</limit>", "<limit>0</limit>\n    <execute_each_row>N</execute_each_row>\n    <lookup/>")
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
}

func TestAWorkflowWithTheReplayEngineGoesOn(t *testing.T) {
	s := newShop(t)
	s.write("metadata/workflow-run-configuration/safe.json", `{"engineRunConfiguration": {"Replay": {}}, "name": "safe", "defaultSelection": false}`)
	s.write("night.hwf", workflowOf("Start>before before+load", writes("before", "before.txt", "once"), runs("load", "load.hpl")))
	run := []string{"run", s.path("night.hwf"), "--run-config", "safe", "--log-level", "error"}
	s.sluice(run...).want(failed)
	s.sourceGone()
	if err := os.Remove(s.path("before.txt")); err != nil {
		t.Fatal(err)
	}
	s.warehouseUp()
	s.edit("night.hwf", "once", "twice")
	s.sluice(run...).want(blocked, "once", "twice")
	s.edit("night.hwf", "twice", "once")
	s.sluice(run...).want(ready, "goes on where execution")
	s.wantLoaded(original)
	if _, err := os.Stat(s.path("before.txt")); err == nil {
		t.Error("a bypassed action ran")
	}
	s.sluice(run...).want(failed) // nothing is left to go on with, so it runs from its start, and the source is gone
}

func TestReplaysInBulk(t *testing.T) {
	s := newShop(t)
	one, two := s.fails(s.path("load.hpl")), s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.sluice("replay", one, two).want(ready)
	if n := len(s.loaded()); n != 12 {
		t.Errorf("%d rows", n)
	}
}

func TestAPlanThatIsOutOfDateIsRefused(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.warehouseUp()
	p := s.preflight(ready, id)
	s.edit("load.hpl", "<commit>2</commit>", "<commit>3</commit>")
	s.sluice("replay", id, "--plan", p.Token).want(blocked, "has changed since")
	s.wantLoaded(nil)
}

func TestTheDefinitionAsItRan(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.edit("load.hpl", "<limit>0</limit>", "<limit>3</limit>")
	s.preflight(blocked, id)
	s.sluice("replay", id, "--definition", "original").want(ready)
	s.wantLoaded(original)
}

func TestExecutionsCommands(t *testing.T) {
	s := newShop(t)
	s.write("night.hwf", workflowOf("Start>load", runs("load", "load.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.sluice("executions", "list", "--state", "failed", "--since", "1h", "--name", "night").want(ready, id[:18], "FAILED")
	s.sluice("executions", "list", "--state", "gone").want(unusable, "SUCCEEDED")
	s.sluice("executions", "list", "--since", "yesterday").want(unusable, "24h")
	s.sluice("executions", "list", "--until", time.Now().Add(-time.Hour).Format(time.RFC3339)).want(ready)
	s.sluice("executions", "show", id[:18]).want(ready, "ACTION", "load", "orders")
	s.sluice("executions", "show", "ffffffff").want(unusable, "there is no execution")
	s.sluice("executions", "tree", id).want(ready, "load#1: pipeline load FAILED")
	s.sluice("executions", "logs", id, "--level", "error").want(ready, "target")
	s.sluice("executions", "logs", id, "--search", "nowhere to be found").want(ready)
	s.sluice("executions", "prune").want(unusable, "--older-than")
	s.sluice("executions", "prune", "--older-than", "0.00000001d", "--dry-run").want(ready, "kept", "not replayed yet")
	s.sluice("executions", "delete", id[:18]).want(ready, "removed")
	s.sluice("executions", "show", id).want(unusable)
	s.sluice("preflight", id).want(unusable, "--record")
}
