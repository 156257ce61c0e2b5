//go:build integration

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// servers are the real ones that an integration run must have; see
// assets/scripts/servers. An absent one fails.
var servers = []string{"S3", "AZURE", "SFTP", "WEBDAV", "WEBDAV_APACHE", "FTP", "HDFS"}

func eachServer(t *testing.T, run func(t *testing.T, location string)) {
	for _, name := range servers {
		t.Run(name, func(t *testing.T) {
			text := os.Getenv("SLUICE_TEST_" + name)
			if text == "" {
				t.Fatalf("SLUICE_TEST_%s is not set; `make test-integration` starts the servers", name)
			}
			run(t, fmt.Sprintf("%s/gates-%d", text, time.Now().UnixNano()))
		})
	}
}

const gateRows = 300_000

// TestServersCarryGates: at least three segments go through a gate, and are sealed,
// verified, replayed from the server alone and pruned.
func TestServersCarryGates(t *testing.T) {
	t.Run("local", func(t *testing.T) { carryGates(t, filepath.Join(t.TempDir(), "snapshots")) })
	eachServer(t, carryGates)
}

func carryGates(t *testing.T, location string) {
	b := newBench(t, gatePipeline(t, ""), location, gateRows)
	first, s, err := b.run(gate.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := s.Outcomes()[0]
	if o.State != storage.SnapshotSealed || o.Rows != gateRows {
		t.Fatalf("%+v", o)
	}
	place, err := b.ws.Places.Place(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	ref := storage.SnapshotRef{Gate: o.Gate, ID: o.Snapshot}
	sn, err := place.Store.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(sn.Manifest.Segments); n < 3 {
		t.Errorf("only %d segments", n)
	}
	if _, err := sn.Verify(t.Context(), snapshot.Full, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ws.Places.Cache().Clear(); err != nil { // the rows must come from the server
		t.Fatal(err)
	}
	again, _, err := b.run(gate.SessionOptions{From: []gate.Start{{Node: "number"}}})
	if err != nil || again != first || !strings.Contains(first, "hello;") {
		t.Fatalf("replay: %v, %d and %d bytes", err, len(first), len(again))
	}
	list, err := place.Store.List(t.Context(), o.Gate)
	if err != nil {
		t.Fatal(err)
	}
	plan := snapshot.PlanRetention(list, snapshot.Policy{MaxAge: time.Nanosecond, Orphans: true}, func(string) snapshot.ExecutionFacts { return snapshot.ExecutionFacts{} }, time.Now())
	if _, err := place.Store.Execute(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	_, _, err = b.run(gate.SessionOptions{From: []gate.Start{{Node: "number", Snapshot: o.Snapshot}}})
	if _, refused := errors.AsType[*gate.RefusedError](err); !refused {
		t.Errorf("a pruned snapshot: %v", err)
	}
}

// deadWithin is how long a run may go on after its server has stopped: one call
// with all its attempts, and a moment for what is said about each gate.
const deadWithin = 30 * time.Second

// TestServersStopInMidRun: the server goes away while segments are stored. The run
// fails soon and says so, nothing is sealed, and once the server is back the replay
// is refused.
func TestServersStopInMidRun(t *testing.T) {
	eachServer(t, func(t *testing.T, location string) {
		through, stop := throughProxy(t, location)
		const rows = 40 * gateRows
		text := gatePipeline(t, "")
		back := newBench(t, text, location, rows)
		place, err := back.ws.Places.Place(t.Context(), location)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, text, through, rows)
		stopped := make(chan time.Time)
		ended, end := context.WithCancel(t.Context())
		go func() {
			defer close(stopped)
			for ended.Err() == nil && !hasSegment(ended, place) {
			}
			at := time.Now()
			stop()
			stopped <- at
		}()
		var took time.Duration
		_, s, err := func() (string, *gate.Session, error) {
			defer func() { end(); took = time.Since(<-stopped) }()
			return b.run(gate.SessionOptions{})
		}()
		t.Logf("the run ended %s after its server: %v", took.Round(time.Millisecond), err)
		if !errors.Is(err, storage.ErrUnreachable) {
			t.Fatalf("%v, want ErrUnreachable", err)
		}
		if took > deadWithin {
			t.Errorf("the run went on for %s without its server", took)
		}
		if l, perr := storage.ParseLocation(through, storage.Parsing{AllowOptions: true}); perr != nil || !strings.Contains(err.Error(), l.String()) {
			t.Errorf("the error does not name %s", l)
		}
		if storage.Hint(err) == "" {
			t.Error("the error does not say what to do")
		}
		for _, out := range s.Outcomes() {
			if out.State == storage.SnapshotSealed {
				t.Errorf("sealed although the server was gone: %+v", out)
			}
		}
		if !hasSegment(t.Context(), place) {
			t.Fatal("no segment was stored before the server stopped")
		}
		list, err := place.Store.List(t.Context(), "")
		if err != nil || len(list) != 1 {
			t.Fatalf("%d snapshots, %v", len(list), err)
		}
		ref := list[0].Ref
		if state, err := place.Store.DeclareDead(t.Context(), ref, "its server went away"); err != nil || state != storage.SnapshotInterrupted {
			t.Fatalf("declared dead: %s, %v", state, err)
		}
		_, _, err = back.run(gate.SessionOptions{From: []gate.Start{{Node: "number", Snapshot: ref.ID}}})
		refused, ok := errors.AsType[*gate.RefusedError](err)
		if !ok || !slices.ContainsFunc(refused.Checks, func(c gate.Check) bool { return c.What == gate.InterruptedMessage && c.Status == gate.Block }) {
			t.Errorf("the replay: %v", err)
		}
	})
}

// hasSegment says whether the first segment is stored.
func hasSegment(ctx context.Context, p *gate.Place) bool {
	gates, _ := p.Store.Gates(ctx)
	for _, g := range gates {
		list, _ := p.Store.List(ctx, g)
		for _, x := range list {
			objects, _ := p.Remote.List(ctx, g+"/"+x.Ref.ID)
			for _, o := range objects {
				if strings.Contains(o.Name, "-seg-") && !storage.IsTemporary(o.Name) {
					return true
				}
			}
		}
	}
	return false
}

var portPattern = regexp.MustCompile(`127\.0\.0\.1:(\d+)|port=(\d+)`)

// emulator is the account that every Azure storage emulator has, by its manual.
const emulator = `account=devstoreaccount1,key="Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",endpoint="http://127.0.0.1:10000/devstoreaccount1"`

// throughProxy leads a location through a TCP proxy that can be stopped.
func throughProxy(t *testing.T, location string) (string, func()) {
	t.Helper()
	location = strings.Replace(location, "use_emulator=true", emulator, 1)
	found := portPattern.FindStringSubmatch(location)
	if found == nil {
		t.Fatalf("no port in the location of %s", storage.Redact(location))
	}
	port := found[1] + found[2]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: "127.0.0.1:" + port}
	go p.serve()
	t.Cleanup(p.stop)
	own := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	location = strings.Replace(location, found[0], strings.Replace(found[0], port, own, 1), 1)
	return knownHost(t, location, port, own), p.stop
}

var hostsPattern = regexp.MustCompile(`known_hosts_file="([^"]+)"`)

// knownHost lets an SSH client know the host at another port.
func knownHost(t *testing.T, location, port, other string) string {
	t.Helper()
	found := hostsPattern.FindStringSubmatch(location)
	if found == nil {
		return location
	}
	hosts, err := os.ReadFile(found[1])
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(hosts), "]:"+port+" ", "]:"+other+" ")), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(location, found[1], name, 1)
}

type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex // guards what follows
	conns []net.Conn
	ended bool
}

func (p *proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("tcp", p.target)
		if err != nil || !p.keep(c, s) {
			_ = c.Close()
			continue
		}
		go func() { _, _ = io.Copy(s, c); _ = s.Close() }()
		go func() { _, _ = io.Copy(c, s); _ = c.Close() }()
	}
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conns...)
	return !p.ended
}

func (p *proxy) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	_ = p.listener.Close()
	for _, c := range p.conns {
		_ = c.Close()
	}
}
