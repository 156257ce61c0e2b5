//go:build integration

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// servers are the real ones that an integration run must have; see
// assets/scripts/servers. SLUICE_TEST_WITHOUT names, with commas, those that a
// machine does not have; any other absent server fails.
var servers = []string{"S3", "AZURE", "SFTP", "WEBDAV", "FTP", "HDFS"}

func eachServer(t *testing.T, run func(t *testing.T, location string)) {
	without := strings.Split(strings.ToUpper(os.Getenv("SLUICE_TEST_WITHOUT")), ",")
	for _, name := range servers {
		if slices.Contains(without, name) {
			t.Logf("without %s, as asked", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			text := os.Getenv("SLUICE_TEST_" + name)
			if text == "" {
				t.Fatalf("SLUICE_TEST_%s is not set", name)
			}
			run(t, fmt.Sprintf("%s/gates-%d", text, time.Now().UnixNano()))
		})
	}
}

const gateRows = 300_000

const gatePipeline = `<?xml version="1.0" encoding="UTF-8"?>
<pipeline>
  <info><name>gates</name></info>
  <order>
    <hop><from>rows</from><to>number</to><enabled>Y</enabled></hop>
    <hop><from>number</from><to>file</to><enabled>Y</enabled></hop>
  </order>
  <transform><name>rows</name><type>RowGenerator</type><distribute>Y</distribute><copies>1</copies>
    <fields><field><name>a</name><type>String</type><nullif>hello</nullif><length>-1</length><precision>-1</precision></field></fields>
    <limit>${ROWS}</limit><attributes/></transform>
  <transform><name>number</name><type>RandomValue</type><distribute>Y</distribute><copies>1</copies>
    <fields><field><name>r</name><type>random number</type></field></fields><attributes/></transform>
  <transform><name>file</name><type>TextFileOutput</type><distribute>Y</distribute><copies>1</copies>
    <separator>;</separator><header>Y</header><format>UNIX</format><compression>None</compression><encoding>UTF-8</encoding>
    <file><name>${OUT}</name><extension>csv</extension></file>
    <fields><field><name>a</name><type>String</type></field><field><name>r</name><type>Number</type><format>0.0000000000000000</format></field></fields><attributes/></transform>
  <attributes/>
</pipeline>
`

// bench is a project with one marked pipeline whose gate is at a location.
type bench struct {
	t    *testing.T
	file string
	ws   *workspace.Workspace
}

func newBench(t *testing.T, location string, rows int) *bench {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(workspace.EnvData, filepath.Join(dir, "data"))
	t.Setenv(workspace.EnvCache, filepath.Join(dir, "cache"))
	b := &bench{t: t, file: filepath.Join(dir, "gates.hpl")}
	if err := os.WriteFile(b.file, []byte(markedAt(t, gatePipeline, "number")), 0o600); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open(workspace.Options{File: b.file, Log: slog.New(slog.DiscardHandler), Variables: map[string]string{
		gate.VariableSnapshots: location, "OUT": filepath.Join(dir, "out"), "ROWS": fmt.Sprint(rows),
	}})
	if err != nil {
		t.Fatal(err)
	}
	ws.Places.AllowOptions = true
	t.Cleanup(func() { _ = ws.Places.Close(context.WithoutCancel(t.Context())) })
	b.ws = ws
	return b
}

// run gives the bytes written, the session and the error.
func (b *bench) run(o gate.SessionOptions) (string, *gate.Session, error) {
	b.t.Helper()
	o.Places, o.Secrets, o.Alloc, o.Local, o.SegmentBytes = b.ws.Places, b.ws.Secrets, b.ws.Runner.Alloc, b.ws.Places.Local, 600_000
	s := gate.NewSession(o)
	out, _ := b.ws.Scope.Get("OUT")
	_ = os.Remove(out + ".csv")
	e, err := b.ws.Runner.Prepare(b.t.Context(), pipeline.Run{File: b.file, Scope: b.ws.Scope, Extend: s.Extend})
	if err == nil {
		_, err = e.Run(b.t.Context())
	}
	if cerr := s.Close(b.t.Context(), err == nil); cerr != nil && err == nil {
		err = cerr
	}
	data, _ := os.ReadFile(out + ".csv")
	return string(data), s, err
}

func TestServersCarryGates(t *testing.T) {
	eachServer(t, func(t *testing.T, location string) {
		b := newBench(t, location, gateRows)
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
	})
}

// TestServersStopInMidRun: the server goes away while segments are stored. The run
// fails, nothing is sealed, and once it is back the replay is refused.
func TestServersStopInMidRun(t *testing.T) {
	eachServer(t, func(t *testing.T, location string) {
		through, stop := throughProxy(t, location)
		back := newBench(t, location, gateRows)
		place, err := back.ws.Places.Place(t.Context(), location)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, through, 40*gateRows)
		go func() {
			defer stop()
			for t.Context().Err() == nil && !hasSegment(t.Context(), place) {
			}
		}()
		_, s, err := b.run(gate.SessionOptions{})
		if err == nil {
			t.Fatal("the run was faster than the stop")
		}
		for _, out := range s.Outcomes() {
			if out.State == storage.SnapshotSealed {
				t.Errorf("sealed although the server was gone: %+v", out)
			}
		}
		list, err := place.Store.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			state := x.State
			if state == storage.SnapshotOpen && !x.Husk {
				if state, err = place.Store.DeclareDead(t.Context(), x.Ref, "its server went away"); err != nil {
					t.Fatal(err)
				}
			}
			if state == storage.SnapshotSealed {
				t.Errorf("%s is SEALED", x.Ref)
			}
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
	return strings.Replace(location, found[0], strings.Replace(found[0], port, own, 1), 1), p.stop
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
