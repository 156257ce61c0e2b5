package storage

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// disk is what Folder changes a disk through, so that a test can watch the
// order of writes and syncs.
type disk interface {
	IsDir(name string) bool
	Mkdir(name string, mode fs.FileMode) error
	Create(name string, mode fs.FileMode) (diskFile, error) // fails when name exists
	Rename(from, to string) error
	Link(from, to string) error
	Remove(name string) error
	SyncDir(name string) error
}

type diskFile interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

type osDisk struct{}

func (osDisk) IsDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func (osDisk) Mkdir(name string, mode fs.FileMode) error { return os.Mkdir(name, mode) }

func (osDisk) Create(name string, mode fs.FileMode) (diskFile, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) Link(from, to string) error { return os.Link(from, to) }

func (osDisk) Remove(name string) error { return os.Remove(name) }

// SyncDir makes the folder's entries durable. Windows has no such call, and
// some file systems refuse it; both write folder entries through.
func (osDisk) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if closeErr := dir.Close(); err == nil {
		err = closeErr
	}
	return err
}
