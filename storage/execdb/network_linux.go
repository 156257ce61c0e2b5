package execdb

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// networkMagic are the file system types, of statfs(2), that a server or
// another machine may change.
var networkMagic = map[uint32]string{
	0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x73757245: "coda", 0x5346414f: "afs",
	0x6b414653: "afs", 0x01021997: "9p", 0x00c36400: "ceph", 0x0bd00bd0: "lustre", 0x47504653: "gpfs",
	0x19830326: "beegfs", 0x01161970: "gfs2", 0x7461636f: "ocfs2", 0x564c: "ncp", 0x786f4256: "vboxsf",
	0xaad7aaea: "panfs", 0x20030528: "orangefs",
}

// fuseMagic is any file system of a user process: only its name tells.
const fuseMagic = 0x65735546

// networkFuse are the names, behind "fuse.", that reach over a network.
var networkFuse = []string{"sshfs", "rclone", "s3fs", "goofys", "gcsfuse", "glusterfs", "davfs", "curlftpfs", "blobfuse", "blobfuse2", "ceph-fuse", "juicefs", "mount-s3", "hdfs", "fuse_dfs", "moosefs", "mfs", "seaweedfs", "smbnetfs", "gvfsd-fuse", "vmhgfs-fuse"}

func networkFileSystem(dir string) (string, bool, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", false, err
	}
	magic := uint32(s.Type)
	if magic != fuseMagic {
		name, network := networkMagic[magic]
		return name, network, nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "fuse", true, nil //nolint:nilerr // nobody can tell, so it is refused
	}
	name, network := fuseNetwork(mounts, dir)
	return name, network, nil
}

// fuseNetwork finds the file system that dir is on in the text of mountinfo,
// and tells whether it is one that reaches over a network.
func fuseNetwork(mounts []byte, dir string) (string, bool) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	name, longest := "fuse", -1
	for line := range bytes.Lines(mounts) {
		left, right, ok := strings.Cut(string(line), " - ")
		fields, rest := strings.Fields(left), strings.Fields(right)
		if !ok || len(fields) < 5 || len(rest) == 0 {
			continue
		}
		mount := octal.Replace(fields[4])
		within := dir == mount || strings.HasPrefix(dir, strings.TrimSuffix(mount, "/")+"/")
		if within && len(mount) >= longest {
			name, longest = rest[0], len(mount)
		}
	}
	kind, _ := strings.CutPrefix(name, "fuse.")
	return name, slices.Contains(networkFuse, kind)
}

// octal undoes how mountinfo writes blanks.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
