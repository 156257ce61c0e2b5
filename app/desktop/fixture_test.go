//go:build !headless

package desktop

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"sluice/assets/sample"
)

// shown is a desktop in the test driver: all its work is done at once, on the
// goroutine of the test.
type shown struct {
	*Desktop
	log    *bytes.Buffer
	folder string // with the sample project
}

func show(t *testing.T, dark bool) *shown {
	t.Helper()
	a := test.NewTempApp(t)
	folder := t.TempDir()
	if err := sample.Unpack(folder); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLUICE_DATA", t.TempDir())
	t.Setenv("SLUICE_CACHE", t.TempDir())
	s := &shown{log: &bytes.Buffer{}, folder: folder}
	d, err := New(a, Options{Memory: filepath.Join(t.TempDir(), "desktop.json"), EventLog: s.log})
	if err != nil {
		t.Fatal(err)
	}
	d.spawn = func(f func()) { f() }
	d.post = func(f func()) { f() }
	d.instantly = true
	s.Desktop = d
	t.Cleanup(func() {
		d.win.Close()
		if err := d.history.Close(); err != nil {
			t.Error(err)
		}
	})
	d.win.Resize(fyne.NewSize(1440, 900))
	d.showWelcome()
	if dark {
		d.toggleDark()
	}
	return s
}

func (s *shown) sample(t *testing.T) *editor {
	t.Helper()
	s.open(filepath.Join(s.folder, sample.Main))
	if s.current == nil {
		t.Fatalf("the sample did not open: %s", s.log)
	}
	return s.current
}

// happened tells whether a line of the event log begins so.
func (s *shown) happened(prefix string) bool {
	return strings.Contains("\n"+s.log.String(), "\n"+prefix)
}

// press presses a button of the uppermost dialog.
func (s *shown) press(t *testing.T, label string) {
	t.Helper()
	if len(s.dialogs) == 0 {
		t.Fatalf("no dialog has a button %q: %s", label, s.log)
	}
	var found *widget.Button
	walk(s.dialogs[len(s.dialogs)-1].pop.Content, func(o fyne.CanvasObject) {
		if b, ok := o.(*widget.Button); ok && b.Text == label {
			found = b
		}
	})
	if found == nil {
		t.Fatalf("%s has no button %q", s.dialogs[len(s.dialogs)-1].title, label)
	}
	found.OnTapped()
}

// draw renders the window; what cannot be drawn panics.
func (s *shown) draw() { s.win.Canvas().Capture() }

// objects counts the canvas objects of the window.
func objects(o fyne.CanvasObject) int {
	n := 1
	switch x := o.(type) {
	case *fyne.Container:
		for _, c := range x.Objects {
			n += objects(c)
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(x).Objects() {
			n += objects(c)
		}
	}
	return n
}

// cutShort takes the last byte of a segment away.
func cutShort(t *testing.T, folder string) {
	t.Helper()
	done := false
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || done || !strings.HasSuffix(path, ".parquet") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		done = true
		return os.Truncate(path, info.Size()-1)
	})
	if err != nil || !done {
		t.Fatalf("no segment in %s: %v", folder, err)
	}
}
