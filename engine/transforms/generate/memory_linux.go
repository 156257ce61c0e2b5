package generate

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// machineMemory reads a figure of /proc/meminfo, in bytes.
func machineMemory(key string) (int64, bool) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if name != key {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		return kib << 10, err == nil
	}
	return 0, false
}
