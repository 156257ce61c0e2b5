//go:build screen && !headless

package desktop_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/app/desktop"
	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/assets/sample"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/storage"
)

// TestScreenFromNewToReplayed goes the whole way: a new pipeline is drawn, set, given
// a gate, saved and run; the run fails, and is replayed from the sealed rows.
func TestScreenFromNewToReplayed(t *testing.T) {
	w := startWindow(t, started{home: shop(t), memory: `{"look": "light"}`})
	target, out := filepath.Join(w.home, "made.hpl"), filepath.Join(w.home, "out")
	w.key("ctrl+n")
	w.wait("new New pipeline 1")
	w.place(-240, -80, "generate rows", "RowGenerator")
	w.place(0, -80, "add sequence", "Sequence")
	w.place(240, -80, "text file output", "TextFileOutput")
	w.connect("Generate rows", "Add sequence")
	w.connect("Add sequence", "Text file output")

	w.settings("Generate rows", "Generate rows", func() { w.fill("Limit", "25") })
	w.settings("Add sequence", "Add sequence", func() { w.press("check", "Use a counter") })
	w.settings("Text file output", "Text file output", func() { w.fill("Name", filepath.Join(out, "rows")) })

	w.click(at(w.named("node", "Generate rows")))
	w.key("ctrl+g")
	w.wait("gate marked Generate rows")
	w.saveAs(target)

	// The folder of the output is a file: the load fails behind the gate.
	w.store(out, "in the way")
	w.key("F8")
	w.wait("dialog Run made.hpl")
	w.press("button", "Run")
	w.wait("run Failed")
	w.wait("gates looked at")
	w.shot("window-designer")

	w.key("ctrl+shift+i")
	w.wait("place Executions")
	w.wait("executions 1")
	w.wait("execution ")
	w.press("button", "Metrics")
	w.shot("window-executions")
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	w.click(at(w.find("the replay button", func(p desktop.Position) bool {
		return p.Kind == "button" && strings.HasPrefix(p.Name, "Replay") && strings.HasSuffix(p.Name, "…")
	})))
	w.wait("replay READY")
	w.shot("window-replay")
	w.press("button", "Replay")
	w.wait("replay ended ")
	if !strings.Contains(w.log(), " succeeded\n") {
		t.Error("the replay did not succeed")
	}
	w.key("ctrl+shift+d", "ctrl+q")
	w.awaitEnd()

	checkMade(t, target)
	if data, err := os.ReadFile(filepath.Join(out, "rows.txt")); err != nil || strings.Count(string(data), "\n") != 25 {
		t.Errorf("the replay wrote %q, %v", data, err)
	}
	checkRecords(t, w.data())
}

// shop is a home whose name can stand in a picture, when it is free.
func shop(t *testing.T) string {
	home := filepath.Join(os.TempDir(), "sluice-shop")
	if os.Mkdir(home, 0o700) != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	return home
}

// checkMade looks at the file that was drawn.
func checkMade(t *testing.T, path string) {
	t.Helper()
	d, err := hopxml.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Transforms) != 3 || len(p.Hops) != 2 {
		t.Fatalf("%d transforms and %d hops were saved:\n%s", len(p.Transforms), len(p.Hops), d.Bytes())
	}
	for _, c := range []struct{ node, key, want string }{{"Generate rows", "limit", "25"}, {"Add sequence", "use_counter", "Y"}} {
		if got := p.Transform(c.node).Element.Child(c.key).Text(); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.node, c.key, got, c.want)
		}
	}
	marks, err := gate.ReadMarks(d)
	if err != nil || marks.Gate("Generate rows") == nil {
		t.Errorf("the gate was not saved: %v\n%s", err, d.Bytes())
	}
}

