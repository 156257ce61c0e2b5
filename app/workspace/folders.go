package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Folders are where this program keeps things for one user.
type Folders struct {
	Data  string // snapshots, records, keys; 0700
	Cache string // what can be made again; 0700
}

// The environment variables that move the folders.
const (
	EnvData  = "SLUICE_DATA"
	EnvCache = "SLUICE_CACHE"
)

// UserFolders finds the folders of this user; they are made when first used.
func UserFolders() (Folders, error) {
	f := Folders{Data: os.Getenv(EnvData), Cache: os.Getenv(EnvCache)}
	var err error
	if f.Data == "" {
		if f.Data, err = userData(); err != nil {
			return f, fmt.Errorf("find the folder for data: %w; set %s", err, EnvData)
		}
	}
	if f.Cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return f, fmt.Errorf("find the folder for caches: %w; set %s", err, EnvCache)
		}
		f.Cache = filepath.Join(base, "sluice")
	}
	if f.Data, err = filepath.Abs(f.Data); err != nil {
		return f, err
	}
	f.Cache, err = filepath.Abs(f.Cache)
	return f, err
}

func userData() (string, error) {
	switch runtime.GOOS {
	case "windows", "darwin":
		base, err := os.UserConfigDir()
		return filepath.Join(base, "Sluice"), err
	}
	if base := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "sluice"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share", "sluice"), err
}

// Snapshots is the default location of snapshots.
func (f Folders) Snapshots() string { return filepath.Join(f.Data, "snapshots") }

// Fonts keeps what is known of the fonts of the system.
func (f Folders) Fonts() string { return filepath.Join(f.Cache, "fonts") }

// DevCache and Safe keep the rows of the dev cache and of the safe engine.
func (f Folders) DevCache() string { return filepath.Join(f.Cache, "dev-cache") }

// Safe keeps what the safe engine seals.
func (f Folders) Safe() string { return filepath.Join(f.Data, "safe") }

// Segments is the cache of segments of remotes.
func (f Folders) Segments() string { return filepath.Join(f.Cache, "snapshots") }
