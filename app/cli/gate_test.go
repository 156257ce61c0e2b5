package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/app/cli"
)

// gated copies the sample pipeline and gives it a gate at "number", its
// snapshots in a folder of the test.
func gated(t *testing.T) (file, location string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("SLUICE_DATA", filepath.Join(dir, "data"))
	t.Setenv("SLUICE_CACHE", filepath.Join(dir, "cache"))
	t.Setenv("RCLONE_CONFIG", filepath.Join(dir, "rclone.conf"))
	t.Setenv("SLUICE_SNAPSHOTS", "")
	text, err := os.ReadFile(data("orders.hpl"))
	if err != nil {
		t.Fatal(err)
	}
	file, location = filepath.Join(dir, "orders.hpl"), filepath.Join(dir, "snapshots")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	sluice(t, "gate", "mark", file, "--transform", "number", "--location", location, "--set", "min-rows=1").check(t, cli.ExitOK, []string{"gate ", `"Number"`}, nil)
	return file, location
}

func edit(t *testing.T, file, old, text string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), old) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), old, text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestGatesFromMarkToPrune(t *testing.T) {
	file, location := gated(t)
	out := "OUT=" + t.TempDir()
	sluice(t, "gate", "list", file).check(t, cli.ExitOK, []string{"Number", "min-rows=1"}, nil)
	sluice(t, "check", file, "--var", out).check(t, cli.ExitOK, []string{"ok"}, nil)
	sluice(t, "run", file, "--var", out, "--param", "LIMIT=4").check(t, cli.ExitOK, nil, []string{"SEALED Number: 4 rows"})
	var list []struct{ Snapshot, State, Transform string }
	if err := json.Unmarshal([]byte(sluice(t, "snapshots", "list", "--location", location, "--json").out), &list); err != nil || len(list) != 1 || list[0].State != "SEALED" {
		t.Fatalf("%v %+v", err, list)
	}
	id := list[0].Snapshot[:13]
	sluice(t, "snapshots", "show", id, "--file", file).check(t, cli.ExitOK, []string{"SEALED", "main:0, 4 rows", "LIMIT=4"}, nil)
	sluice(t, "snapshots", "verify", id, "--location", location).check(t, cli.ExitOK, []string{"ok", "full"}, nil)
	sluice(t, "snapshots", "export", id, "--location", location, "--to", "-").check(t, cli.ExitOK, []string{"country,note,id\nDE,"}, nil)
	csv, parquet := filepath.Join(t.TempDir(), "x.csv"), filepath.Join(t.TempDir(), "x.parquet")
	sluice(t, "snapshots", "export", id, "--location", location, "--to", csv).check(t, cli.ExitOK, []string{"4 rows"}, nil)
	sluice(t, "snapshots", "export", id, "--location", location, "--to", parquet, "--json").check(t, cli.ExitOK, []string{`"rows": 4`}, nil)
	if b, err := os.ReadFile(parquet); err != nil || !strings.HasPrefix(string(b), "PAR1") {
		t.Errorf("%v", err)
	}

	sluice(t, "run", file, "--var", out, "--from-gate", "Number", "--snapshot", id).check(t, cli.ExitOK, nil, []string{"REUSED Number: 4 rows", "variable LIMIT"})
	sluice(t, "run", file, "--var", out, "--from-gate", "number", "--param", "LIMIT=9").check(t, cli.ExitRefused, nil, []string{"replay refused", "LIMIT", `"4"`, `"9"`})
	sluice(t, "run", file, "--var", out, "--from-gate", "number", "--param", "LIMIT=9", "--override", "variable").check(t, cli.ExitUnusable, nil, []string{"--reason"})
	sluice(t, "run", file, "--var", out, "--from-gate", "number", "--param", "LIMIT=9", "--override", "variable", "--reason", "a test", "--json").check(t, cli.ExitOK, []string{`"override_reason": "a test"`, `"overridden": true`}, nil)
	sluice(t, "run", file, "--var", out, "--from-gate", "Nobody").check(t, cli.ExitRefused, nil, []string{`"Nobody" is no gate`})
	sluice(t, "run", file, "--var", out, "--from-gate", "number", "--snapshot", "0000").check(t, cli.ExitRefused, nil, []string{"replay refused"})

	sluice(t, "run", file, "--var", out, "--param", "LIMIT=5").check(t, cli.ExitOK, nil, nil)
	sluice(t, "snapshots", "diff", id, "latest", "--file", file).check(t, cli.ExitErrors, []string{"4 rows, then 5", "row 5"}, nil)
	sluice(t, "snapshots", "diff", id, id, "--file", file).check(t, cli.ExitOK, []string{"the same schemas and rows"}, nil)
	sluice(t, "snapshots", "pin", id, "--location", location, "--name", "mine").check(t, cli.ExitOK, []string{"pinned as mine"}, nil)
	prune := []string{"snapshots", "prune", "--location", location, "--executions", "1", "--orphans"}
	sluice(t, append(prune, "--dry-run")...).check(t, cli.ExitOK, []string{"keep", "0 B would be freed"}, nil)
	sluice(t, "snapshots", "unpin", id, "--location", location, "--name", "mine").check(t, cli.ExitOK, nil, nil)
	sluice(t, append(prune, "--dry-run")...).check(t, cli.ExitOK, []string{"prune"}, nil)
	sluice(t, "snapshots", "verify", id, "--location", location).check(t, cli.ExitOK, []string{"ok"}, nil)
	sluice(t, prune...).check(t, cli.ExitOK, []string{"prune", "freed"}, nil)
	sluice(t, "run", file, "--var", out, "--from-gate", "number", "--snapshot", id).check(t, cli.ExitRefused, nil, []string{"PRUNED"})
	sluice(t, "snapshots", "list", "--location", location).check(t, cli.ExitOK, []string{"PRUNED", "SEALED"}, nil)

	sluice(t, "gate", "unmark", file, "--transform", "number").check(t, cli.ExitOK, nil, nil)
	if now, err := os.ReadFile(file); err != nil || strings.Contains(string(now), "gate") || strings.Contains(string(now), "<group>") {
		t.Errorf("unmarking leaves something: %v %s", err, now)
	}
}

