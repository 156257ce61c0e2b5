package rclone_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rclone/rclone/fs/config/obscure"

	"sluice/storage"
	"sluice/storage/rclone"
)

// withConfig gives a client of a configuration file with this content.
func withConfig(t *testing.T, content string, o rclone.Options) *rclone.Client {
	t.Helper()
	o.ConfigPath = filepath.Join(t.TempDir(), "rclone.conf")
	if content != "" {
		if err := os.WriteFile(o.ConfigPath, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o.Backoff == (storage.Backoff{}) {
		o.Backoff = quick
	}
	c := rclone.New(o)
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestRemotesOfFileAndEnvironment(t *testing.T) {
	t.Setenv("RCLONE_CONFIG_FROMENV_TYPE", "memory")
	c := withConfig(t, "[lake]\ntype = s3\nprovider = AWS\n\n[box]\ntype = memory\ndescription = a box\n", rclone.Options{})
	got, err := c.Remotes(t.Context())
	want := []rclone.Info{
		{"box", "memory", "file", "a box"}, {"fromenv", "memory", "environment", ""}, {"lake", "s3", "file", ""},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{"box:b", "fromenv:b"} {
		if err := open(t, c, name).Put(t.Context(), "x", storage.Bytes([]byte("x"))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingConfigIsEmpty(t *testing.T) {
	c := withConfig(t, "", rclone.Options{})
	if got, err := c.Remotes(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// rclone itself would end the process over each of these.
func TestUnusableConfigIsAnError(t *testing.T) {
	const encrypted = "# Encrypted rclone configuration File\n\nRCLONE_ENCRYPT_V0:\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
	for name, c := range map[string]struct {
		content string
		o       rclone.Options
	}{
		"malformed":        {"[lake\ntype = topsecret", rclone.Options{}},
		"no password":      {encrypted, rclone.Options{}},
		"wrong password":   {encrypted, rclone.Options{Password: func(context.Context) (string, error) { return "topsecret", nil }}},
		"password refused": {encrypted, rclone.Options{Password: func(context.Context) (string, error) { return "", errors.New("keyring is locked") }}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := withConfig(t, c.content, c.o).Remotes(t.Context())
			if !errors.Is(err, storage.ErrConfig) || storage.Hint(err) == "" {
				t.Errorf("%v, hint %q", err, storage.Hint(err))
			}
			if err != nil && strings.Contains(err.Error(), "topsecret") {
				t.Errorf("the error holds content of the file: %v", err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	c := client(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		l    storage.Location
		want error
	}{
		"unknown remote":  {storage.Location{Remote: "nosuch", Path: "x"}, storage.ErrUnknownRemote},
		"unknown backend": {storage.Location{Remote: ":nosuch", Path: "x"}, storage.ErrUnknownRemote},
		"global option":   {storage.Location{Remote: ":memory,global.low_level_retries=77", Path: "x"}, storage.ErrBadLocation},
		"a file":          {storage.Location{Remote: ":local", Path: filepath.ToSlash(file)}, storage.ErrBadLocation},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.Open(t.Context(), x.l); !errors.Is(err, x.want) {
				t.Errorf("%v, want %v", err, x.want)
			}
		})
	}
}

// A local location needs nothing of rclone, not even a readable rclone.conf.
func TestLocalNeedsNoConfig(t *testing.T) {
	c := withConfig(t, "[broken", rclone.Options{})
	dir := t.TempDir()
	r := open(t, c, dir)
	if err := r.Put(t.Context(), "x", storage.Bytes([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
		t.Error(err)
	}
}

func TestTwoConfigurationsAtOnce(t *testing.T) {
	a, b := withConfig(t, "[a]\ntype = memory\n", rclone.Options{}), withConfig(t, "[b]\ntype = memory\n", rclone.Options{})
	if _, err := a.Remotes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Remotes(t.Context()); !errors.Is(err, storage.ErrConfig) {
		t.Errorf("second configuration: %v", err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Remotes(t.Context()); err != nil || len(got) != 1 || got[0].Name != "b" {
		t.Errorf("after the first was closed: %v, %v", got, err)
	}
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestServerDown(t *testing.T) {
	c := rclone.New(rclone.Options{InMemory: true, Backoff: storage.Backoff{Attempts: 1}})
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	address := closedPort(t)
	host, port, _ := strings.Cut(address, ":")
	for name, text := range map[string]string{
		"s3":     `:s3,provider=Rclone,access_key_id=accesskey01,secret_access_key=topsecret01,endpoint="http://` + address + `",force_path_style=true:bkt`,
		"webdav": `:webdav,url="http://user:topsecret01@` + address + `":`,
		"sftp":   ":sftp,host=" + host + ",port=" + port + ",user=u,pass=" + obscure.MustObscure("topsecret01") + ",shell_type=none:x",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := storage.ParseLocation(text, storage.Parsing{AllowOptions: true})
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Open(t.Context(), l)
			if err == nil {
				_, err = r.Stat(t.Context(), "x")
			}
			if !errors.Is(err, storage.ErrUnreachable) || errors.Is(err, storage.ErrNotFound) || !storage.IsRetryable(err) {
				t.Errorf("%v, want ErrUnreachable", err)
			}
			if err != nil && (strings.Contains(err.Error(), "topsecret01") || strings.Contains(err.Error(), "accesskey01")) {
				t.Errorf("the error holds a secret: %v", err)
			}
		})
	}
}

func TestReport(t *testing.T) {
	c := client(t)
	for _, text := range []string{":memory:bucket", t.TempDir()} {
		l, err := storage.ParseLocation(text, storage.Parsing{})
		if err != nil {
			t.Fatal(err)
		}
		report := c.Test(t.Context(), l)
		if err := report.Err(); err != nil || len(report.Steps) != 9 {
			t.Errorf("%s: %v, %+v", text, err, report.Steps)
		}
		if left, err := open(t, c, text).List(t.Context(), ""); err != nil || len(left) != 0 {
			t.Errorf("%s: the test left %v, %v", text, left, err)
		}
	}
	if err := c.Test(t.Context(), storage.Location{Remote: "nosuch"}).Err(); !errors.Is(err, storage.ErrUnknownRemote) {
		t.Errorf("unknown remote: %v", err)
	}
}

func TestBandwidthLimit(t *testing.T) {
	c := client(t)
	l := storage.Location{Remote: ":memory", Path: "bucket"}
	r, err := c.OpenLimited(t.Context(), l, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := r.Put(t.Context(), "x", storage.Bytes(make([]byte, 300<<10))); err != nil {
		t.Fatal(err)
	}
	// 64 KiB pass at once, 236 KiB at 1 MiB/s take 230 ms.
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("300 KiB at 1 MiB/s took %s", took)
	}
}

// Whatever rclone logs comes out without secrets.
func TestNoticesAreRedacted(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(rclone.RedactingHandler(slog.NewTextHandler(&out, nil), "hunter2-secret"))
	log.With("endpoint", "https://u:pw12345@h/").Error("Failed with hunter2-secret",
		"err", errors.New("GET /?X-Amz-Signature=abcdef0123&x=1"), "remote", ":s3,secret_access_key=zzzz9999:bkt",
		slog.Group("g", "authorization", "Bearer abcdefghijkl"))
	for _, secret := range []string{"hunter2", "pw12345", "abcdef0123", "zzzz9999", "abcdefghijkl"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s is in the log: %s", secret, out.String())
		}
	}
}
