//go:build pictures && !headless

package desktop

import (
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fyne.io/fyne/v2"

	"sluice/assets/sample"
	"sluice/engine/pipeline"
)

// everyLook are the pictures that are kept dark and small too; of the others light ones
// do. SLUICE_PICTURES names another folder, and draws all.
var everyLook = []string{"welcome", "designer-gates", "designer-failed", "executions", "replay-ready", "replay-blocked", "gate-settings", "metadata-connection"}

// TestPictures draws the pictures of assets/screenshots: each perspective and dialog
// in light, dark and in a small window, with the sample project in a folder that
// says nothing of this machine.
func TestPictures(t *testing.T) {
	out := filepath.Join("..", "..", "assets", "screenshots")
	if elsewhere := os.Getenv("SLUICE_PICTURES"); elsewhere != "" {
		out = elsewhere
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		name string
		dark bool
		w, h float32
	}{{"light", false, 1440, 900}, {"dark", true, 1440, 900}, {"1024x700", false, 1024, 700}} {
		s := show(t, v.dark)
		home := filepath.Join(os.TempDir(), "sluice") // pictures name no other folder
		if err := os.RemoveAll(home); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(home) }()
		t.Setenv("HOME", home)
		t.Setenv("SLUICE_DATA", filepath.Join(home, ".local", "share", "sluice"))
		t.Setenv("SLUICE_CACHE", filepath.Join(home, ".cache", "sluice"))
		s.folder = filepath.Join(home, "shop")
		if err := sample.Unpack(s.folder); err != nil {
			t.Fatal(err)
		}
		s.win.Resize(fyne.NewSize(v.w, v.h))
		shot := func(name string) {
			if kept := v.name == "light" || slices.Contains(everyLook, name); !kept && os.Getenv("SLUICE_PICTURES") == "" {
				return
			}
			f, err := os.Create(filepath.Join(out, name+"-"+v.name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, s.win.Canvas().Capture()); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		s.showWelcome()
		shot("welcome-first")
		s.memory.Recent = []string{filepath.Join(s.folder, "main.hpl"), filepath.Join(s.folder, "nightly.hwf"), filepath.Join(s.folder, "a-pipeline-that-was-deleted-and-has-a-long-name.hpl"), filepath.Join(s.folder, "load-orders.hpl")}
		s.memory.Unsaved = []string{filepath.Join(s.folder, "load-orders.hpl"), filepath.Join(s.folder, "nightly.hwf")}
		s.showWelcome()
		shot("welcome")
		s.memory.Unsaved = nil
		s.do("go-executions")
		s.win.Resize(fyne.NewSize(v.w, v.h))
		shot("executions-empty")
		e := s.nightly(t)
		s.open(filepath.Join(s.folder, "load-orders.hpl"))
		shot("designer-gate")
		s.show(e)
		shot("designer-failed")
		s.open(filepath.Join(s.folder, sample.Main))
		s.current.run(s.current.options, pipeline.Run{}, nil)
		shot("designer-finished")
		turnover := s.current
		s.workPictures(t, shot)
		s.show(turnover)
		s.closeFile(s.current)
		s.gatePictures(t, shot)
		s.show(e)
		s.do("go-executions")
		s.runs.choose(e.session.View().Execution)
		s.runs.detail.focus("Load orders")
		s.runs.detail.tabs.choose(tabLog)
		shot("executions")
		s.runs.detail.focus("")
		s.runs.detail.tabs.choose(tabMetrics)
		shot("executions-metrics")
		s.do("retention")
		shot("retention")
		s.closeDialogs()
		s.replayPictures(t, shot, e.session.View().Execution)
		s.closeDialogs()
		s.metaPictures(t, shot)
	}
}
