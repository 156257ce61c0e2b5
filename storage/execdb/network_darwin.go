package execdb

import "syscall"

// mntLocal is MNT_LOCAL of mount(2): the file system is on this machine.
const mntLocal = 0x1000

func networkFileSystem(dir string) (string, bool, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", false, err
	}
	name := make([]byte, 0, len(s.Fstypename))
	for _, c := range s.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return string(name), s.Flags&mntLocal == 0, nil
}
