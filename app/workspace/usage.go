package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Usage is what one folder takes on this disk.
type Usage struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
	Clear string `json:"clear,omitempty"` // what removes it
}

// SizeOf adds up the files below a folder; a missing one takes nothing.
func SizeOf(name, folder string) (Usage, error) {
	u := Usage{Name: name, Path: folder}
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			u.Bytes += info.Size()
			u.Files++
		}
		return nil
	})
	return u, err
}

// SizeOfRecords adds up the execution store and its log.
func SizeOfRecords(name string, f Folders) (Usage, error) {
	u := Usage{Name: name, Path: f.Data, Clear: "sluice executions prune"}
	for _, pattern := range []string{"control.db*", "log.db*"} {
		list, err := filepath.Glob(filepath.Join(f.Data, pattern))
		if err != nil {
			return u, err
		}
		for _, file := range list {
			if info, err := os.Stat(file); err == nil {
				u.Bytes += info.Size()
				u.Files++
			}
		}
	}
	return u, nil
}

// FormatBytes writes 1536 as 1.5 KiB.
func FormatBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, k := float64(n), 0
	for v >= 1024 && k < len(units)-1 {
		v /= 1024
		k++
	}
	if k == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return fmt.Sprintf("%.1f %s", v, units[k])
}

// Usage adds up what this program takes on this machine: snapshots, caches, records
// and temporary files.
func (p *Places) Usage(ctx context.Context) ([]Usage, error) {
	standard, err := p.Parse(ctx, "")
	if err != nil {
		return nil, err
	}
	f := p.Folders
	var list []Usage
	for _, u := range []Usage{
		{Name: "snapshots", Path: f.Snapshots(), Clear: "sluice snapshots prune"},
		{Name: "cached segments", Path: f.Segments()},
		{Name: "dev cache", Path: f.DevCache(), Clear: "sluice cache clear"},
		{Name: "safe engine", Path: f.Safe()},
	} {
		if u.Name == "snapshots" && standard.Local() {
			u.Path = standard.Path
		}
		size, err := SizeOf(u.Name, u.Path)
		if err != nil {
			return nil, err
		}
		size.Clear = u.Clear
		list = append(list, size)
	}
	records, err := SizeOfRecords("executions and logs", f)
	if err != nil {
		return nil, err
	}
	spill, err := spillUsage()
	return append(list, records, spill), err
}

// spillPrefix starts the names of this program's temporary files.
const spillPrefix = "sluice-"

// spillUsage adds up temporary files in the system's folder.
func spillUsage() (Usage, error) {
	total := Usage{Name: "spill files", Path: os.TempDir()}
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return total, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), spillPrefix) {
			continue
		}
		u, err := SizeOf("", filepath.Join(os.TempDir(), e.Name()))
		if err != nil {
			continue // of another user
		}
		total.Bytes += u.Bytes
		total.Files += u.Files
	}
	return total, nil
}
