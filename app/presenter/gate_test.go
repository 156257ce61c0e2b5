package presenter_test

import (
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
)

func TestGatesByPointing(t *testing.T) {
	text := "<pipeline>\n  <info>\n    <name>p</name>\n  </info>\n  <order>\n  </order>\n  <transform>\n    <name>rows</name>\n    <type>RowGenerator</type>\n  </transform>\n</pipeline>\n"
	d, err := hopxml.Parse("p.hpl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := presenter.NewFile(d, "p.hpl", "", presenter.NewCatalog(workspace.Registry(), workspace.Actions()))
	if err != nil {
		t.Fatal(err)
	}
	if g, err := f.GateOf("rows"); err != nil || g != nil {
		t.Fatalf("%v, %v", g, err)
	}
	if err := f.MarkGate("rows", map[string]string{gate.KeyRelease: "streaming", gate.KeyLocation: ""}); err != nil {
		t.Fatal(err)
	}
	g, err := f.GateOf("rows")
	if err != nil || g == nil || len(g.ID) != 12 || g.Settings[gate.KeyRelease] != "streaming" {
		t.Fatalf("%+v, %v", g, err)
	}
	if err := f.MarkGate("rows", map[string]string{gate.KeyRelease: "streaming"}); err != nil || f.Unsaved() != 1 {
		t.Errorf("the same settings make %d steps, %v", f.Unsaved(), err)
	}
	if err := f.MarkGate("rows", map[string]string{gate.KeyRelease: ""}); err != nil {
		t.Fatal(err)
	}
	if again, err := f.GateOf("rows"); err != nil || again.ID != g.ID || again.Settings[gate.KeyRelease] != "" {
		t.Errorf("%+v, %v", again, err)
	}
	if err := f.UnmarkGate("rows"); err != nil {
		t.Fatal(err)
	}
	if got := string(f.Document().Bytes()); strings.Contains(got, "gate") {
		t.Errorf("something of the gate is left:\n%s", got)
	}
	for f.Undo() != "" {
	}
	if got := string(f.Document().Bytes()); got != text {
		t.Errorf("after undoing everything:\n%s", got)
	}
	if p := presenter.CheckGate("rows", map[string]string{gate.KeyMaxAge: "soon"}); !strings.Contains(p, "soon") {
		t.Errorf("a bad age: %q", p)
	}
	if p := presenter.CheckGate("rows", map[string]string{gate.KeyMaxAge: "${AGE}", gate.KeyRelease: "sealed"}); p != "" {
		t.Errorf("a variable: %q", p)
	}
}
