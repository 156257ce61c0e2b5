package spill_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/spill"
	"sluice/engine/transform"
)

func writeBlocks(t *testing.T, d *spill.Dir, blocks [][]byte) transform.BlockFile {
	t.Helper()
	f, err := d.CreateBlocks()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestBlocksComeBackToEachReader(t *testing.T) {
	base := t.TempDir()
	d := spill.NewDir(base, batch.NewAllocator())
	want := [][]byte{[]byte("one"), {}, bytes.Repeat([]byte("two"), 100_000), {0}}
	f := writeBlocks(t, d, want)
	if f.Bytes() != d.Bytes() || f.Bytes() < 300_004 {
		t.Errorf("%d bytes in the file, %d in the folder", f.Bytes(), d.Bytes())
	}
	for range 2 {
		r := f.Reader()
		var room []byte
		for i, w := range want {
			got, err := r.Next(room)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, w) {
				t.Errorf("block %d: %d bytes differ from %d written", i, len(got), len(w))
			}
			room = got
		}
		if _, err := r.Next(room); !errors.Is(err, io.EOF) {
			t.Errorf("after the last block: %v", err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(base, "*", "*")); len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedBlocksAreNoticed changes each byte of a file in turn, and cuts it.
func TestDamagedBlocksAreNoticed(t *testing.T) {
	base := t.TempDir()
	d := spill.NewDir(base, batch.NewAllocator())
	defer func() { _ = d.Close() }()
	f := writeBlocks(t, d, [][]byte{[]byte("some bytes"), []byte("and more")})
	names, _ := filepath.Glob(filepath.Join(base, "*", "*"))
	if len(names) != 1 {
		t.Fatalf("files %v", names)
	}
	good, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, i int, content []byte) {
		t.Helper()
		if err := os.WriteFile(names[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		r := f.Reader()
		for n := 0; ; n++ {
			_, err := r.Next(nil)
			if errors.Is(err, io.EOF) {
				t.Errorf("%s at byte %d was not noticed in %d blocks", what, i, n)
			}
			if err != nil {
				return
			}
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		check("damage", i, bad)
		check("a cut", i, good[:i])
	}
}
