package storage

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32            = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx          = kernel32.NewProc("LockFileEx")
	getDiskFreeSpaceExW = kernel32.NewProc("GetDiskFreeSpaceExW")
)

const (
	lockfileFailImmediately = 1
	lockfileExclusiveLock   = 2

	errorLockViolation = syscall.Errno(33)
	errorIOPending     = syscall.Errno(997)
	errorHandleDisk    = syscall.Errno(39)
	errorDiskFull      = syscall.Errno(112)
	errorWriteProtect  = syscall.Errno(19)
)

// LockFile takes an exclusive lock on an open file without waiting. Closing
// the file frees it, and so does the end of the process. ErrLocked when
// another open file has it, in this process or another one.
//
// Locks of Windows forbid reading the locked range, so it is one byte far
// behind the end of any file.
func LockFile(f *os.File) error {
	at := syscall.Overlapped{Offset: 0, OffsetHigh: 1 << 30}
	ok, _, err := lockFileEx.Call(f.Fd(), lockfileFailImmediately|lockfileExclusiveLock, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok != 0 {
		return nil
	}
	if errors.Is(err, errorLockViolation) || errors.Is(err, errorIOPending) {
		return ErrLocked
	}
	return err
}

func isFull(err error) bool {
	return errors.Is(err, errorHandleDisk) || errors.Is(err, errorDiskFull)
}

func isReadOnly(err error) bool { return errors.Is(err, errorWriteProtect) }

func freeSpace(dir string) (int64, error) {
	name, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	ok, _, err := getDiskFreeSpaceExW.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&free)), 0, 0)
	if ok == 0 {
		return 0, err
	}
	return int64(free), nil
}
