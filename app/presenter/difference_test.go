package presenter_test

import (
	"fmt"
	"slices"
	"testing"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/hopxml"
)

func TestDifferencesNameWhatChanged(t *testing.T) {
	f := openSample(t)
	before := f.Document()
	if list, err := presenter.Differences(before, before); err != nil || len(list) != 0 {
		t.Errorf("a file differs from itself: %v, %v", list, err)
	}
	n, _ := f.NodeNamed("Sort by country")
	must(t, f.Do("set", hopxml.SetChild(n.ID, "sort_size", "77", hopxml.Canonical()), hopxml.SetChild(n.ID, "password", "secret", hopxml.Canonical())))
	must(t, f.Move("move", map[scene.Ref]scene.Point{scene.NodeRef(id(t, f, "Orders")): {X: 51, Y: 53}}))
	place(t, f, presenter.Placed{Type: "Dummy", At: scene.Point{X: 400, Y: 600}, From: id(t, f, "Orders")})
	must(t, f.Delete([]scene.Ref{scene.NodeRef(id(t, f, "Customers"))}))
	must(t, f.AddNote(scene.Point{X: 10, Y: 20}, "mine"))
	list, err := presenter.Differences(f.Document(), before)
	must(t, err)
	var got []string
	for _, d := range list {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s", d.Where, d.What, d.Yours, d.Theirs))
	}
	for _, want := range []string{
		"Sort by country|sort_size|77|1000000", "Sort by country|password|••••|",
		"Dummy (do nothing)|transform|Dummy|", "Customers|transform||CSVInput", "Hop|Orders → Dummy (do nothing)|enabled|",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if !slices.ContainsFunc(list, func(d presenter.Difference) bool { return d.Where == "Orders" && d.What == "place" }) {
		t.Errorf("the move is missing in %q", got)
	}
	if len(list) > 14 {
		t.Errorf("%d differences for five edits: %q", len(list), got)
	}
}
