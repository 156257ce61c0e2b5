package presenter_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/expr"
	"sluice/engine/transform"
)

func form(t *testing.T, f *presenter.File, name string) *presenter.Form {
	t.Helper()
	fm, ok := f.Form(presenter.ElementID(id(t, f, name)))
	if !ok {
		t.Fatalf("%s has no form", name)
	}
	return fm
}

func entry(t *testing.T, fm *presenter.Form, key string) *transform.Entry {
	t.Helper()
	i := slices.IndexFunc(fm.Entries, func(e transform.Entry) bool { return e.Setting.Key() == key })
	if i < 0 {
		t.Fatalf("the form has no %s", key)
	}
	return &fm.Entries[i]
}

func TestAFormWithoutChangesIsNoEdit(t *testing.T) {
	f := openSample(t)
	for _, n := range f.Nodes() {
		fm := form(t, f, n.Name)
		if fm.Changed() {
			t.Errorf("%s: an untouched form counts as changed", n.Name)
		}
		must(t, fm.Apply())
		if p := fm.Problems(); len(p) != 0 {
			t.Errorf("%s: problems of the sample: %v", n.Name, p)
		}
	}
	if f.Dirty() || f.CanUndo() != "" {
		t.Errorf("untouched forms made the step %q", f.CanUndo())
	}
}

func TestAFormIsOneStepOfUndo(t *testing.T) {
	f := openSample(t)
	before := f.Document().Bytes()
	fm := form(t, f, "Sort by country")
	fm.Name, fm.Description = "Sorted", "by country"
	keys := entry(t, fm, "fields>field")
	at := presenter.AddRow(keys, 0)
	keys.Rows[at][0].Text = "quantity"
	presenter.MoveRow(keys, at, -1)
	must(t, fm.Apply())
	n, ok := f.NodeNamed("Sorted")
	if !ok || n.Description != "by country" || n.Element.Child("fields").All("field")[0].Child("name").Text() != "quantity" {
		t.Errorf("the form is not in the file:\n%s", n.Element.Raw())
	}
	if hopOf(f, "Order value", "Sorted") == "" {
		t.Error("the hops did not follow the new name")
	}
	if f.Undo() != "edit Sort by country" || !bytes.Equal(f.Document().Bytes(), before) {
		t.Error("one undo does not take the form back")
	}
}

func TestProblemsOfAForm(t *testing.T) {
	f := openSample(t)
	fm := form(t, f, "Sort by country")
	fm.Name = "orders"
	keys := entry(t, fm, "fields>field")
	presenter.AddRow(keys, -1)
	for i := range fm.Entries {
		if s := fm.Entries[i].Setting; s.Kind == transform.KindExpr && s.Min != "" {
			fm.Entries[i].Text = "-5"
		}
	}
	got := map[string]string{}
	for _, p := range fm.Problems() {
		got[p.Setting] = p.Message
	}
	row := presenter.RowPath(keys.Setting, len(keys.Rows)-1, keys.Rows[0][0].Setting)
	if got[presenter.NameSetting] != "Another transform has this name" || !strings.Contains(got[row], "empty") {
		t.Errorf("problems: %v (want one at %s)", got, row)
	}
	fm.Name = " "
	if p := fm.Problems(); p[0].Message != "The name is empty" {
		t.Errorf("problems: %v", p)
	}
}

func TestGetFields(t *testing.T) {
	f := openSample(t)
	ws, err := workspace.Open(workspace.Options{File: f.Path(), Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	d := presenter.Infer(context.Background(), ws, f.Pipeline(), f.Path())
	if d.Err != nil {
		t.Fatal(d.Err)
	}
	fields := d.Inputs["sort by country"]
	names := func(list []presenter.Field) (out []string) {
		for _, f := range list {
			out = append(out, f.Name)
		}
		return out
	}
	if !slices.Contains(names(fields), "country") || !slices.Contains(names(fields), "status") {
		t.Errorf("fields at the sort: %v", names(fields))
	}
	if out := names(d.Outputs["turnover per country"]); len(out) == 0 || slices.Contains(out, "status") {
		t.Errorf("fields of the group: %v", out)
	}
	fm := form(t, f, "Sort by country")
	keys := entry(t, fm, "fields>field")
	had := len(keys.Rows)
	n := presenter.FillFields(keys, fields)
	if n != len(fields)-had || len(keys.Rows) != len(fields) || presenter.FillFields(keys, fields) != 0 {
		t.Errorf("%d fields added to %d of %d", n, had, len(fields))
	}
}

func TestInferOverTheSuiteNeitherPanicsNorHangs(t *testing.T) {
	known, pipelines := 0, 0
	for _, path := range suite(t) {
		if !strings.HasSuffix(path, ".hpl") {
			continue
		}
		f := openFile(t, path)
		ws, err := workspace.Open(workspace.Options{File: path, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			continue
		}
		pipelines++
		if d := presenter.Infer(context.Background(), ws, f.Pipeline(), path); len(d.Outputs) > 0 {
			known++
		}
		for _, n := range f.Nodes() {
			if fm, ok := f.Form(n.ID); ok && fm.Changed() {
				t.Errorf("%s: %s: an untouched form counts as changed", path, n.Name)
			}
		}
	}
	if known*10 < pipelines*7 {
		t.Errorf("fields are known in %d of %d pipelines", known, pipelines)
	}
}

func TestCondition(t *testing.T) {
	f := openSample(t)
	before := f.Document().Bytes()
	fm := form(t, f, "Is it a sale?")
	if !fm.HasCondition || presenter.ConditionText(fm.Condition) != "status <> 'cancelled'" {
		t.Fatalf("condition: %s", presenter.ConditionText(fm.Condition))
	}
	group := presenter.AsGroup(fm.Condition)
	if presenter.Simplified(group); fm.Changed() {
		t.Error("looking at a condition changes it")
	}
	atom := presenter.NewAtom(group, "quantity")
	atom.Function, atom.Constant.Text = expr.Larger, "3"
	group.Children = append(group.Children, atom)
	presenter.SetAnyOf(group, true)
	fm.Condition = presenter.Simplified(group)
	must(t, fm.Apply())
	again := form(t, f, "Is it a sale?")
	if got := presenter.ConditionText(again.Condition); got != "(status <> 'cancelled' OR quantity > '3')" {
		t.Errorf("written and read: %s", got)
	}
	f.Undo()
	if !bytes.Equal(f.Document().Bytes(), before) {
		t.Error("undo does not give the condition back")
	}
}
