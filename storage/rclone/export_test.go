package rclone

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/rclone/rclone/fs/config"
)

// RedactingHandler is the handler that rclone's notices pass.
func RedactingHandler(next slog.Handler, known string) slog.Handler {
	s := &secrets{}
	s.add(known)
	return &redactingHandler{next, s}
}

// Encrypted is an rclone.conf as rclone encrypts it. No client may be open.
func Encrypted(t *testing.T, text, password string) []byte {
	t.Helper()
	defer config.ClearConfigPassword()
	if err := config.SetConfigPassword(password); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := config.Encrypt(strings.NewReader(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
