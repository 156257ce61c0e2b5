package presenter_test

import (
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/app/workspace"
)

func TestEveryTransformHasAPageOfHelp(t *testing.T) {
	pages := presenter.HelpPages()
	if len(pages) < 100 || pages[0].Title != "Designer" || pages[0].Group != "Sluice" {
		t.Fatalf("%d pages, first %+v", len(pages), pages[0].Title)
	}
	for _, d := range workspace.Registry().All() {
		if presenter.HelpOfTransform(d.ID) == "" {
			t.Errorf("%s has none", d.ID)
		}
	}
	for _, p := range pages {
		text := p.Markdown()
		if strings.TrimSpace(text) == "" || strings.Contains(text, "\n|") || strings.Contains(text, "<!--") {
			t.Errorf("%s is not what can be shown:\n%s", p.ID, text)
		}
	}
	if presenter.HelpOfTransform("NoSuchThing") != "" {
		t.Error("what is unknown has a page")
	}
}

func TestHelpIsSearched(t *testing.T) {
	pages := presenter.HelpPages()
	if got := presenter.SearchHelp(pages, "replay GATES"); len(got) == 0 || got[0].ID != "help/gates" {
		t.Errorf("%d pages", len(got))
	}
	if got := presenter.SearchHelp(pages, "filter rows"); len(got) == 0 || got[0].ID != "transforms/FilterRows" {
		t.Errorf("%d pages", len(got))
	}
	if got := presenter.SearchHelp(pages, "no such words anywhere xyzzy"); got != nil {
		t.Errorf("%d pages", len(got))
	}
	for _, p := range pages {
		if p.ID == "transforms/FilterRows" && !strings.Contains(p.Markdown(), "- **Send matching rows to**, element `send_true_to`, value transform") {
			t.Errorf("a table shows as\n%s", p.Markdown())
		}
	}
}
