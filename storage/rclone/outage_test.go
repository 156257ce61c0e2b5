package rclone_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rclone/rclone/fs/config/obscure"
	"golang.org/x/net/webdav"

	"sluice/storage"
	"sluice/storage/rclone"
)

// quickly is a backoff that waits for nothing.
func quickly(attempts int) storage.Backoff {
	return storage.Backoff{Attempts: attempts, First: time.Millisecond, Most: time.Millisecond}
}

func impatient(t *testing.T, o rclone.Options) *rclone.Client {
	t.Helper()
	o.InMemory = true
	c := rclone.New(o)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// A deadServer accepts connections and never answers: it hangs up at once, or
// keeps quiet.
type deadServer struct {
	address string
	asked   atomic.Int32 // connections so far
}

func newDeadServer(t *testing.T, hangsUp bool) *deadServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &deadServer{address: l.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.asked.Add(1)
			if hangsUp {
				_ = c.Close()
			} else {
				defer func() { _ = c.Close() }()
			}
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return s
}

// locations of that server, by backend.
func (s *deadServer) locations(t *testing.T) map[string]storage.Location {
	t.Helper()
	host, port, _ := strings.Cut(s.address, ":")
	list := map[string]storage.Location{}
	for name, text := range map[string]string{
		"s3":     `:s3,provider=Rclone,access_key_id=a,secret_access_key=b,endpoint="http://` + s.address + `",force_path_style=true:bkt`,
		"azure":  `:azureblob,account=a,key="Zm9v",endpoint="http://` + s.address + `/a":container`,
		"webdav": `:webdav,url="http://` + s.address + `":x`,
		"ftp":    ":ftp,host=" + host + ",port=" + port + ",user=u,pass=" + obscure.MustObscure("p") + ":x",
		"sftp":   ":sftp,host=" + host + ",port=" + port + ",user=u,pass=" + obscure.MustObscure("p") + ",shell_type=none:x",
		"hdfs":   `:hdfs,namenode="` + s.address + `",username=u:x`,
	} {
		l, err := storage.ParseLocation(text, storage.Parsing{AllowOptions: true})
		if err != nil {
			t.Fatal(err)
		}
		list[name] = l
	}
	return list
}

// ask makes one call.
func ask(ctx context.Context, c *rclone.Client, l storage.Location) error {
	r, err := c.Open(ctx, l)
	if err == nil {
		_, err = r.Stat(ctx, "x")
	}
	return err
}

// TestADeadServerIsNotAskedMoreThanWeSay: no retries of rclone's multiply ours,
// and the error says where, why and what to do.
func TestADeadServerIsNotAskedMoreThanWeSay(t *testing.T) {
	const attempts = 3
	for name, connections := range map[string]int32{
		"s3":     2 * attempts, // its backend asks twice, come what may
		"azure":  1 + attempts, // opening asks once, and takes no answer for an answer
		"webdav": attempts, "ftp": attempts, "sftp": attempts, "hdfs": attempts,
	} {
		t.Run(name, func(t *testing.T) {
			s := newDeadServer(t, true)
			l := s.locations(t)[name]
			err := ask(t.Context(), impatient(t, rclone.Options{Backoff: quickly(attempts)}), l)
			if !errors.Is(err, storage.ErrUnreachable) {
				t.Fatalf("%v, want ErrUnreachable", err)
			}
			if n := s.asked.Load(); n > connections || n < connections && name != "hdfs" { // the HDFS client sits some out
				t.Errorf("%d connections for %d attempts, want %d", n, attempts, connections)
			}
			if !strings.Contains(err.Error(), l.String()) {
				t.Errorf("%q does not name %s", err, l)
			}
			if hint := storage.Hint(err); !strings.Contains(hint, "sluice remotes test") {
				t.Errorf("hint %q", hint)
			}
		})
	}
}

// TestASilentServerIsGivenUp: one that accepts connections and never answers
// gets two attempts of bounded length.
func TestASilentServerIsGivenUp(t *testing.T) {
	for name, connections := range map[string]int32{"s3": 4, "azure": 3, "webdav": 2, "ftp": 2, "sftp": 2} {
		t.Run(name, func(t *testing.T) {
			s := newDeadServer(t, false)
			err := ask(t.Context(), impatient(t, rclone.Options{Backoff: quickly(100), Silence: 100 * time.Millisecond}), s.locations(t)[name])
			if !errors.Is(err, storage.ErrUnreachable) {
				t.Fatalf("%v, want ErrUnreachable", err)
			}
			if n := s.asked.Load(); n != connections {
				t.Errorf("%d connections, want %d", n, connections)
			}
		})
	}
}

// flaky is a WebDAV server that answers nothing while down is above 0; each
// request counts it down by one.
type flaky struct {
	next  http.Handler
	down  atomic.Int32
	asked atomic.Int32
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked.Add(1)
	if f.down.Add(-1) >= 0 {
		panic(http.ErrAbortHandler) // closes the connection without an answer
	}
	f.next.ServeHTTP(w, r)
}

func flakyServer(t *testing.T) (*flaky, storage.Location) {
	t.Helper()
	f := &flaky{next: &webdav.Handler{FileSystem: webdav.Dir(t.TempDir()), LockSystem: webdav.NewMemLS()}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, davLocation(server, "")
}

// TestATransientFailureIsRetried: whichever request gets no answer, a later
// attempt of the same call does it.
func TestATransientFailureIsRetried(t *testing.T) {
	f, l := flakyServer(t)
	r := openAt(t, impatient(t, rclone.Options{Backoff: quickly(4)}), l)
	data := []byte("content")
	for name, call := range map[string]func() error{
		"put":    func() error { return r.Put(t.Context(), "a", storage.Bytes(data)) },
		"list":   func() error { _, err := r.List(t.Context(), ""); return err },
		"stat":   func() error { _, err := r.Stat(t.Context(), "b"); return err },
		"read":   func() error { _, err := storage.ReadAll(t.Context(), r, "b", 100); return err },
		"delete": func() error { return r.Delete(t.Context(), "a") },
	} {
		t.Run(name, func(t *testing.T) {
			f.down.Store(0)
			if err := r.Put(t.Context(), "b", storage.Bytes(data)); err != nil {
				t.Fatal(err)
			}
			f.down.Store(3)
			if err := call(); err != nil {
				t.Errorf("after three failures: %v", err)
			}
		})
	}
	want, err := storage.ReadAll(t.Context(), r, "b", 100)
	if err != nil || string(want) != string(data) {
		t.Errorf("%q, %v", want, err)
	}
}

// TestAGivenUpRemoteIsNotWaitedForAgain: further calls make one attempt each,
// until one gets through.
func TestAGivenUpRemoteIsNotWaitedForAgain(t *testing.T) {
	const attempts = 4
	f, l := flakyServer(t)
	r := openAt(t, impatient(t, rclone.Options{Backoff: quickly(attempts)}), l)
	if err := r.Put(t.Context(), "a", storage.Bytes([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	requests := func(down int32) (int32, error) {
		f.down.Store(down)
		before := f.asked.Load()
		_, err := r.Stat(t.Context(), "a")
		return f.asked.Load() - before, err
	}
	for i, step := range []struct {
		down, requests int32
		fails          bool
	}{
		{1000, attempts, true}, // given up
		{1000, 1, true},        // and not waited for again
		{0, 1, false},          // it is back
		{attempts - 1, attempts, false},
	} {
		n, err := requests(step.down)
		if n != step.requests || (err != nil) != step.fails {
			t.Errorf("step %d: %d requests, want %d; %v", i, n, step.requests, err)
		}
	}
}
