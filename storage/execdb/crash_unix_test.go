//go:build unix

package execdb_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sluice/storage"
	"sluice/storage/execdb"
)

// TestCopiesOfMoments freezes a writing process at random moments, copies the
// files as a crash would leave them, and opens the copies: whole, and cut at a
// random place of the write-ahead log, as after a power failure.
func TestCopiesOfMoments(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 3))
	dir := t.TempDir()
	c, lines := startChild(t, "wander", dir, r.Uint64())
	said, heard := saidSoFar{states: map[string]storage.State{}}, make(chan string, 1000)
	go func() {
		defer close(heard)
		for lines.Scan() {
			heard <- lines.Text()
		}
	}()
	for range 8 {
		for n := 20 + r.IntN(200); n > 0; n-- {
			line, ok := <-heard
			if !ok {
				t.Fatal("the child has ended")
			}
			said.hear(t, line)
		}
		whole, cut := t.TempDir(), t.TempDir()
		if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		err := errors.Join(copyStore(dir, whole, nil), copyStore(dir, cut, r))
		if err := c.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		promised := saidSoFar{states: maps.Clone(said.states), behind: true}
		s := open(t, whole, execdb.Options{})
		promised.kept(t, s)
		intact(t, whole)
		if n := countLog(t, s); n < said.logged {
			t.Errorf("%d log entries, at least %d were flushed", n, said.logged)
		}
		_ = s.Close()

		// What was cut off is lost, but what is left is sound.
		s = open(t, cut, execdb.Options{})
		(&saidSoFar{}).kept(t, s)
		intact(t, cut)
		_ = s.Close()
	}
}

// copyStore copies the database files; r cuts the write-ahead logs.
func copyStore(from, to string, r *rand.Rand) error {
	for _, name := range []string{"control.db", "control.db-wal", "log.db", "log.db-wal"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if r != nil && filepath.Ext(name) == ".db-wal" {
			keep := min(checkpointed(filepath.Join(from, name[:len(name)-len("-wal")])), len(data))
			data = data[:keep+r.IntN(len(data)-keep+1)]
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// checkpointed is how many bytes of the write-ahead log may be in the database
// already. They were synced before, so no power failure takes them away. The
// count stands in the shared memory file (walindex of SQLite's file format).
func checkpointed(db string) int {
	const (
		page, frameHeader, header = 4096, 24, 32
		backfillAttempted         = 128
	)
	shm, err := os.ReadFile(db + "-shm")
	if err != nil || len(shm) < backfillAttempted+4 {
		return 0
	}
	frames := int(binary.NativeEndian.Uint32(shm[backfillAttempted:]))
	return header + frames*(frameHeader+page)
}

func intact(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"control.db", "log.db"} {
		var verdict string
		if err := raw(t, filepath.Join(dir, name)).QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Errorf("%s: %s, %v", name, verdict, err)
		}
	}
}
