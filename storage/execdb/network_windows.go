package execdb

import (
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

const driveRemote = 4 // DRIVE_REMOTE of GetDriveTypeW

func networkFileSystem(dir string) (string, bool, error) {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(volume, `\\?\`) {
		return volume, true, nil
	}
	root, err := syscall.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return "", false, err
	}
	kind, _, _ := syscall.NewLazyDLL("kernel32.dll").NewProc("GetDriveTypeW").Call(uintptr(unsafe.Pointer(root)))
	return volume, kind == driveRemote, nil
}
