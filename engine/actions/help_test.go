package actions_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/engine/action"
	"sluice/engine/actions"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// bench runs single actions in a folder of its own, named by ${DIR}.
type bench struct {
	t   *testing.T
	dir string
	env *action.Env
	log *strings.Builder
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), log: &strings.Builder{}}
	var mu sync.Mutex // guards the log
	vars := project.NewVariables()
	vars.Set("DIR", b.dir)
	b.env = &action.Env{
		Action: "test", Vars: vars, Alloc: batch.NewAllocator(), Semantics: batch.DefaultSemantics(time.UTC), Location: time.UTC,
		Log: slog.New(&action.LogTee{Level: slog.LevelInfo, Line: func(l string) {
			mu.Lock()
			defer mu.Unlock()
			b.log.WriteString(l)
		}}),
		Now:   func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC) },
		Files: files.Local{}, Metadata: project.OpenMetadata(), Databases: noDatabases{}, Scopes: own{vars},
		Workflow: action.WorkflowFacts{Name: "flow"}, Stop: func() {}, EndRepeat: func() {},
	}
	t.Cleanup(func() {
		if err := b.env.Alloc.CheckLeaks(); err != nil {
			t.Error(err)
		}
	})
	return b
}

type noDatabases struct{}

func (noDatabases) DB(context.Context, string) (*sql.DB, transform.Dialect, error) {
	return nil, nil, fmt.Errorf("no database here")
}

// own sets variables in one scope.
type own struct{ vars *project.Variables }

func (o own) Set(name, value string, scope action.Scope) error {
	if scope == action.ScopeParent {
		return action.ErrNoParent
	}
	o.vars.Set(name, value)
	return nil
}

func (o own) Variable(name string, _ action.Scope) (string, bool) { return o.vars.Get(name) }

// settings decodes the settings of an action type.
func settings(t *testing.T, kind, xml string) action.Settings {
	t.Helper()
	d, err := hopxml.Parse("test", []byte("<action>"+xml+"</action>"))
	if err != nil {
		t.Fatal(err)
	}
	def, ok := actions.Registry().Find(kind)
	if !ok {
		t.Fatalf("there is no action %s", kind)
	}
	s, problems := def.Decode(d.Root())
	for _, p := range problems {
		t.Fatalf("%s: %s", p.Setting, p.Message)
	}
	return s
}

func (b *bench) run(kind, xml string, r *action.Result) error {
	b.t.Helper()
	return settings(b.t, kind, xml).Run(b.t.Context(), b.env, r)
}

// write makes a file below the folder.
func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// tree lists the files below the folder as "name=content", folders as "name/".
func (b *bench) tree() string {
	b.t.Helper()
	var list []string
	err := filepath.WalkDir(b.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == b.dir {
			return err
		}
		rel, _ := filepath.Rel(b.dir, p)
		if d.IsDir() {
			list = append(list, filepath.ToSlash(rel)+"/")
			return nil
		}
		data, err := os.ReadFile(p)
		list = append(list, filepath.ToSlash(rel)+"="+string(data))
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(list, " ")
}
