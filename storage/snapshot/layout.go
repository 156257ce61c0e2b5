package snapshot

import (
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"sluice/storage"
)

// The names inside a snapshot folder.
const (
	openName      = "open.json"
	leaseName     = "lease.json"
	tombstoneName = "interrupted.json"
	manifestName  = "SnapshotManifest.json"
	pinPrefix     = "pin-"
	jsonSuffix    = ".json"
)

// Bounds. A file that breaks one is refused before it is parsed further.
const (
	// MaxSegmentBytes caps one segment. The target is half of it.
	MaxSegmentBytes = 64 << 20
	// TargetSegmentBytes is what an encoder should aim at.
	TargetSegmentBytes = 32 << 20

	maxParts         = 10_000
	maxSegments      = 1_000_000 // of one part; six digits in the name
	maxManifestBytes = 256 << 20
	maxRecordBytes   = 64 << 20 // open.json holds the fingerprint table
	maxSmallBytes    = 1 << 20  // lease, tombstone, pin
)

var (
	gatePattern      = lazily(`^[0-9a-f]{12}$`)
	idPattern        = lazily(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	extensionPattern = lazily(`^[a-z0-9]{1,16}$`)
	segmentPattern   = lazily(`^p([0-9]{2,5})-seg-([0-9]{6})-([0-9a-f]{16})\.([a-z0-9]{1,16})$`)
	pinPattern       = lazily(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
)

// lazily compiles a pattern when it is first used: patterns are not paid for by
// commands that need none.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// NewID makes a UUIDv7 (RFC 9562): milliseconds of now, then random bits.
func NewID(now time.Time, random io.Reader) (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[6:]); err != nil {
		return "", fmt.Errorf("new snapshot id: %w", err)
	}
	ms := now.UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	h := hex.EncodeToString(u[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"), nil
}

// Time is the moment, in milliseconds, at which the snapshot with this id was
// begun, by the clock of its writer.
func Time(id string) (time.Time, bool) {
	if !idPattern().MatchString(id) {
		return time.Time{}, false
	}
	var ms int64
	if _, err := fmt.Sscanf(id[:8]+id[9:13], "%012x", &ms); err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

// checkRef refuses refs whose folder could be anything but a snapshot's.
func checkRef(ref storage.SnapshotRef) error {
	if !gatePattern().MatchString(ref.Gate) {
		return fmt.Errorf("gate id %q is not 12 hex digits: %w", ref.Gate, storage.ErrBadName)
	}
	if !idPattern().MatchString(ref.ID) {
		return fmt.Errorf("snapshot id %q is not a UUIDv7: %w", ref.ID, storage.ErrBadName)
	}
	return nil
}

// in is the name of a file in the snapshot's folder.
func in(ref storage.SnapshotRef, file string) string { return path.Join(ref.Gate, ref.ID, file) }

func folder(ref storage.SnapshotRef) string { return path.Join(ref.Gate, ref.ID) }

func segmentName(part, index int, sha256Hex, extension string) string {
	return fmt.Sprintf("p%02d-seg-%06d-%s.%s", part, index, sha256Hex[:16], extension)
}

func pinName(id string) string { return pinPrefix + id + jsonSuffix }

// pinID is the reverse of pinName.
func pinID(file string) (string, bool) {
	id, ok := strings.CutPrefix(file, pinPrefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(id, jsonSuffix)
}

// isDropping tells whether an operating system or file server leaves such
// files in any folder by itself.
func isDropping(file string) bool {
	switch file {
	case ".DS_Store", "Thumbs.db", "desktop.ini", ".directory":
		return true
	}
	return strings.HasPrefix(file, "._") || strings.HasPrefix(file, ".nfs")
}
