package workspace

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/zalando/go-keyring"

	"sluice/storage/snapshot"
)

// EnvSnapshotKey holds the key that signs snapshots, or several with commas: the
// first one signs, all are accepted. With a key set an unsigned snapshot is
// refused. "keyring" stands for the entry snapshot-key of the service sluice in
// the operating system's keyring, "keyring:NAME" for another entry.
const EnvSnapshotKey = "SLUICE_SNAPSHOT_KEY"

// The service and the usual entry in the keyring.
const (
	KeyringService = "sluice"
	KeyringEntry   = "snapshot-key"
)

// keyringPrefix makes the keyring be asked: only then, since a machine without a
// session may have none.
const keyringPrefix = "keyring"

// fromKeyring replaces a reference to the keyring by what the keyring holds.
func fromKeyring(text string) (string, error) {
	entry, ok := strings.CutPrefix(strings.TrimSpace(text), keyringPrefix)
	if !ok || entry != "" && entry[0] != ':' {
		return text, nil
	}
	if entry = strings.TrimPrefix(entry, ":"); entry == "" {
		entry = KeyringEntry
	}
	secret, err := keyring.Get(KeyringService, entry)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", fmt.Errorf("the keyring has no entry %s of the service %s; add it, or give the key itself", entry, KeyringService)
	}
	if err != nil {
		return "", fmt.Errorf("the keyring of this system cannot be read: %w; give the key itself", err)
	}
	return secret, nil
}

// SnapshotKeys reads the keys that the environment names.
func SnapshotKeys() ([]*snapshot.Key, error) {
	var keys []*snapshot.Key
	for text := range strings.SplitSeq(os.Getenv(EnvSnapshotKey), ",") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		text, err := fromKeyring(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", EnvSnapshotKey, err)
		}
		k, err := snapshot.ParseKey(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", EnvSnapshotKey, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// installation makes secrets comparable on this machine alone, under a random key
// in the user's data folder. It implements gate.Secrets.
type installation struct {
	path string
	once sync.Once
	key  []byte
}

const installationKey = "installation.key"

// load reads the key, or makes one. Where neither works, secrets get a key of
// this process: they are then not comparable later, which a replay says.
func (i *installation) load() {
	i.once.Do(func() {
		key, err := os.ReadFile(i.path)
		if errors.Is(err, fs.ErrNotExist) {
			key, err = i.create()
		}
		if err != nil || len(key) < sha256.Size {
			key = make([]byte, sha256.Size)
			_, _ = rand.Read(key) // never fails
		}
		i.key = key
	})
}

// create writes a new key; a process that was faster wins.
func (i *installation) create() ([]byte, error) {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	dir := filepath.Dir(i.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, ".key-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), i.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(i.path)
}

// KeyID names the key without giving it away.
func (i *installation) KeyID() string {
	i.load()
	s := sha256.Sum256(append([]byte("sluice installation key id"), i.key...))
	return hex.EncodeToString(s[:4])
}

// Sum is "<key id>:<hmac>".
func (i *installation) Sum(secret string) string {
	i.load()
	h := hmac.New(sha256.New, i.key)
	h.Write([]byte(secret))
	return i.KeyID() + ":" + hex.EncodeToString(h.Sum(nil))
}
