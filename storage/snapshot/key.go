package snapshot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// minKeyBytes is the least length of a key: 128 bits.
const minKeyBytes = 16

// Key signs manifests. With a key set, only manifests that this key signed
// are accepted. It never prints its secret.
type Key struct {
	id     string
	secret []byte
}

// NewKey takes at least 16 secret bytes. Its id is public: the first 16 hex
// digits of SHA-256("sluice snapshot key id" ‖ secret).
func NewKey(secret []byte) (*Key, error) {
	if len(secret) < minKeyBytes {
		return nil, fmt.Errorf("snapshot key has %d bytes, at least %d are needed", len(secret), minKeyBytes)
	}
	return &Key{id: sum(append([]byte("sluice snapshot key id"), secret...))[:16], secret: append([]byte(nil), secret...)}, nil
}

// ParseKey reads a key from an environment variable or keyring entry: an even
// number of hex digits (at least 32) are its bytes, any other text stands for
// itself.
func ParseKey(text string) (*Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errors.New("snapshot key is empty")
	}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) >= minKeyBytes {
		return NewKey(raw)
	}
	return NewKey([]byte(text))
}

// ID names the key without giving it away.
func (k *Key) ID() string { return k.id }

// String hides the secret.
func (k *Key) String() string { return "key " + k.id }

// LogValue hides the secret.
func (k *Key) LogValue() slog.Value { return slog.StringValue(k.id) }

// MAC signs another digest of 32 bytes, in hex, such as a portable record's.
func (k *Key) MAC(digestHex string) (string, error) { return k.mac(digestHex) }

// mac is HMAC-SHA256 over the 32 bytes of the manifest's digest.
func (k *Key) mac(digestHex string) (string, error) {
	digest, err := hex.DecodeString(digestHex)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, k.secret)
	h.Write(digest)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// equalMAC compares two MACs in constant time.
func equalMAC(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
