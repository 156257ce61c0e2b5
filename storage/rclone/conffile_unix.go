//go:build unix

package rclone

import (
	"io/fs"
	"os"
	"syscall"
)

// keepGroup gives a file the group of another one, for those who share it. Who
// may not do that gets a file of his own group.
func keepGroup(f *os.File, like fs.FileInfo) {
	if s, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(-1, int(s.Gid))
	}
}

func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
