package presenter_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/app/presenter"
	"sluice/engine/gate"
)

func gateForm(t *testing.T, f *presenter.File, node string) *presenter.GateForm {
	t.Helper()
	m, err := f.GateForm(node)
	must(t, err)
	return m
}

func TestAGateFormChangesWhatWasChangedOnly(t *testing.T) {
	f := openCut(t)
	settings := map[string]string{
		gate.KeyRequire: "a : String,b", gate.KeyNotNull: "b", gate.KeyUnique: "b,c", gate.KeyPolicy: "younger-than  24h", gate.KeyLimitRows: "${MOST}",
	}
	must(t, f.MarkGate("gate", settings))
	before := f.Document()
	m := gateForm(t, f, "GATE")
	want := []presenter.GateField{{"a", "String", true, false, false}, {"b", "", true, true, true}, {"c", "", false, false, true}}
	if diff := cmp.Diff(want, m.Fields); diff != "" {
		t.Error(diff)
	}
	if m.Policy != "younger-than" || m.Age != "24h" || len(m.ID) != 12 {
		t.Errorf("%+v", m)
	}
	if diff := cmp.Diff([]presenter.CutHop{{"end", "main"}}, m.Cuts); diff != "" {
		t.Error(diff)
	}
	m.Age, m.Fields[1].Key = "1h", false
	m.Problems()
	m.Age, m.Fields[1].Key = "24h", true // back again
	must(t, m.Apply())
	if f.Document() != before {
		t.Errorf("it changed without a change:\n%s", f.Document().Bytes())
	}

	m = gateForm(t, f, "gate")
	m.Fields[2].NotNull = true
	m.GetFields([]presenter.Field{{Name: "A", Type: "String"}, {Name: "d", Type: "Integer"}})
	m.Age = "soon"
	if p := m.Problems(); len(p) != 1 || !strings.Contains(p[gate.KeyPolicy], "soon") {
		t.Errorf("problems: %v", p)
	}
	m.Age = "48h"
	if p := m.Problems(); len(p) != 0 {
		t.Errorf("problems: %v", p)
	}
	must(t, m.Apply())
	g, err := f.GateOf("gate")
	must(t, err)
	got := []string{g.Settings[gate.KeyRequire], g.Settings[gate.KeyNotNull], g.Settings[gate.KeyUnique], g.Settings[gate.KeyPolicy], g.Settings[gate.KeyLimitRows]}
	if diff := cmp.Diff([]string{"a:String, b, d:Integer", "b, c", "b, c", "younger-than 48h", "${MOST}"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAGateFormOfANewGateAndOfVariables(t *testing.T) {
	f := openCut(t)
	m := gateForm(t, f, "rows")
	if m.ID != "" || m.Policy != "allow" || m.Plain {
		t.Errorf("%+v", m)
	}
	m.Plain, m.Settings[gate.KeyRequire] = true, "${FIELDS}"
	must(t, m.Apply())
	m = gateForm(t, f, "rows")
	if m.ID == "" || !m.Plain || m.Fields != nil || m.Settings[gate.KeyRequire] != "${FIELDS}" {
		t.Errorf("%+v", m)
	}
	m.Settings[gate.KeyMinRows] = "few"
	if p := m.Problems(); len(p) != 1 || p[gate.KeyMinRows] == "" || strings.Contains(p[gate.KeyMinRows], "gate setting") {
		t.Errorf("problems: %v", p)
	}
}

func TestALocationIsTested(t *testing.T) {
	f := openCut(t)
	folder := t.TempDir()
	text, err := presenter.TestLocation(t.Context(), workspaceOf(t, f), folder)
	if err != nil || !strings.HasPrefix(text, folder+" · reachable, atomic put, ") {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := presenter.TestLocation(t.Context(), workspaceOf(t, f), "nowhere:x"); err == nil {
		t.Error("an unknown remote was reached")
	}
	if _, err := presenter.Remotes(t.Context(), workspaceOf(t, f)); err != nil {
		t.Error(err)
	}
}
