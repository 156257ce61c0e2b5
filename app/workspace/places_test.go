package workspace_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// markedAt makes a gate of a node, without settings of its own.
func markedAt(t *testing.T, text, name string) string {
	t.Helper()
	d, err := hopxml.Parse("gates.hpl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if d, err = d.Apply(gate.Mark(name, nil, nil)); err != nil {
		t.Fatal(err)
	}
	return string(d.Bytes())
}

func places(t *testing.T, variables map[string]string) *workspace.Places {
	t.Helper()
	dir := t.TempDir()
	scope := project.NewVariables()
	scope.SetAll(variables)
	t.Setenv("RCLONE_CONFIG", filepath.Join(dir, "rclone.conf"))
	t.Setenv("SLUICE_SNAPSHOTS", "")
	p := workspace.NewPlaces(workspace.Folders{Data: filepath.Join(dir, "data"), Cache: filepath.Join(dir, "cache")}, scope, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil { // the next one has another rclone.conf
			t.Error(err)
		}
	})
	return p
}

func TestLocations(t *testing.T) {
	p := places(t, map[string]string{"SLUICE_REMOTE_S3": "minio:base", "SLUICE_REMOTE_HDFS": "cluster"})
	for text, want := range map[string]string{
		"":                 p.Folders.Snapshots(),
		"s3://bucket/x":    "minio:base/bucket/x",
		"hdfs://h:8020/x":  "cluster:/x",
		"file:///data/x":   "/data/x",
		"remote:some/path": "remote:some/path",
	} {
		l, err := p.Parse(t.Context(), text)
		if err != nil || l.String() != want {
			t.Errorf("%q: %s, %v", text, l, err)
		}
	}
	for text, want := range map[string]error{
		"gs://bucket/x": storage.ErrUnknownRemote, "./x": storage.ErrBadLocation, ":s3,secret_access_key=x:bucket": storage.ErrBadLocation,
		"${UNSET}/x": storage.ErrBadLocation,
	} {
		if _, err := p.Parse(t.Context(), text); !errors.Is(err, want) || strings.Contains(err.Error(), "secret_access_key=x") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if l, err := p.ByHand().Parse(t.Context(), "./x"); err != nil || !filepath.IsAbs(l.Path) {
		t.Errorf("by hand: %v, %v", l, err)
	}
}

func TestDefaultLocationIsPrivate(t *testing.T) {
	p := places(t, nil)
	place, err := p.Place(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := place.Remote.Put(t.Context(), "a/b", storage.Bytes([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(p.Folders.Snapshots())
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

func TestUnknownRemoteNamesWhatToDo(t *testing.T) {
	p := places(t, nil)
	_, err := p.Place(t.Context(), "nowhere:x")
	if !errors.Is(err, storage.ErrUnknownRemote) || storage.Hint(err) == "" {
		t.Errorf("%v, hint %q", err, storage.Hint(err))
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSnapshotKeys(t *testing.T) {
	t.Setenv(workspace.EnvSnapshotKey, "the first long enough key,the second long enough key")
	keys, err := workspace.SnapshotKeys()
	if err != nil || len(keys) != 2 || keys[0].ID() == keys[1].ID() {
		t.Errorf("%v, %v", keys, err)
	}
	t.Setenv(workspace.EnvSnapshotKey, "short")
	if _, err := workspace.SnapshotKeys(); err == nil || strings.Contains(err.Error(), "short\"") {
		t.Errorf("%v", err)
	}
}

func TestSnapshotKeysOfTheKeyring(t *testing.T) {
	keyring.MockInit()
	t.Setenv(workspace.EnvSnapshotKey, "keyring")
	if _, err := workspace.SnapshotKeys(); err == nil || !strings.Contains(err.Error(), "no entry snapshot-key") {
		t.Errorf("an empty keyring: %v", err)
	}
	for entry, secret := range map[string]string{workspace.KeyringEntry: "a long enough secret", "old": "another long secret of the past"} {
		if err := keyring.Set(workspace.KeyringService, entry, secret); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(workspace.EnvSnapshotKey, "keyring,keyring:old,given in the environment")
	keys, err := workspace.SnapshotKeys()
	if err != nil || len(keys) != 3 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	for i, secret := range []string{"a long enough secret", "another long secret of the past", "given in the environment"} {
		want, err := snapshot.ParseKey(secret)
		if err != nil || keys[i].ID() != want.ID() {
			t.Errorf("key %d is %s, want that of %q", i, keys[i].ID(), secret)
		}
	}
}
