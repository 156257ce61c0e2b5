package presenter_test

import (
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/engine/project"
)

func TestComplete(t *testing.T) {
	vars := project.NewVariables()
	for _, name := range []string{"DAY", "DATA_DIR", "Other"} {
		vars.Set(name, "x")
	}
	for _, c := range []struct {
		text, names, chosen, after string // | is the cursor
	}{
		{"|", "DATA_DIR DAY Other", "DAY", "${DAY}|"},
		{"${|", "DATA_DIR DAY Other", "DAY", "${DAY}|"},
		{"ä/${da|.csv", "DATA_DIR DAY", "DATA_DIR", "ä/${DATA_DIR}|.csv"},
		{"${DAY}/|x", "DATA_DIR DAY Other", "Other", "${DAY}/${Other}|x"},
		{"${nothing|", "", "", ""},
	} {
		head, tail, _ := strings.Cut(c.text, "|")
		cursor := len([]rune(head))
		got := presenter.Complete(head+tail, cursor, vars)
		if names := strings.Join(got.Names, " "); names != c.names {
			t.Errorf("%s offers %q", c.text, names)
		}
		if c.chosen == "" {
			continue
		}
		text, at := got.Insert(head+tail, cursor, c.chosen)
		runes := []rune(text)
		if after := string(runes[:at]) + "|" + string(runes[at:]); after != c.after {
			t.Errorf("%s with %s becomes %s", c.text, c.chosen, after)
		}
	}
}

func TestPortablePath(t *testing.T) {
	for path, want := range map[string]string{
		"/p/a/b.csv": "${PROJECT_HOME}/a/b.csv", "/p": "${PROJECT_HOME}", "/other/b.csv": "/other/b.csv", "/p2/b": "/p2/b", "/p/..x/y": "${PROJECT_HOME}/..x/y",
	} {
		if got := presenter.PortablePath("/p", path); got != want {
			t.Errorf("%s becomes %s", path, got)
		}
	}
	if got := presenter.PortablePath("", "/p/a"); got != "/p/a" {
		t.Errorf("without a project it becomes %s", got)
	}
}
