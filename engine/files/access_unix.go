//go:build unix

package files

import (
	"errors"
	"syscall"
)

const (
	readable = 4
	writable = 2
)

func accessible(path string, mode uint32) bool { return syscall.Access(path, mode) == nil }

func crossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }
