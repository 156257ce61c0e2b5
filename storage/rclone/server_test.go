package rclone_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/webdav"

	"sluice/storage"
	"sluice/storage/rclone"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

// davServer is a WebDAV server in this process over a folder.
func davServer(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(&webdav.Handler{FileSystem: webdav.Dir(dir), LockSystem: webdav.NewMemLS()})
	t.Cleanup(s.Close)
	return s
}

func davLocation(s *httptest.Server, root string) storage.Location {
	return storage.Location{Remote: fmt.Sprintf(`:webdav,url="%s",vendor=other`, s.URL), Path: root}
}

func openAt(t *testing.T, c *rclone.Client, l storage.Location) storage.Remote {
	t.Helper()
	r, err := c.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWebDAVKeepsTheContract(t *testing.T) {
	c, server, n := client(t), davServer(t, t.TempDir()), 0
	storagetest.Run(t, func(t *testing.T) storage.Remote {
		n++
		return openAt(t, c, davLocation(server, fmt.Sprintf("r%d", n)))
	})
}

// TestServerStopsInMidRun: whenever the server goes away, the writer says so,
// nothing is sealed by half, and what is left is INTERRUPTED.
func TestServerStopsInMidRun(t *testing.T) {
	for name, stopAt := range map[string]string{
		"at a segment": "PUT 3", "at the manifest": "PUT 6", "at the last rename": "MOVE 6",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			handler := &webdav.Handler{FileSystem: webdav.Dir(dir), LockSystem: webdav.NewMemLS()}
			server := httptest.NewServer(&stopping{next: handler, at: stopAt, counts: map[string]int{}})
			defer server.Close()
			c := rclone.New(rclone.Options{InMemory: true, Backoff: storage.Backoff{Attempts: 1}})
			t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
			s := snapshot.NewStore(openAt(t, c, davLocation(server, "s")), snapshot.Options{})
			ref, err := threeSegments(t.Context(), s)
			if !errors.Is(err, storage.ErrUnreachable) {
				t.Errorf("the writer says %v, want ErrUnreachable", err)
			}
			again := davServer(t, dir)
			s = snapshot.NewStore(openAt(t, c, davLocation(again, "s")), snapshot.Options{})
			if state, err := s.DeclareDead(t.Context(), ref, "its server went away"); err != nil || state != storage.SnapshotInterrupted {
				t.Errorf("state %s, %v", state, err)
			}
			if _, err := s.Load(t.Context(), ref); !errors.Is(err, snapshot.ErrInterrupted) {
				t.Errorf("load: %v", err)
			}
		})
	}
}

// stopping answers nothing any more from the nth request of a method on.
type stopping struct {
	next    http.Handler
	at      string // "PUT 3"
	counts  map[string]int
	stopped bool
}

func (s *stopping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.counts[r.Method]++
	s.stopped = s.stopped || s.at == fmt.Sprintf("%s %d", r.Method, s.counts[r.Method])
	if s.stopped {
		panic(http.ErrAbortHandler) // closes the connection without an answer
	}
	s.next.ServeHTTP(w, r)
}

func threeSegments(ctx context.Context, s *snapshot.Store) (storage.SnapshotRef, error) {
	w, err := s.Begin(ctx, snapshot.Begin{Gate: "0123456789ab", Origin: snapshot.Origin{RootExecutionID: "e1"}})
	if err != nil {
		return storage.SnapshotRef{}, err
	}
	defer func() { _ = w.Close(ctx) }()
	part, err := w.AddPart("main", 0, []byte(`{}`))
	if err != nil {
		return w.Ref(), err
	}
	for i := range 3 {
		if _, err := w.PutSegment(ctx, snapshot.NewSegment{Part: part, Index: i, Rows: 1, Extension: "parquet", Data: make([]byte, 100_000+i)}); err != nil {
			return w.Ref(), err
		}
	}
	if err := w.EndPart(part, 3, [32]byte{}); err != nil {
		return w.Ref(), err
	}
	_, err = w.Seal(ctx, snapshot.Sealing{})
	return w.Ref(), err
}