func TestTamperingIsFoundFromTheCommandLine(t *testing.T) {
	file, location := gated(t)
	out := "OUT=" + t.TempDir()
	sluice(t, "run", file, "--var", out).check(t, cli.ExitOK, nil, nil)
	segments, err := filepath.Glob(filepath.Join(location, "*", "*", "*.parquet"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("%v %v", segments, err)
	}
	b, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(segments[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	sluice(t, "snapshots", "verify", "--location", location).check(t, cli.ExitErrors, []string{"DAMAGED"}, nil)
	sluice(t, "run", file, "--var", out, "--from-gate", "number").check(t, cli.ExitRefused, nil, []string{"segments"})
	sluice(t, "run", file, "--var", out, "--from-gate", "number", "--quick").check(t, cli.ExitErrors, nil, []string{"corrupt"})
}

func TestGateCommandsRefuseClearly(t *testing.T) {
	file, location := gated(t)
	out := "OUT=" + t.TempDir()
	for name, c := range map[string]struct {
		args []string
		code int
		errs []string
	}{
		"mark of nothing":          {[]string{"gate", "mark", file, "--transform", "Nobody"}, cli.ExitUnusable, []string{"Nobody", "it has"}},
		"unknown setting":          {[]string{"gate", "mark", file, "--transform", "number", "--set", "colour=red"}, cli.ExitUnusable, []string{"colour", "min-rows"}},
		"bad setting":              {[]string{"gate", "mark", file, "--transform", "number", "--set", "policy=perhaps"}, cli.ExitUnusable, []string{"policy", "allow"}},
		"secret in a location":     {[]string{"gate", "mark", file, "--transform", "number", "--location", ":s3,secret_access_key=hidden:b"}, cli.ExitUnusable, []string{"rclone.conf"}},
		"unmark of nothing":        {[]string{"gate", "unmark", file, "--transform", "Make"}, cli.ExitUnusable, []string{"not marked"}},
		"unknown remote":           {[]string{"snapshots", "list", "--location", "nowhere:x"}, cli.ExitUnusable, []string{"nowhere", "sluice remotes list"}},
		"no such snapshot":         {[]string{"snapshots", "show", "0000", "--location", location}, cli.ExitUnusable, []string{"no snapshot 0000"}},
		"no such gate":             {[]string{"snapshots", "list", "--file", file, "--gate", "Nobody"}, cli.ExitUnusable, []string{`no gate "Nobody"`}},
		"a snapshot without gate":  {[]string{"run", file, "--var", out, "--snapshot", "latest"}, cli.ExitUnusable, []string{"--from-gate"}},
		"safe and from a gate":     {[]string{"run", file, "--var", out, "--safe", "--from-gate", "number"}, cli.ExitUnusable, []string{"exclude each other"}},
		"nothing was sealed yet":   {[]string{"run", file, "--var", out, "--from-gate", "number"}, cli.ExitRefused, []string{"no snapshot of this gate"}},
		"test of an unknown place": {[]string{"remotes", "test", "nowhere:x"}, cli.ExitErrors, []string{"nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := sluice(t, c.args...)
			a.check(t, c.code, nil, c.errs)
			if strings.Contains(a.err+a.out, "hidden") {
				t.Error("the secret is shown")
			}
		})
	}
}

func TestSafeRunsAndTheDevCacheFromTheCommandLine(t *testing.T) {
	file, _ := gated(t)
	out := "OUT=" + t.TempDir()
	sluice(t, "run", file, "--var", "OUT="+file+"/below", "--safe").check(t, cli.ExitErrors, nil, nil)
	sluice(t, "run", file, "--var", out, "--safe").check(t, cli.ExitOK, nil, []string{"REUSED Number"})
	sluice(t, "cache", "mark", file, "--transform", "Make", "--rows", "2").check(t, cli.ExitOK, nil, nil)
	sluice(t, "run", file, "--var", out, "--from-cache").check(t, cli.ExitOK, nil, []string{"nothing is cached yet"})
	sluice(t, "run", file, "--var", out, "--from-cache").check(t, cli.ExitOK, nil, []string{"REUSED Make: 2 rows"})
	sluice(t, "cache", "list", file).check(t, cli.ExitOK, []string{"Make: SEALED, 2 rows"}, nil)
	sluice(t, "cache", "clear", file).check(t, cli.ExitOK, []string{"freed"}, nil)
	sluice(t, "cache", "unmark", file, "--transform", "Make").check(t, cli.ExitOK, nil, nil)
	sluice(t, "disk", "--json").check(t, cli.ExitOK, []string{`"dev cache"`, `"prunable_bytes"`}, nil)
	sluice(t, "remotes", "list", "--json").check(t, cli.ExitOK, []string{"["}, nil)
}

func TestMarksThatCannotBeTrustedStopRunAndCheck(t *testing.T) {
	file, _ := gated(t)
	edit(t, file, "<name>Number</name>", "<name>counter</name>")
	edit(t, file, "<key>id</key>", "<key>lost</key>")
	out := "OUT=" + t.TempDir()
	sluice(t, "check", file, "--var", out).check(t, cli.ExitUnusable, []string{"belongs to no node", "sluice gate unmark"}, nil)
	sluice(t, "run", file, "--var", out).check(t, cli.ExitUnusable, nil, []string{"belongs to no node", "sluice gate unmark"})
}
