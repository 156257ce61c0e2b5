package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/app/cli"
)

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	out := "OUT=" + dir
	for name, c := range map[string]struct {
		args      []string
		code      int
		out, errs []string
	}{
		"help":                     {args: nil, out: []string{"Usage:", "run", "check", "preview", "transforms", "fmt", "version", "completion"}},
		"unknown command":          {args: []string{"walk"}, code: cli.ExitUnusable, errs: []string{`unknown command "walk"`, "sluice help"}},
		"unknown flag":             {args: []string{"run", "--fast", data("orders.hpl")}, code: cli.ExitUnusable, errs: []string{"unknown flag: --fast"}},
		"version":                  {args: []string{"version"}, out: []string{"sluice " + cli.Version}},
		"version takes nothing":    {args: []string{"version", "x"}, code: cli.ExitUnusable},
		"run":                      {args: []string{"run", data("orders.hpl"), "--var", out}, errs: []string{"Pipeline started", "Pipeline ended (state=SUCCEEDED"}},
		"run without a file":       {args: []string{"run"}, code: cli.ExitUnusable, errs: []string{"give one file (0 given)"}},
		"run two files":            {args: []string{"run", "a", "b"}, code: cli.ExitUnusable, errs: []string{"give one file (2 given)"}},
		"run a missing file":       {args: []string{"run", data("none.hpl")}, code: cli.ExitUnusable, errs: []string{"there is no file " + data("none.hpl"), "check the path"}},
		"run a folder":             {args: []string{"run", "testdata"}, code: cli.ExitUnusable, errs: []string{"testdata is a folder"}},
		"run a broken file":        {args: []string{"run", data("broken.hpl")}, code: cli.ExitUnusable, errs: []string{"broken.hpl", "3"}},
		"run the unsupported":      {args: []string{"run", data("unsupported.hpl"), "--var", out}, code: cli.ExitUnusable, errs: []string{"Number", "TeaCooker", "is not supported yet"}},
		"run into errors":          {args: []string{"run", data("failing.hpl")}, code: cli.ExitErrors, errs: []string{"no more", "state=FAILED"}},
		"no parameter":             {args: []string{"run", data("orders.hpl"), "--param", "LIMIT"}, code: cli.ExitUnusable, errs: []string{`--param "LIMIT"`, "NAME=VALUE"}},
		"no variable":              {args: []string{"run", data("orders.hpl"), "--var", "=5"}, code: cli.ExitUnusable, errs: []string{`--var "=5"`}},
		"no log level":             {args: []string{"run", data("orders.hpl"), "--log-level", "loud"}, code: cli.ExitUnusable, errs: []string{"loud"}},
		"no amount of memory":      {args: []string{"run", data("orders.hpl"), "--memory", "lots"}, code: cli.ExitUnusable, errs: []string{`--memory: "lots"`, "256MiB"}},
		"no run configuration":     {args: []string{"run", data("orders.hpl"), "--var", out, "--run-config", "moon"}, code: cli.ExitUnusable, errs: []string{"moon"}},
		"no environment file":      {args: []string{"run", data("orders.hpl"), "--var", out, "--environment", "none.json"}, errs: []string{"none.json does not exist"}},
		"check":                    {args: []string{"check", data("orders.hpl"), "--var", out}, out: []string{"orders.hpl: ok"}},
		"check the unsupported":    {args: []string{"check", data("unsupported.hpl"), "--var", out}, code: cli.ExitUnusable, out: []string{"Number", "TeaCooker", "is not supported yet"}},
		"check many":               {args: []string{"check", data("orders.hpl"), data("none.hpl"), data("broken.hpl"), "--var", out}, code: cli.ExitUnusable, out: []string{"orders.hpl: ok", "there is no file", "broken.hpl: error"}},
		"check without a file":     {args: []string{"check"}, code: cli.ExitUnusable},
		"preview":                  {args: []string{"preview", data("orders.hpl"), "--transform", "number", "--rows", "3", "--var", out}, out: []string{"country", "note", "id", "DE", "<null>", "3"}},
		"preview of a sink":        {args: []string{"preview", data("orders.hpl"), "--transform", "Write", "--var", "OUT=/nowhere"}, errs: []string{"Not written: Write"}},
		"preview without a name":   {args: []string{"preview", data("orders.hpl")}, code: cli.ExitUnusable, errs: []string{"transform"}},
		"preview of nothing":       {args: []string{"preview", data("orders.hpl"), "--transform", "Nobody", "--var", out}, code: cli.ExitUnusable, errs: []string{"Nobody"}},
		"preview of no rows":       {args: []string{"preview", data("orders.hpl"), "--transform", "Make", "--rows", "0"}, code: cli.ExitUnusable, errs: []string{"at least one row"}},
		"preview of an endless":    {args: []string{"preview", data("endless.hpl"), "--transform", "Make", "--rows", "2"}, out: []string{"country", "DE"}},
		"preview of a missing":     {args: []string{"preview", data("none.hpl"), "--transform", "Make"}, code: cli.ExitUnusable, errs: []string{"there is no file"}},
		"transforms":               {args: []string{"transforms"}, out: []string{"SortRows", "Order rows by field values."}},
		"round trip":               {args: []string{"fmt", "--check", data("orders.hpl"), data("unsupported.hpl")}, out: []string{"orders.hpl: identical", "unsupported.hpl: identical"}},
		"round trip of the broken": {args: []string{"fmt", "--check", data("orders.hpl"), data("broken.hpl")}, code: cli.ExitUnusable, out: []string{"orders.hpl: identical", "broken.hpl", "3"}},
		"fmt never formats":        {args: []string{"fmt", data("orders.hpl")}, code: cli.ExitUnusable, errs: []string{"--check"}},
		"completion script":        {args: []string{"completion", "bash"}, out: []string{"__start_sluice"}},
		"completion of files":      {args: []string{"__complete", "run", ""}, out: []string{"hpl", "hwf", ":8"}},
		"completion of commands":   {args: []string{"__complete", "pre"}, out: []string{"preview\tShow the rows"}},
		"completion of folders":    {args: []string{"__complete", "run", "--project", ""}, out: []string{":16"}},
	} {
		t.Run(name, func(t *testing.T) { sluice(t, c.args...).check(t, c.code, c.out, c.errs) })
	}
	if _, err := os.Stat("/nowhere"); err == nil {
		t.Error("a preview has written")
	}
}

