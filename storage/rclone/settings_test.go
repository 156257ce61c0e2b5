package rclone_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rclone/rclone/fs/config/obscure"
	"golang.org/x/net/webdav"

	"sluice/storage"
	"sluice/storage/rclone"
)

const twoRemotes = `# the lake of the shop
[lake]
type = s3
# asked for by the admins
provider = Minio
access_key_id = theaccesskey
secret_access_key = topsecret1
endpoint = http://lake.example

[box]
type = memory
description = a box
`

// confFile gives a client and the file that it uses.
func confFile(t *testing.T, content string) (*rclone.Client, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conf", "rclone.conf")
	if content != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	c := rclone.New(rclone.Options{ConfigPath: path, Backoff: quick})
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c, path
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSettingsNameSecretsAndNeverGiveThem(t *testing.T) {
	c, _ := confFile(t, twoRemotes)
	s, err := c.Settings(t.Context(), "lake")
	if err != nil {
		t.Fatal(err)
	}
	if s.Type != "s3" || s.Values["endpoint"] != "http://lake.example" || !slices.Equal(s.Kept, []string{"access_key_id", "secret_access_key"}) {
		t.Errorf("%+v", s)
	}
	for key, value := range s.Values {
		if strings.Contains(value, "topsecret") || strings.Contains(value, "theaccess") {
			t.Errorf("%s is given", key)
		}
	}
	if _, err := c.Settings(t.Context(), "nosuch"); !errors.Is(err, storage.ErrUnknownRemote) {
		t.Errorf("%v", err)
	}
}

func TestARemoteIsChangedAndTheRestOfTheFileStays(t *testing.T) {
	c, path := confFile(t, twoRemotes)
	s, err := c.Settings(t.Context(), "lake")
	if err != nil {
		t.Fatal(err)
	}
	s.Values["region"], s.Values["endpoint"] = "eu-north-1", ""
	if err := c.SaveRemote(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(twoRemotes, "endpoint = http://lake.example", "region = eu-north-1", 1)
	if got := content(t, path); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestANewRemoteWorksAtOnceAndItsPasswordIsObscured(t *testing.T) {
	c, path := confFile(t, "")
	if list, err := c.Remotes(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	folder := t.TempDir()
	if err := c.SaveRemote(t.Context(), rclone.Settings{Name: "here", Type: "alias", Values: map[string]string{"remote": folder}}); err != nil {
		t.Fatal(err)
	}
	if err := open(t, c, "here:").Put(t.Context(), "x", storage.Bytes([]byte("x"))); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "x")); err != nil {
		t.Error(err)
	}
	in := rclone.Settings{Name: "in", Type: "sftp", Values: map[string]string{"host": "in.example", "pass": "topsecret2"}}
	if err := c.SaveRemote(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	text := content(t, path)
	_, after, _ := strings.Cut(text, "pass = ")
	hidden, _, _ := strings.Cut(after, "\n")
	if plain, err := obscure.Reveal(hidden); err != nil || plain != "topsecret2" || strings.Contains(text, "topsecret2") {
		t.Errorf("the file holds\n%s", text)
	}
	if err := c.SaveRemote(t.Context(), in); !errors.Is(err, storage.ErrExists) {
		t.Errorf("a second one gave %v", err)
	}
	// Editing another option keeps the password as it stands.
	s, err := c.Settings(t.Context(), "in")
	if err != nil {
		t.Fatal(err)
	}
	s.Values["user"] = "ann"
	if err := c.SaveRemote(t.Context(), s); err != nil || !strings.Contains(content(t, path), "pass = "+hidden+"\n") {
		t.Errorf("%v\n%s", err, content(t, path))
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestCopyRenameRemove(t *testing.T) {
	c, path := confFile(t, twoRemotes)
	ctx := t.Context()
	if err := errors.Join(c.CopyRemote(ctx, "lake", "pond"), c.RenameRemote(ctx, "box", "crate"), c.RemoveRemote(ctx, "lake")); err != nil {
		t.Fatal(err)
	}
	got := content(t, path)
	if !strings.Contains(got, "[pond]\ntype = s3\n") || !strings.Contains(got, "secret_access_key = topsecret1") ||
		!strings.Contains(got, "[crate]\ntype = memory\ndescription = a box") || strings.Contains(got, "[lake]") || strings.Contains(got, "[box]") {
		t.Errorf("the file holds\n%s", got)
	}
	for name, err := range map[string]error{
		"to one there is": c.CopyRemote(ctx, "pond", "crate"), "an absent one": c.RemoveRemote(ctx, "lake"), "a bad name": c.CopyRemote(ctx, "pond", "a/b"),
	} {
		if err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	t.Setenv("RCLONE_CONFIG_OUTSIDE_TYPE", "memory")
	if err := c.CopyRemote(ctx, "pond", "outside"); !errors.Is(err, storage.ErrExists) {
		t.Errorf("a remote of the environment: %v", err)
	}
	if after := content(t, path); after != got {
		t.Errorf("a refused change wrote\n%s", after)
	}
}

func TestASymbolicLinkStaysOne(t *testing.T) {
	real := filepath.Join(t.TempDir(), "real.conf")
	link := filepath.Join(t.TempDir(), "rclone.conf")
	if err := errors.Join(os.WriteFile(real, []byte(twoRemotes), 0o600), os.Symlink(real, link)); err != nil {
		t.Skip(err) // some systems do not let everybody
	}
	c := rclone.New(rclone.Options{ConfigPath: link})
	defer func() { _ = c.Close(t.Context()) }()
	if err := c.RemoveRemote(t.Context(), "box"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || strings.Contains(content(t, real), "[box]") {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestAnEncryptedFileStaysEncrypted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rclone.conf")
	with := func(password string) *rclone.Client {
		return rclone.New(rclone.Options{ConfigPath: path, Password: func(context.Context) (string, error) { return password, nil }})
	}
	if err := os.WriteFile(path, rclone.Encrypted(t, twoRemotes, "open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := with("open sesame")
	err := c.CopyRemote(t.Context(), "box", "crate")
	if err := errors.Join(err, c.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if text := content(t, path); !strings.Contains(text, "RCLONE_ENCRYPT_V0:") || strings.Contains(text, "crate") {
		t.Fatalf("the file holds\n%s", text)
	}
	c = with("open sesame")
	list, err := c.Remotes(t.Context())
	if err := errors.Join(err, c.Close(t.Context())); err != nil || len(list) != 3 {
		t.Errorf("%v, %v", list, err)
	}
	before := content(t, path)
	c = with("")
	defer func() { _ = c.Close(t.Context()) }()
	if err := c.RemoveRemote(t.Context(), "box"); !errors.Is(err, storage.ErrConfig) || !strings.Contains(storage.Hint(err), "RCLONE_CONFIG_PASS") {
		t.Errorf("%v, hint %q", err, storage.Hint(err))
	}
	if content(t, path) != before {
		t.Error("the file was written")
	}
}

// A password for encrypted files is at hand, but this file is a plain one.
func TestAPlainFileStaysPlain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rclone.conf")
	if err := os.WriteFile(path, []byte(twoRemotes), 0o600); err != nil {
		t.Fatal(err)
	}
	c := rclone.New(rclone.Options{ConfigPath: path, Password: func(context.Context) (string, error) { return "open sesame", nil }})
	defer func() { _ = c.Close(t.Context()) }()
	if err := c.RemoveRemote(t.Context(), "box"); err != nil || !strings.Contains(content(t, path), "[lake]") {
		t.Errorf("%v\n%s", err, content(t, path))
	}
}

func TestWhatTheFileCannotKeepIsRefused(t *testing.T) {
	c, path := confFile(t, twoRemotes)
	for name, value := range map[string]string{"lines": "a\nb", "space": " a", "backquote": "a`b", "expansion": "%(x)s"} {
		err := c.SaveRemote(t.Context(), rclone.Settings{Name: "new", Type: "s3", Values: map[string]string{"endpoint": value}})
		if !errors.Is(err, storage.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := c.SaveRemote(t.Context(), rclone.Settings{Name: "new", Type: "nosuch"})
	if !errors.Is(err, storage.ErrUnknownRemote) || content(t, path) != twoRemotes {
		t.Errorf("%v\n%s", err, content(t, path))
	}
	c, path = confFile(t, "[odd]\ntype = memory\ndescription = a `quoted` word\n")
	before := content(t, path)
	if err := c.CopyRemote(t.Context(), "odd", "even"); err == nil || content(t, path) != before {
		t.Errorf("%v\n%s", err, content(t, path))
	}
}

func TestARemoteIsTestedBeforeItIsSaved(t *testing.T) {
	c, path := confFile(t, twoRemotes)
	folder := t.TempDir()
	var steps []string
	r := c.TestSettings(t.Context(), rclone.Settings{Name: "here", Type: "alias", Values: map[string]string{"remote": folder}}, "a, 'b'", func(s rclone.Step) { steps = append(steps, s.Name) })
	if r.Err() != nil || !slices.Contains(steps, "delete") || r.Location != "here:a, 'b'" {
		t.Errorf("%+v", r)
	}
	s, err := c.Settings(t.Context(), "lake")
	if err != nil {
		t.Fatal(err)
	}
	s.Values["endpoint"] = "http://127.0.0.1:1"
	s.Values["secret_access_key"] = "topsecret3,'x'=y"
	r = c.TestSettings(t.Context(), s, "bucket/folder", func(rclone.Step) {})
	if !errors.Is(r.Err(), storage.ErrUnreachable) {
		t.Fatalf("nobody is there, but %v", r.Err())
	}
	for _, secret := range []string{"topsecret", "theaccesskey"} {
		if strings.Contains(r.Err().Error(), secret) {
			t.Errorf("the error holds %s: %v", secret, r.Err())
		}
	}
	if content(t, path) != twoRemotes {
		t.Error("the test saved something")
	}
}

func TestBackendsAreDescribedByRclone(t *testing.T) {
	list := rclone.Backends()
	if len(list) < 15 || list[0].Type != "alias" || list[1].Type != "s3" || !list[7].Common || list[8].Common {
		t.Fatalf("%d backends, %s first", len(list), list[0].Type)
	}
	s3, ok := rclone.FindBackend("s3")
	if !ok || s3.Login {
		t.Fatal("no s3")
	}
	offered := func(values map[string]string) (names []string, regions int) {
		for _, o := range s3.Offered(values) {
			names = append(names, o.Name)
			if o.Name == "region" {
				regions = len(o.Offered(values))
			}
			if o.Title == "" || len(o.Title) > 300 {
				t.Errorf("%s is called %q", o.Name, o.Title)
			}
		}
		return names, regions
	}
	aws, awsRegions := offered(map[string]string{"provider": "AWS"})
	minio, minioRegions := offered(map[string]string{"provider": "Minio"})
	if !slices.Contains(aws, "storage_class") || slices.Contains(minio, "storage_class") || awsRegions < 10 || minioRegions >= awsRegions {
		t.Errorf("AWS has %d regions, Minio %d", awsRegions, minioRegions)
	}
	gcs, _ := rclone.FindBackend("google cloud storage")
	if !gcs.Login || !gcs.LoginOptional {
		t.Error("Google Cloud Storage takes a log-in or a service account")
	}
	sftp, _ := rclone.FindBackend("sftp")
	for _, o := range sftp.Offered(nil) {
		for value, good := range map[string]bool{"": true, "22": true, "twenty": false} {
			if o.Name == "port" && (o.Check(value) == "") != good {
				t.Errorf("port %q: %q", value, o.Check(value))
			}
		}
		if o.Secret != slices.Contains([]string{"pass", "key_pem", "key_file_pass"}, o.Name) && o.Name != "pubkey" {
			t.Errorf("%s is secret: %v", o.Name, o.Secret)
		}
		if o.Required != (o.Name == "host") {
			t.Errorf("%s is required: %v", o.Name, o.Required)
		}
	}
}

// A server that asks for a password tells whether the right one reaches it: typed
// and not saved, wrong, saved, and kept while something else is edited.
func TestThePasswordReachesTheServer(t *testing.T) {
	const secret = "pass, 'word'=\"x"
	dav := &webdav.Handler{FileSystem: webdav.Dir(t.TempDir()), LockSystem: webdav.NewMemLS()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, pass, _ := r.BasicAuth(); user != "ann" || pass != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		dav.ServeHTTP(w, r)
	}))
	defer server.Close()
	c, _ := confFile(t, "")
	test := func(s rclone.Settings) error {
		return c.TestSettings(t.Context(), s, "box", func(rclone.Step) {}).Err()
	}
	s := rclone.Settings{Name: "dav", Type: "webdav", Values: map[string]string{"url": server.URL, "vendor": "other", "user": "ann", "pass": secret + "y"}}
	if err := test(s); !errors.Is(err, storage.ErrAuth) || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "dav:box") {
		t.Errorf("a wrong password gave %v", err)
	}
	s.Values["pass"] = secret
	if err := test(s); err != nil {
		t.Errorf("unsaved: %v", err)
	}
	if err := c.SaveRemote(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := c.Test(t.Context(), storage.Location{Remote: "dav", Path: "box"}).Err(); err != nil {
		t.Errorf("saved: %v", err)
	}
	kept, err := c.Settings(t.Context(), "dav")
	if err != nil || kept.Values["pass"] != "" {
		t.Fatalf("%+v, %v", kept, err)
	}
	kept.Values["description"] = "edited"
	if err := test(kept); err != nil {
		t.Errorf("edited: %v", err)
	}
	if err := errors.Join(c.CopyRemote(t.Context(), "dav", "dav two"), c.Test(t.Context(), storage.Location{Remote: "dav two", Path: "box"}).Err()); err != nil {
		t.Errorf("copied: %v", err)
	}
}
