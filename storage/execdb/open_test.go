package execdb_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"sluice/storage"
	"sluice/storage/execdb"
)

func named(name string, state storage.State) storage.NewExecution {
	var n storage.NewExecution
	n.Kind, n.Name, n.State = storage.KindPipeline, name, state
	return n
}

func begin(t *testing.T, s *execdb.Store, name string) storage.Execution {
	t.Helper()
	e, err := s.Create(t.Context(), named(name, storage.StateRunning))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// raw opens a database file beside the store.
func raw(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestFolderAndPragmas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with blank %41?#", "store")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, execdb.Options{})
	begin(t, s, "p")
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("folder is %v, %v", info.Mode(), err)
	}
	for file, application := range map[string]int64{"control.db": 0x534c5543, "log.db": 0x534c554c} {
		db := raw(t, strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.Join(dir, file)))
		var id, version, vacuum int64
		var journal string
		err := db.QueryRow(`SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
			(SELECT journal_mode FROM pragma_journal_mode), (SELECT auto_vacuum FROM pragma_auto_vacuum)`).Scan(&id, &version, &journal, &vacuum)
		if err != nil || id != application || version < 1 || journal != "wal" || vacuum != 2 {
			t.Errorf("%s: %#x %d %s %d, %v", file, id, version, journal, vacuum, err)
		}
	}
}

func TestRefusedStores(t *testing.T) {
	change := func(file, statement string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			_ = open(t, dir, execdb.Options{}).Close()
			if _, err := raw(t, filepath.Join(dir, file)).Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		options execdb.Options
		want    error
		says    string
	}{
		"newer control":  {change("control.db", "PRAGMA user_version = 999"), execdb.Options{}, execdb.ErrNewer, "update Sluice"},
		"newer log":      {change("log.db", "PRAGMA user_version = 999"), execdb.Options{}, execdb.ErrNewer, "version 999"},
		"foreign":        {change("control.db", "PRAGMA application_id = 7"), execdb.Options{}, execdb.ErrForeign, "0x7"},
		"network":        {nil, execdb.Options{}.WithNetwork("nfs"), execdb.ErrNetwork, "nfs"},
		"network forced": {nil, execdb.Options{AllowNetwork: true}.WithNetwork("nfs"), nil, ""},
		"no database": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "control.db"), []byte(strings.Repeat("garbage ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, execdb.Options{}, nil, "not a database"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			s, err := execdb.Open(t.Context(), dir, c.options)
			if err == nil {
				_ = s.Close()
			}
			switch {
			case c.want == nil && c.says == "":
				if err != nil {
					t.Error(err)
				}
			case err == nil, c.want != nil && !errors.Is(err, c.want), !strings.Contains(err.Error(), c.says), c.want != nil && storage.Hint(err) == "":
				t.Errorf("%v, want %v saying %q; hint %q", err, c.want, c.says, storage.Hint(err))
			}
		})
	}
}

// A program that stays open must not write into what a newer one has migrated.
func TestMigratedWhileOpen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, execdb.Options{})
	e := begin(t, s, "p")
	if _, err := raw(t, filepath.Join(dir, "control.db")).Exec("PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Transition(t.Context(), e.ID, storage.Change{To: storage.StateFailed}); !errors.Is(err, execdb.ErrNewer) {
		t.Errorf("write: %v", err)
	}
	if got, err := s.Execution(t.Context(), e.ID); err != nil || got.State != storage.StateRunning {
		t.Errorf("read: %s, %v", got.State, err)
	}
}

