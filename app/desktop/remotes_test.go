//go:build !headless

package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/storage/rclone"
)

// remoteOption finds an option of the remote that is shown.
func (m *metadata) remoteOption(t *testing.T, name string) *rclone.Option {
	t.Helper()
	usual, advanced := m.now.far.Fields()
	for _, o := range append(usual, advanced...) {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no option %s", name)
	return nil
}

// setUp takes the answers of the dialog of a new remote.
func (s *shown) setUp(t *testing.T, name, kind string) {
	t.Helper()
	s.do("remote-new")
	if len(s.dialogs) != 1 {
		t.Fatal("nothing is asked")
	}
	s.draw()
	s.win.Canvas().Focused().(*field).SetText(name)
	fields := fieldsOf(s.dialogs[0].pop)
	fields[1].SetText(kind)
	s.draw()
	s.dialogs[0].onEnter()
}

func fieldsOf(o fyne.CanvasObject) (out []*field) {
	walk(o, func(o fyne.CanvasObject) {
		if f, ok := o.(*field); ok {
			out = append(out, f)
		}
	})
	return out
}

func confOf(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(os.Getenv("RCLONE_CONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestARemoteIsSetUpTestedAndSaved(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	s.setUp(t, "archive", "alias")
	if len(s.dialogs) != 1 {
		t.Fatal("the name of a remote that is there is taken")
	}
	s.dialogs[0].close()
	s.setUp(t, "box", "alias")
	if m.now == nil || m.now.far == nil || m.now.far.Backend.Type != "alias" || !m.now.dirty() {
		t.Fatalf("no form: %s", s.log)
	}
	s.draw()
	s.do("save")
	if _, err := os.Stat(os.Getenv("RCLONE_CONFIG")); err == nil {
		t.Error("a remote without a folder was saved")
	}
	folder := t.TempDir()
	m.now.far.Set(m.remoteOption(t, "remote"), folder)
	m.now.fill()
	ref := m.now.item.Ref
	s.do("meta-test")
	if r := m.results[ref]; r.State != presenter.LevelGood {
		t.Errorf("the test gave %+v", r)
	}
	if _, err := os.Stat(os.Getenv("RCLONE_CONFIG")); err == nil {
		t.Error("the test saved the remote")
	}
	s.do("save")
	if text := confOf(t); !strings.Contains(text, "[box]\ntype = alias\nremote = "+folder) || m.now.dirty() {
		t.Errorf("the file holds %q: %s", text, s.log)
	}
	if _, ok := m.item(ref); !ok {
		t.Error("the tree has no new remote")
	}
	m.now.look()
	if m.now.seen.contents == nil || m.now.seen.wrong != "" {
		t.Errorf("the look gave %+v", m.now.seen)
	}
	s.draw()
}

func TestASecretOfARemoteIsNeverShown(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	const conf = "[lake]\ntype = s3\nprovider = Minio\naccess_key_id = theaccesskey\nsecret_access_key = topsecret\nregion = eu-north-1\n"
	if err := os.WriteFile(os.Getenv("RCLONE_CONFIG"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	m.reload()
	m.choose(presenter.MetaRef{Type: presenter.MetaRemote, Name: "lake"})
	m.now.farForm.fold(true)
	s.draw()
	walk(s.win.Content(), func(o fyne.CanvasObject) {
		if f, ok := o.(*field); ok && (strings.Contains(f.Text, "topsecret") || strings.Contains(f.Text, "theaccess")) {
			t.Errorf("a field shows %q", f.Text)
		}
	})
	if n := objects(s.win.Content()); n > 2000 {
		t.Errorf("the form has %d objects", n)
	}
	m.now.far.Set(m.remoteOption(t, "region"), "eu-west-1")
	m.now.fill()
	s.do("save")
	if text := confOf(t); strings.TrimSpace(text) != strings.TrimSpace(strings.Replace(conf, "eu-north-1", "eu-west-1", 1)) {
		t.Errorf("the file holds %q", text)
	}
	m.now.far.Set(m.remoteOption(t, "region"), "elsewhere")
	m.now.giveUp()
	if m.now.dirty() {
		t.Error("the change was not given up")
	}
	for _, id := range []presenter.ActionID{"meta-duplicate", "meta-rename"} {
		s.do(id)
		if len(s.dialogs) != 1 {
			t.Fatalf("%s asks nothing", id)
		}
		s.draw()
		s.win.Canvas().Focused().(*field).SetText("pond-" + string(id))
		s.dialogs[0].onEnter()
	}
	if text := confOf(t); strings.Count(text, "topsecret") != 2 || !strings.Contains(text, "[pond-meta-rename]") || !strings.Contains(text, "[lake]") || strings.Contains(text, "[pond-meta-duplicate]") {
		t.Errorf("the file holds %q", text)
	}
}

func TestARemoteThatRcloneSetsUpIsOpenedWhenItIsThere(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	m.add(newRemoteTab(m, presenter.NewRemote("drive", rclone.Backend{Type: "drive", Login: true})))
	s.draw()
	if len(m.unsaved()) != 0 || !strings.Contains(said(m.now.all), "terminal") {
		t.Error("the tab does not say what to do")
	}
	if err := os.WriteFile(os.Getenv("RCLONE_CONFIG"), []byte("[drive]\ntype = drive\ntoken = topsecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do("reload")
	if m.now == nil || m.now.far == nil || !m.now.far.Stored() || len(m.open) != 1 {
		t.Fatalf("the remote was not opened: %s", s.log)
	}
	s.draw() // a lean build has no such backend
}

func TestRemovingARemoteNamesWhatUsesIt(t *testing.T) {
	s := show(t, false)
	m := s.metadata(t)
	if err := os.WriteFile(os.Getenv("RCLONE_CONFIG"), []byte("[lake]\ntype = memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "environment.json"), []byte(`{"variables":[{"name":"SLUICE_SNAPSHOTS","value":"lake:gates"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m.reload()
	m.choose(presenter.MetaRef{Type: presenter.MetaRemote, Name: "lake"})
	if m.now.where != "lake:gates" || len(m.now.farUses) == 0 {
		t.Errorf("%q, %v", m.now.where, m.now.farUses)
	}
	s.draw()
	s.do("delete")
	if len(s.dialogs) != 1 || !strings.Contains(s.dialogs[0].title, "lake") || !strings.Contains(said(s.dialogs[0].pop), "variable SLUICE_SNAPSHOTS of environment.json") {
		t.Fatal("the uses are not named")
	}
	s.draw()
	s.dialogs[0].onEnter() // Cancel is the main answer
	if !strings.Contains(confOf(t), "[lake]") {
		t.Fatal("Enter removed it")
	}
	m.now.askRemoval("lake", m.now.farUses)
	press(t, s.dialogs[0].pop, "Delete lake")
	if strings.Contains(confOf(t), "[lake]") || len(m.open) != 0 {
		t.Errorf("the file holds %q", confOf(t))
	}
}

// said is all text below an object.
func said(o fyne.CanvasObject) string {
	var all strings.Builder
	walk(o, func(o fyne.CanvasObject) {
		if l, ok := o.(*widget.Label); ok {
			all.WriteString(l.Text + "\n")
		}
	})
	return all.String()
}

func press(t *testing.T, o fyne.CanvasObject, label string) {
	t.Helper()
	var found *widget.Button
	walk(o, func(o fyne.CanvasObject) {
		if b, ok := o.(*widget.Button); ok && b.Text == label {
			found = b
		}
	})
	if found == nil {
		t.Fatalf("no button %q", label)
	}
	found.OnTapped()
}