func TestRunWritesRows(t *testing.T) {
	dir := t.TempDir()
	sluice(t, "run", data("orders.hpl"), "--var", "OUT="+dir, "--param", "LIMIT=2").check(t, cli.ExitOK, nil, nil)
	text, err := os.ReadFile(filepath.Join(dir, "orders.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "country;note;id\nDE;;1\nDE;;2\n"; string(text) != want {
		t.Errorf("wrote %q, want %q", text, want)
	}
}

// Without a terminal there is one line for each transform at the end, and no
// control character.
func TestProgressLines(t *testing.T) {
	a := sluice(t, "run", data("orders.hpl"), "--var", "OUT="+t.TempDir())
	for _, name := range []string{"Make", "Number", "Write"} {
		line := regexp.MustCompile(`(?m)^  ` + name + ` +[05] read +[56] written +[0-9,]+ rows/s  finished$`)
		if n := len(line.FindAllString(a.err, -1)); n != 1 {
			t.Errorf("%d lines for %s", n, name)
		}
	}
	if strings.Contains(a.err, "\x1b") {
		t.Error("there are control characters")
	}
	a.check(t, cli.ExitOK, nil, nil)
}

func TestRunJSON(t *testing.T) {
	for name, c := range map[string]struct {
		file, state string
		code        int
	}{
		"success": {"orders.hpl", "SUCCEEDED", cli.ExitOK},
		"failure": {"failing.hpl", "FAILED", cli.ExitErrors},
	} {
		t.Run(name, func(t *testing.T) {
			a := sluice(t, "run", data(c.file), "--json", "--var", "OUT="+t.TempDir())
			a.check(t, c.code, nil, nil)
			var got struct {
				ID             string `json:"execution_id"`
				State          string
				Started, Ended time.Time
				Transforms     []map[string]any
			}
			if err := json.Unmarshal([]byte(a.out), &got); err != nil {
				t.Fatalf("standard output is not one JSON object: %v\n%s", err, a.out)
			}
			if got.ID == "" || got.State != c.state || got.Started.IsZero() || got.Ended.Before(got.Started) || len(got.Transforms) != 3 {
				t.Errorf("%+v", got)
			}
			for _, m := range got.Transforms {
				for _, key := range []string{"name", "copy", "read", "written", "input", "output", "updated", "rejected", "errors", "rows_per_s", "state"} {
					if _, ok := m[key]; !ok {
						t.Errorf("transform %v has no %s", m["name"], key)
					}
				}
			}
			if m := got.Transforms[1]; m["name"] != "Number" || m["read"] != 5.0 && c.code == cli.ExitOK {
				t.Errorf("%v", m)
			}
		})
	}
}

func TestTransformsJSON(t *testing.T) {
	a := sluice(t, "transforms", "--json")
	a.check(t, cli.ExitOK, nil, nil)
	var list []struct {
		ID, Name, Category, Summary string
		Sink                        bool
		HandlesErrors               bool `json:"handles_errors"`
	}
	if err := json.Unmarshal([]byte(a.out), &list); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, d := range list {
		if d.ID == "" || d.Name == "" || d.Category == "" || d.Summary == "" {
			t.Errorf("%+v", d)
		}
		found = found || d.ID == "TextFileOutput" && d.Sink
	}
	if !found {
		t.Error("TextFileOutput is not there as a sink")
	}
}