func scripts(t *testing.T, change func(fstest.MapFS)) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	err := fs.WalkDir(execdb.Scripts(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(execdb.Scripts(), name)
		all[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	change(all)
	return all
}

// The schema of today and the way that leads to it give the same database.
func TestMigrationsLeadToTheSchema(t *testing.T) {
	for _, name := range []string{"control", "log"} {
		version, today, err := execdb.SchemaOf(t.Context(), filepath.Join(t.TempDir(), "a.db"), name, execdb.Scripts())
		if err != nil {
			t.Fatal(err)
		}
		first := scripts(t, func(all fstest.MapFS) {
			for n, f := range all {
				switch {
				case strings.HasPrefix(n, "migrations/"+name+"/01-"):
					all["schema/"+name+".sql"] = f
				case strings.HasPrefix(n, "migrations/"+name+"/"):
					delete(all, n)
				}
			}
		})
		file := filepath.Join(t.TempDir(), "b.db")
		if old, _, err := execdb.SchemaOf(t.Context(), file, name, first); err != nil || old != 1 {
			t.Fatalf("version %d, %v", old, err)
		}
		now, migrated, err := execdb.SchemaOf(t.Context(), file, name, execdb.Scripts())
		if err != nil || now != version || withoutComments(migrated) != withoutComments(today) || today == "" {
			t.Errorf("%s: schema of version %d\n%s\nmigrated to %d, %v\n%s", name, version, today, now, err, migrated)
		}
	}
}

func withoutComments(schema string) string {
	return regexp.MustCompile(`\s*--[^\n]*|\s+`).ReplaceAllString(schema, " ")
}

// An older store is upgraded in place, all or nothing, and keeps its rows.
func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, execdb.Options{})
	e := begin(t, s, "p")
	_ = s.Close()
	file := filepath.Join(dir, "control.db")
	next := "migrations/control/02-next.sql"
	broken := scripts(t, func(all fstest.MapFS) {
		all[next] = &fstest.MapFile{Data: []byte("CREATE TABLE extra (x TEXT); ALTER TABLE nothing ADD COLUMN y;")}
	})
	if _, _, err := execdb.SchemaOf(t.Context(), file, "control", broken); err == nil || !strings.Contains(err.Error(), "02-next.sql") {
		t.Errorf("broken migration: %v", err)
	}
	good := scripts(t, func(all fstest.MapFS) {
		all[next] = &fstest.MapFile{Data: []byte("ALTER TABLE execution ADD COLUMN extra TEXT NOT NULL DEFAULT 'x';")}
	})
	version, schema, err := execdb.SchemaOf(t.Context(), file, "control", good)
	if err != nil || version != 2 || !strings.Contains(schema, "extra TEXT") || strings.Contains(schema, "TABLE extra") {
		t.Errorf("version %d, %v\n%s", version, err, schema)
	}
	var id, extra string
	if err := raw(t, file).QueryRow("SELECT id, extra FROM execution").Scan(&id, &extra); err != nil || id != e.ID || extra != "x" {
		t.Errorf("row %s %s, %v", id, extra, err)
	}
	if _, err := execdb.Open(t.Context(), dir, execdb.Options{}); !errors.Is(err, execdb.ErrNewer) {
		t.Errorf("this program opens a newer store: %v", err)
	}
	gap := scripts(t, func(all fstest.MapFS) { all["migrations/control/04-gap.sql"] = &fstest.MapFile{} })
	if _, _, err := execdb.SchemaOf(t.Context(), file, "control", gap); err == nil {
		t.Error("a gap in the migrations is not found")
	}
}

// A reader leaves no trace; a closed owner neither.
func TestNoTraces(t *testing.T) {
	dir := t.TempDir()
	reader, owner := open(t, dir, execdb.Options{}), open(t, dir, execdb.Options{})
	e := begin(t, owner, "p")
	if _, err := reader.Execution(t.Context(), e.ID); err != nil {
		t.Fatal(err)
	}
	locks := func() int {
		list, err := os.ReadDir(filepath.Join(dir, "processes"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := locks(); n != 1 {
		t.Errorf("%d lock files", n)
	}
	if _, err := owner.Transition(t.Context(), e.ID, storage.Change{To: storage.StateSucceeded}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(owner.Close(), owner.Close(), reader.Close()); err != nil || locks() != 0 {
		t.Errorf("%v; %d lock files left", err, locks())
	}
}
