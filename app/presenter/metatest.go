package presenter

import (
	"context"
	"errors"
	"strings"
	"time"

	"sluice/engine/database"
	"sluice/engine/project"
	"sluice/storage"
	"sluice/storage/rclone"
	"sluice/storage/snapshot"
)

// MetaStep is one line of a test's result.
type MetaStep struct {
	State  Level
	Name   string
	Detail string // what was found, or what is wrong and what to try
	Took   time.Duration
}

// Level is how good something is.
type Level int

// The levels.
const (
	LevelGood Level = iota
	LevelPlain
	LevelWarn
	LevelBad
)

// MetaReport is the outcome of a test. Nothing of it is stored.
type MetaReport struct {
	Title string
	State Level
	At    time.Time
	Steps []MetaStep
}

// Testable tells whether elements of a type can be tested.
func (t MetaType) Testable() bool { return t.Key == project.TypeRDBMS || t.Key == MetaRemote }

// TestConnection tries a database connection as the draft has it and tells of each
// step. It changes nothing; a cancelled context ends it.
func TestConnection(ctx context.Context, o *project.Object, scope *project.Variables, now func() time.Time, each func(MetaStep)) MetaReport {
	r := MetaReport{At: now()}
	add := func(s MetaStep) {
		r.Steps = append(r.Steps, s)
		each(s)
	}
	connection, err := project.RDBMSOf(o)
	if err != nil {
		message, _ := Explain(err)
		add(MetaStep{State: LevelBad, Name: "Read the settings", Detail: message})
		return r.finish(ctx, err, "Test failed")
	}
	err = database.Probe(ctx, connection, scope, func(s database.Step) {
		step := MetaStep{Name: s.Name, Detail: s.Remark, Took: s.Took}
		if s.Err != nil {
			message, hint := Explain(s.Err)
			if s.Hint != "" {
				hint = s.Hint
			}
			step.State, step.Detail = LevelBad, joinHint(message, hint)
		}
		add(step)
	})
	return r.finish(ctx, err, "Test failed")
}

func joinHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "; " + hint
}

func (r MetaReport) finish(ctx context.Context, err error, failed string) MetaReport {
	r.Title = "Test passed"
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		r.State, r.Title = LevelPlain, "Test cancelled"
	case err != nil:
		r.State, r.Title = LevelBad, failed
	}
	return r
}

// TestRemote writes, reads and removes a small object at a location of a remote and
// tells of each step.
func TestRemote(ctx context.Context, client *rclone.Client, l storage.Location, now func() time.Time, each func(MetaStep)) MetaReport {
	return testRemote(ctx, now, each, func(step func(rclone.Step)) *rclone.Report { return client.TestEach(ctx, l, step) })
}

func testRemote(ctx context.Context, now func() time.Time, each func(MetaStep), try func(func(rclone.Step)) *rclone.Report) MetaReport {
	r := MetaReport{At: now()}
	report := try(func(s rclone.Step) {
		step := MetaStep{Name: remoteStep(s.Name), Detail: s.Remark, Took: s.Took}
		switch {
		case s.Err != nil:
			message, hint := Explain(s.Err)
			if h := snapshot.Hint(s.Err); h != "" {
				hint = h
			}
			step.State, step.Detail = LevelBad, joinHint(message, hint)
		case s.Skipped:
			step.State, step.Detail = LevelPlain, "not offered by this backend; not needed"
		case s.Remark != "" && s.Name == "list":
			step.State = LevelWarn
		}
		r.Steps = append(r.Steps, step)
		each(step)
	})
	r = r.finish(ctx, report.Err(), "Test failed, not good for gates")
	if r.State == LevelGood {
		r.Title = "Test passed, good for gates"
	}
	return r
}

func remoteStep(name string) string {
	known := map[string]string{
		"open": "Connect", "write": "Write in one put", "read back": "Read back and compare", "replace": "Replace", "list": "Listed at once",
		"rename": "Rename", "create if absent": "Create only if absent", "hash": "Hash of the server", "delete": "Delete",
	}
	if text := known[name]; text != "" {
		return text
	}
	return name
}

// RemoteSource says where a remote is set up.
func RemoteSource(r rclone.Info) string {
	if r.Source == "environment" {
		return "the environment, as RCLONE_CONFIG_" + strings.ToUpper(r.Name) + "_…"
	}
	return "rclone.conf"
}