// checkRecords looks into the store: a failed execution, and its replay that
// succeeded from the snapshot that the first one sealed.
func checkRecords(t *testing.T, folder string) {
	t.Helper()
	h := workspace.NewHistory(workspace.Folders{Data: folder}, slog.New(slog.DiscardHandler))
	store, err := h.Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	rows, _, err := presenter.LoadExecutions(t.Context(), store, presenter.ExecutionFilter{}, "", time.Now())
	if err != nil || len(rows) != 2 {
		t.Fatalf("the store holds %d executions, %v", len(rows), err)
	}
	replay, failed := rows[0], rows[1]
	if replay.State != storage.StateSucceeded || failed.State != storage.StateFailed {
		t.Errorf("the replay is %s, the run before %s", replay.State, failed.State)
	}
	for i, want := range []storage.SnapshotRole{storage.SnapshotBound, storage.SnapshotWritten} {
		x, err := presenter.LoadExecution(t.Context(), store, rows[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && x.ReplayOf != failed.ID {
			t.Errorf("the replay is one of %q, want %q", x.ReplayOf, failed.ID)
		}
		if len(x.Snapshots) != 1 || x.Snapshots[0].Role != want || x.Snapshots[0].Digest == "" {
			t.Errorf("%s has the snapshots %+v", x.State, x.Snapshots)
		}
	}
}

// TestScreenKeepsWork undoes, closes, crashes and starts again.
func TestScreenKeepsWork(t *testing.T) {
	w := startWindow(t, started{})
	w.key("ctrl+n")
	w.wait("new New pipeline 1")
	w.place(0, -80, "dummy", "Dummy")
	target := filepath.Join(w.home, "kept.hpl")
	w.saveAs(target)
	w.place(240, -80, "write to log", "WriteToLog")
	w.key("ctrl+z")
	w.wait("undo ")
	w.key("ctrl+shift+z")
	w.wait("redo ")
	w.wait("autosaved " + target)
	saved, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	w.kill()

	// The program is started with the file as its argument.
	w = startWindow(t, started{home: w.home, args: []string{target}})
	w.wait("opened " + target)
	w.wait("dialog Unsaved changes were kept")
	w.press("button", "Restore")
	w.wait("recovered " + target)
	w.named("node", "Write to log")
	if now, _ := os.ReadFile(target); string(now) != string(saved) {
		t.Error("restoring changed the file itself")
	}
	w.key("ctrl+s")
	w.wait("saved " + target)
	w.key("ctrl+w")
	w.wait("closed kept.hpl")
	w.key("ctrl+q")
	w.awaitEnd()
	memory, err := os.ReadFile(filepath.Join(w.home, ".config", "sluice", "desktop.json"))
	if err != nil || !strings.Contains(string(memory), "kept.hpl") {
		t.Errorf("the window's state was not kept: %s, %v", memory, err)
	}
	if d, err := hopxml.Open(target); err != nil || !strings.Contains(string(d.Bytes()), "WriteToLog") {
		t.Errorf("the restored work was not saved: %v", err)
	}
}

// TestScreenIdle starts the program with a file as its only argument, as a user does,
// and measures what it costs to do nothing.
func TestScreenIdle(t *testing.T) {
	folder := t.TempDir()
	if err := sample.Unpack(folder); err != nil {
		t.Fatal(err)
	}
	w := startWindow(t, started{args: []string{filepath.Join(folder, sample.Main)}, mute: true})
	w.until("the file is in the title", func() bool {
		return strings.HasPrefix(w.try("getwindowname", w.id), filepath.Base(sample.Main)+" - Sluice")
	})
	busy := func() time.Duration { return w.busy(2 * time.Second) }
	w.until("it has come to rest", func() bool { return busy() < 200*time.Millisecond })
	const long = 10 * time.Second
	share := 100.0
	for try := 0; try < 3 && share >= 2; try++ { // other work on the machine makes each cycle cost more
		share = 100 * float64(w.busy(long)) / float64(long)
		t.Logf("idle: %.2f %% of one processor", share)
	}
	if share >= 2 {
		t.Errorf("the idle window takes %.2f %% of a processor, want less than 2 %%", share)
	}
}
