package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// Hash gives the SHA-256 of a file's bytes, in hex.
func Hash(ctx context.Context, s Store, location string) (string, error) {
	in, err := s.Open(ctx, location)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
