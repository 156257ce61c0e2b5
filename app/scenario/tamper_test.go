package scenario_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// overwrite changes a stored file, which is write-protected.
func (s *shop) overwrite(file string, change func([]byte) []byte) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	changed := change(bytes.Clone(data))
	if bytes.Equal(changed, data) {
		s.t.Fatalf("nothing was changed in %s", file)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// wantRefused expects a block that nobody can override, that the replay stops
// before a row leaves, and that the message can be acted on.
func (s *shop) wantRefused(id, check string) {
	s.t.Helper()
	p := s.preflight(blocked, id)
	p.wantCheck(s.t, check, "BLOCK")
	for _, c := range p.Checks {
		if c.Status == "BLOCK" && c.Overridable {
			s.t.Errorf("%s can be overridden: %s", c.ID, c.What)
		}
	}
	s.sluice("replay", id, "--quick").want(blocked)
	s.sluice("replay", id, "--override", check, "--override", "upstream", "--reason", "I know better").want(blocked)
	s.wantLoaded(nil)
}

// TestAManifestThatWasWrittenAnewIsRefused: each is valid JSON that tells something
// else than the record knows.
func TestAManifestThatWasWrittenAnewIsRefused(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"fewer rows": func(data []byte) []byte {
			return regexp.MustCompile(`("rows":\s*)6`).ReplaceAll(data, []byte("${1}5"))
		},
		"another time": func(data []byte) []byte {
			return regexp.MustCompile(`("ended":\s*")20\d\d`).ReplaceAll(data, []byte("${1}2031"))
		},
		// The record knows the digest of the bytes: even this is not what was sealed.
		"only its layout": func(data []byte) []byte {
			var b bytes.Buffer
			if json.Indent(&b, data, " ", "     ") != nil {
				return data
			}
			return b.Bytes()
		},
		"nothing at all": func([]byte) []byte { return []byte{} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			id := s.fails(s.path("load.hpl"))
			s.sourceGone()
			s.warehouseUp()
			s.overwrite(s.stored("SnapshotManifest.json"), change)
			s.wantRefused(id, "manifest")
		})
	}
}

// TestASnapshotPutInThePlaceOfAnother: genuine in itself, but not the rows of this
// execution.
func TestASnapshotPutInThePlaceOfAnother(t *testing.T) {
	s := newShop(t)
	first := s.fails(s.path("load.hpl"))
	own := filepath.Dir(s.stored("SnapshotManifest.json"))
	s.sql("source.db", "UPDATE orders SET amount = 1")
	s.fails(s.path("load.hpl"))
	list, err := filepath.Glob(filepath.Join(s.data, "snapshots", "*", "*", "SnapshotManifest.json"))
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, manifest := range list {
		if other := filepath.Dir(manifest); other != own {
			if err := os.RemoveAll(own); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other, own); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.sourceGone()
	s.warehouseUp()
	s.wantRefused(first, "manifest")
}

// TestASegmentThatIsGoneIsRefused, also with quick verification.
func TestASegmentThatIsGoneIsRefused(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	if err := os.Remove(s.stored("p00-seg-*.parquet")); err != nil {
		t.Fatal(err)
	}
	s.preflight(blocked, id, "--quick", "--ack", "quick").wantCheck(t, "segments", "BLOCK")
	s.wantRefused(id, "segments")
}

// TestQuickVerificationStillHashesBeforeARowLeaves: the size is right, the content
// is not.
func TestQuickVerificationStillHashesBeforeARowLeaves(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	t.Setenv("SLUICE_CACHE", t.TempDir()) // nothing was verified before
	s.overwrite(s.stored("p00-seg-*.parquet"), func(data []byte) []byte {
		data[len(data)/2] ^= 1
		return data
	})
	if a := s.sluice("replay", id, "--quick", "--ack", "quick"); a.code == ready {
		t.Errorf("a segment that was tampered with was loaded:\n%s", a.out)
	}
	s.wantLoaded(nil)
}

// TestSignedSnapshots: with a key set only what was signed with it is taken.
func TestSignedSnapshots(t *testing.T) {
	key, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	t.Run("signed", func(t *testing.T) {
		s := newShop(t)
		t.Setenv("SLUICE_SNAPSHOT_KEY", key)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		t.Setenv("SLUICE_SNAPSHOT_KEY", other)
		s.wantRefused(id, "manifest")
		t.Setenv("SLUICE_SNAPSHOT_KEY", key)
		s.sluice("replay", id).want(ready)
		s.wantLoaded(original)
	})
	t.Run("not signed", func(t *testing.T) {
		s := newShop(t)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		t.Setenv("SLUICE_SNAPSHOT_KEY", key)
		s.wantRefused(id, "manifest")
	})
}
