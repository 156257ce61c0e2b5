//go:build integration

package rclone_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/rclone"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

// childLocation makes the test binary the writer that is killed.
const childLocation = "SLUICE_TEST_KILL_LOCATION"

func TestMain(m *testing.M) {
	text := os.Getenv(childLocation)
	if text == "" {
		os.Exit(m.Run())
	}
	ctx := context.Background()
	l, err := storage.ParseLocation(text, storage.Parsing{AllowOptions: true})
	var r storage.Remote
	if err == nil {
		r, err = rclone.New(rclone.Options{InMemory: true}).Open(ctx, l)
	}
	if err == nil {
		err = storagetest.WriteUntilKilled(ctx, r)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// servers are the real ones that an integration run must have; see
// assets/scripts/servers. Each variable holds a location, connection options
// allowed, below which tests may write. An absent server fails.
var servers = []string{"S3", "AZURE", "SFTP", "WEBDAV", "WEBDAV_APACHE", "FTP", "HDFS"}

func eachServer(t *testing.T, run func(t *testing.T, c *rclone.Client, l storage.Location)) {
	for _, name := range servers {
		t.Run(name, func(t *testing.T) {
			text := os.Getenv("SLUICE_TEST_" + name)
			if text == "" {
				t.Fatalf("SLUICE_TEST_%s is not set; `make test-integration` starts the servers", name)
			}
			l, err := storage.ParseLocation(text, storage.Parsing{AllowOptions: true})
			if err != nil {
				t.Fatal(err)
			}
			c := rclone.New(rclone.Options{InMemory: true})
			t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
			run(t, c, l.Join(fmt.Sprintf("sluice-test-%d", time.Now().UnixNano())))
		})
	}
}

func TestServersKeepTheContract(t *testing.T) {
	eachServer(t, func(t *testing.T, c *rclone.Client, l storage.Location) {
		n := 0
		storagetest.Run(t, func(t *testing.T) storage.Remote {
			n++
			r, err := c.Open(t.Context(), l.Join(fmt.Sprintf("r%d", n)))
			if err != nil {
				t.Fatal(err)
			}
			return r
		})
	})
}

// TestServersSurviveKilledWriters kills real processes that write to the
// server. SLUICE_TEST_KILLS sets how many; the soak target uses 200.
func TestServersSurviveKilledWriters(t *testing.T) {
	kills := 15
	if text := os.Getenv("SLUICE_TEST_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachServer(t, func(t *testing.T, c *rclone.Client, l storage.Location) {
		r, err := c.Open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		storagetest.KillWriters(t, kills, r, func() *exec.Cmd {
			child := exec.Command(self)
			child.Env = append(os.Environ(), childLocation+"="+l.Remote+":"+l.Path)
			return child
		})
	})
}

func TestServersPassTheProbe(t *testing.T) {
	eachServer(t, func(t *testing.T, c *rclone.Client, l storage.Location) {
		report := c.Test(t.Context(), l)
		t.Logf("%+v", report)
		if err := report.Err(); err != nil {
			t.Error(err)
		}
	})
}

// TestServersKeepSnapshots writes three large segments, seals, verifies at
// every level, reads back and prunes.
func TestServersKeepSnapshots(t *testing.T) {
	eachServer(t, func(t *testing.T, c *rclone.Client, l storage.Location) {
		r, err := c.Open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		s := snapshot.NewStore(r, snapshot.Options{})
		w, err := s.Begin(t.Context(), snapshot.Begin{Gate: "0123456789ab", Origin: snapshot.Origin{RootExecutionID: "e1"}})
		if err != nil {
			t.Fatal(err)
		}
		part, err := w.AddPart("main", 0, json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		content := sha256.New()
		var rows []byte
		for i := range 3 {
			data := bytes.Repeat([]byte{byte('a' + i)}, 9<<20+i)
			content.Write(data)
			rows = append(rows, data...)
			if _, err := w.PutSegment(t.Context(), snapshot.NewSegment{Part: part, Index: i, Rows: 1, Extension: "parquet", Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.EndPart(part, 3, [32]byte(content.Sum(nil))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Seal(t.Context(), snapshot.Sealing{}); err != nil {
			t.Fatal(err)
		}
		sn, err := s.Load(t.Context(), w.Ref())
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []snapshot.Level{snapshot.Quick, snapshot.Stored, snapshot.Full} {
			v, err := sn.Verify(t.Context(), level, nil)
			if err != nil {
				t.Errorf("%s: %v", level, err)
			}
			t.Logf("%s: reached %s, %v", level, v.Level, v.Notes)
		}
		var got []byte
		for loaded, err := range sn.Segments(t.Context(), part, snapshot.Reading{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, loaded.Data...)
		}
		if !bytes.Equal(got, rows) {
			t.Errorf("read back %d of %d bytes", len(got), len(rows))
		}
		prune(t, s, w.Ref())
	})
}

func prune(t *testing.T, s *snapshot.Store, ref storage.SnapshotRef) {
	for _, kind := range []snapshot.ActionKind{snapshot.Prune, snapshot.Forget} {
		state := s.Inspect(t.Context(), ref).State
		if _, err := s.Execute(t.Context(), snapshot.Plan{Actions: []snapshot.Action{{Ref: ref, Kind: kind, State: state, Reason: "test"}}}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if ids, err := s.IDs(t.Context(), ref.Gate); err != nil || len(ids) != 0 {
		t.Errorf("after forget: %v, %v", ids, err)
	}
}
