package execdb

import "testing"

func TestFuseFileSystems(t *testing.T) {
	mounts := []byte(`22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:50 / /mnt/far rw - fuse.sshfs me@far: rw
31 22 0:51 / /mnt/far/inner rw - fuse.ntfs-3g /dev/sdb1 rw
32 22 0:52 / /mnt/with\040blank rw - fuse.rclone s3: rw
`)
	for dir, want := range map[string]struct {
		name    string
		network bool
	}{
		"/mnt/far/data": {"fuse.sshfs", true}, "/mnt/far/inner/x": {"fuse.ntfs-3g", false},
		"/mnt/with blank": {"fuse.rclone", true}, "/mnt/faraway": {"ext4", false},
	} {
		if name, network := fuseNetwork(mounts, dir); name != want.name || network != want.network {
			t.Errorf("%s: %s %t", dir, name, network)
		}
	}
}
