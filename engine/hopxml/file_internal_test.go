package hopxml

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// failingDisk fails at call number n; calls before it go to the real disk.
type failingDisk struct {
	osDisk
	n, calls int
}

var errDisk = errors.New("disk failure")

func (d *failingDisk) step() error {
	d.calls++
	if d.calls == d.n {
		return errDisk
	}
	return nil
}

type failingFile struct {
	diskFile
	disk *failingDisk
}

func (d *failingDisk) create(path string, mode fs.FileMode) (diskFile, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.osDisk.create(path, mode)
	return failingFile{f, d}, err
}

func (d *failingDisk) rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.rename(from, to)
}

func (d *failingDisk) syncFolder(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.osDisk.syncFolder(path)
}

// Write stops in the middle, as a full disk does.
func (f failingFile) Write(data []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		n, _ := f.diskFile.Write(data[:len(data)/2])
		return n, err
	}
	return f.diskFile.Write(data)
}

func (f failingFile) Chmod(mode fs.FileMode) error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.diskFile.Chmod(mode)
}

func (f failingFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	return f.diskFile.Sync()
}

func (f failingFile) Close() error {
	return errors.Join(f.diskFile.Close(), f.disk.step())
}

func TestAFailingSaveLeavesTheOldFile(t *testing.T) {
	const oldText, newText = "<pipeline><x>old</x></pipeline>", "<pipeline><x>new</x></pipeline>"
	const renameCall, lastCall = 6, 7 // create, write, chmod, sync, close, rename, sync of the folder
	for n := 1; ; n++ {
		path := filepath.Join(t.TempDir(), "a.hpl")
		if err := os.WriteFile(path, []byte(oldText), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if d, err = d.Apply(SetText(d.Root().Child("x").ID(), "new")); err != nil {
			t.Fatal(err)
		}
		disk := &failingDisk{n: n}
		err = d.save(path, false, disk)
		data, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if disk.calls < n {
			if err != nil || string(data) != newText || n != lastCall+1 {
				t.Errorf("without failure (%d calls): %v, %q", disk.calls, err, data)
			}
			return
		}
		if !errors.Is(err, errDisk) {
			t.Errorf("call %d fails: got %v", n, err)
		}
		want := oldText
		if n > renameCall {
			want = newText
		}
		if string(data) != want {
			t.Errorf("call %d fails: the file holds %q", n, data)
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("call %d fails: %v left behind", n, entries)
		}
		if err := d.Save(path); err != nil {
			t.Errorf("call %d failed, saving again: %v", n, err)
		}
	}
}
