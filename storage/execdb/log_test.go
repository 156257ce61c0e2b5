package execdb_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/execdb"
	"sluice/storage/storagetest"
)

// Entries of many goroutines all arrive, each goroutine's in order, also those
// that were still waiting when the store was closed.
func TestNoLogEntryIsLost(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 12_500
	dir := t.TempDir()
	s := open(t, dir, execdb.Options{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := s.Log(t.Context(), storage.LogEntry{Execution: fmt.Sprintf("e%d", w), Root: "r", Copy: i, Text: "line"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, execdb.Options{})
	next := map[string]int{}
	for q := (storage.LogQuery{Root: "r", Limit: 7001}); ; {
		page, err := s.Logs(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if e.Copy != next[e.Execution] {
				t.Fatalf("%s: entry %d, want %d", e.Execution, e.Copy, next[e.Execution])
			}
			next[e.Execution]++
		}
		if q.After = page.Next; !page.More {
			break
		}
	}
	for w := range writers {
		if n := next[fmt.Sprintf("e%d", w)]; n != each {
			t.Errorf("writer %d: %d of %d entries", w, n, each)
		}
	}
}

// While the log cannot be written, entries wait; none is lost when it can be
// written again, and the end tells of what never could.
func TestLogOfAFailingDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, execdb.Options{FlushEvery: time.Hour})
	db := raw(t, filepath.Join(dir, "log.db"))
	exec := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TRIGGER broken BEFORE INSERT ON entry BEGIN SELECT raise(ABORT, 'disk is full'); END")
	for i := range 100 {
		if err := s.Log(t.Context(), storage.LogEntry{Execution: "e", Copy: i}); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := s.Logs(t.Context(), storage.LogQuery{}); err != nil || len(page.Entries) != 0 {
		t.Fatalf("%d entries, %v", len(page.Entries), err)
	}
	var full error
	for range 40 {
		if full = s.Log(t.Context(), make1000()...); full != nil {
			break
		}
	}
	if full == nil || !strings.Contains(full.Error(), "disk is full") {
		t.Errorf("memory grows without bound, or nobody is told: %v", full)
	}
	exec("DROP TRIGGER broken")
	page, err := s.Logs(t.Context(), storage.LogQuery{Execution: "e", Limit: 1000})
	if err != nil || len(page.Entries) != 100 || page.Entries[99].Copy != 99 {
		t.Errorf("%d entries, %v", len(page.Entries), err)
	}
	exec("CREATE TRIGGER broken BEFORE INSERT ON entry BEGIN SELECT raise(ABORT, 'disk is full'); END")
	if err := s.Log(t.Context(), storage.LogEntry{Execution: "e"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "1 log entries are lost") {
		t.Errorf("close: %v", err)
	}
}

func make1000() []storage.LogEntry {
	list := make([]storage.LogEntry, 1000)
	for i := range list {
		list[i].Execution = "many"
	}
	return list
}

// TestNoSecretOnDisk looks for planted secrets in every byte of every file.
func TestNoSecretOnDisk(t *testing.T) {
	dir := t.TempDir()
	var values storage.SecretValues
	values.Add(storagetest.Secrets...)
	s := open(t, dir, execdb.Options{Redact: values.Redact, Who: "ada"})
	storagetest.PlantSecrets(t, s, storagetest.Secrets)
	if _, err := s.Logs(t.Context(), storage.LogQuery{}); err != nil {
		t.Fatal(err)
	}
	scan := func(moment string) {
		t.Helper()
		seen := 0
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			seen += bytes.Count(data, []byte(storage.RedactedText))
			for _, secret := range storagetest.Secrets {
				for _, form := range []string{secret, strings.ReplaceAll(secret, `"`, `\"`), strings.ReplaceAll(strings.ReplaceAll(secret, `\`, `\\`), `"`, `\"`)} {
					if bytes.Contains(data, []byte(form)) {
						t.Errorf("%s: %s holds %q", moment, name, form)
					}
				}
			}
			return err
		})
		if err != nil || seen < 100 {
			t.Errorf("%s: %d redactions seen, %v", moment, seen, err)
		}
	}
	scan("open")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	scan("closed")
}

// BenchmarkLog10000 is one second's load of the requirement: 10,000 entries
// from four goroutines, and the wait until they are durable.
func BenchmarkLog10000(b *testing.B) {
	s, err := execdb.Open(b.Context(), b.TempDir(), execdb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for b.Loop() {
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 2500 {
					_ = s.Log(b.Context(), storage.LogEntry{Execution: "e", Node: "Load orders", Copy: g, Text: "row batch written to the target", Data: storage.ProgressEntry{Counts: storage.Counts{Read: int64(i)}}})
				}
			})
		}
		wg.Wait()
		if _, err := s.Logs(b.Context(), storage.LogQuery{Limit: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

// BenchmarkList10000 lists 10,000 executions: on one page, and page by page.
func BenchmarkList10000(b *testing.B) {
	s, err := execdb.Open(b.Context(), b.TempDir(), execdb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := execdb.Fill(b.Context(), s, 10_000); err != nil {
		b.Fatal(err)
	}
	for name, q := range map[string]storage.ExecutionQuery{
		"one page": {Limit: 20_000}, "pages of 1000": {Limit: 1000}, "roots by name": {Limit: 20_000, Name: "orders", RootsOnly: true},
		"failed": {Limit: 20_000, States: []storage.State{storage.StateFailed}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n := 0
				for q := q; ; {
					page, err := s.Executions(b.Context(), q)
					if err != nil {
						b.Fatal(err)
					}
					n += len(page.Executions)
					if q.After = page.Next; page.Next == "" {
						break
					}
				}
				if n < 1000 {
					b.Fatalf("%d executions", n)
				}
			}
		})
	}
}
