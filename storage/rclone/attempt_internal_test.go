package rclone

import (
	"testing"

	"github.com/rclone/rclone/fs"
)

func TestOnlyHDFSAsksAgainItself(t *testing.T) {
	c := New(Options{})
	standard := fs.GetConfig(t.Context()).LowLevelRetries
	for kind, want := range map[string]int{"hdfs": closeTries, "s3": standard, "sftp": standard} {
		if got := fs.GetConfig(c.withTimeouts(t.Context(), kind)).LowLevelRetries; got != want {
			t.Errorf("%s: %d tries, not %d", kind, got, want)
		}
	}
}
