package snapshot_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"sluice/storage"
	"sluice/storage/storagetest"
)

// childFolder makes the test binary the writer that is killed.
const childFolder = "SLUICE_TEST_KILL_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		err := storagetest.WriteUntilKilled(context.Background(), storage.NewPrivateFolder(dir))
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestKilledWriters kills real processes that write to a real disk. The
// variable SLUICE_TEST_KILLS sets how many; the soak target uses 200.
func TestKilledWriters(t *testing.T) {
	kills := 15
	if text := os.Getenv("SLUICE_TEST_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	dir := filepath.Join(t.TempDir(), "s")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	storagetest.KillWriters(t, kills, storage.NewPrivateFolder(dir), func() *exec.Cmd {
		c := exec.Command(self)
		c.Env = append(os.Environ(), childFolder+"="+dir)
		return c
	})
}
