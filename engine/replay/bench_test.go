package replay_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine"
	"sluice/engine/actions"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/replay"
	"sluice/engine/transforms"
	"sluice/engine/workflow"
	"sluice/storage"
	"sluice/storage/record"
	"sluice/storage/snapshot"
)

// bench is a project with a place for snapshots, and a clock.
type bench struct {
	t      *testing.T
	dir    string
	remote *storage.Memory
	ground replay.Ground
	now    time.Time
	ids    uint64
	texts  map[string][]byte // definitions as run, by hash
}

// sums stands for the key of an installation.
type sums struct{}

func (sums) KeyID() string            { return "test" }
func (sums) Sum(secret string) string { return fmt.Sprintf("test:%064x", len(secret)) }

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), remote: &storage.Memory{}, now: time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC), texts: map[string][]byte{}}
	alloc := batch.NewAllocator()
	scope := project.NewVariables()
	scope.Set(project.VariableProjectHome, b.dir)
	pipelines := &pipeline.Runner{
		Registry: transforms.Registry(), Metadata: project.OpenMetadata(), Files: files.Local{}, Alloc: alloc, Now: b.clock, Location: time.UTC,
		Log: slog.New(slog.DiscardHandler),
	}
	workflows := &workflow.Runner{Actions: actions.Registry(), Pipelines: pipelines}
	workflows.Connect()
	b.ground = replay.Ground{
		Pipelines: pipelines, Workflows: workflows, Scope: scope, Secrets: sums{}, Now: b.clock,
		Session: func(o gate.SessionOptions) *gate.Session {
			o.Places, o.Secrets, o.Alloc, o.Log = b, sums{}, alloc, pipelines.Log
			return gate.NewSession(o)
		},
	}
	t.Cleanup(func() {
		if err := alloc.CheckLeaks(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) clock() time.Time { return b.now }

var errDown = errors.New("the location is down")

// Place implements gate.Places.
func (b *bench) Place(_ context.Context, location string) (*gate.Place, error) {
	if location == "down:" {
		return nil, errDown
	}
	return &gate.Place{Location: storage.Location{Remote: "test"}, Remote: b.remote, Store: snapshot.NewStore(b.remote, snapshot.Options{})}, nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// Read implements io.Reader: ids are the same in each run, and in order.
func (b *bench) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b.ids >> (8 * (i % 8)))
	}
	return len(p), nil
}

func (b *bench) id() string {
	b.t.Helper()
	b.ids++
	b.now = b.now.Add(time.Second)
	id, err := storage.NewExecutionID(b.now, b)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// tale is a record that a test writes by hand.
type tale struct {
	*bench
	record.Record
}

// tell begins a record of a file that stands in the project.
func (b *bench) tell(kind storage.ExecutionKind, file string, state storage.State) *tale {
	b.t.Helper()
	tl := &tale{bench: b, Record: record.Record{Metrics: map[string][]storage.TransformMetrics{}}}
	e := tl.execution("", kind, file, state)
	e.Variables = []storage.Variable{{Name: project.VariableProjectHome, Value: b.dir}}
	return tl
}

// replays makes the record that of a replay of another one.
func (tl *tale) replays(of *tale) *tale {
	root := tl.Root()
	root.ReplayOf, root.Origin = of.Root().ID, of.Root().Origin
	return tl
}

func (tl *tale) execution(at string, kind storage.ExecutionKind, file string, state storage.State) *storage.Execution {
	tl.t.Helper()
	text, err := os.ReadFile(tl.path(file))
	if err != nil {
		tl.t.Fatal(err)
	}
	hash := sha256.Sum256(text)
	e := storage.Execution{Definition: hex.EncodeToString(hash[:])}
	tl.texts[e.Definition] = text
	e.ID, e.Kind, e.Name, e.File, e.State, e.CallPath = tl.id(), kind, strings.TrimSuffix(file, filepath.Ext(file)), tl.path(file), state, at
	e.Started, e.Root, e.Origin = tl.now, e.ID, e.ID
	if state.Ended() {
		e.Ended = tl.now.Add(time.Second)
	}
	if len(tl.Executions) > 0 {
		e.Root, e.Origin = tl.Root().ID, tl.Root().Origin
	}
	tl.Executions = append(tl.Executions, e)
	return &tl.Executions[len(tl.Executions)-1]
}

// did notes a run of an action: "Load", "Load#2", "night#1/Load".
func (tl *tale) did(unit string, state storage.ActionState, also ...func(*storage.ActionRun)) *tale {
	at, node := "", unit
	if i := strings.LastIndexByte(unit, '/'); i >= 0 {
		at, node = unit[:i], unit[i+1:]
	}
	ordinal := 1
	if name, n, ok := strings.Cut(node, "#"); ok {
		node = name
		if _, err := fmt.Sscan(n, &ordinal); err != nil {
			tl.t.Fatal(err)
		}
	}
	tl.now = tl.now.Add(time.Second)
	a := storage.ActionRun{
		ActionKey: storage.ActionKey{Root: tl.Root().ID, CallPath: at, Node: node, Ordinal: ordinal}, Execution: tl.Root().ID,
		State: state, Started: tl.now,
	}
	if state.Ended() {
		tl.now = tl.now.Add(time.Second)
		a.Ended = tl.now
		a.Result = &storage.ActionResult{OK: state == storage.ActionSucceeded || state == storage.ActionReused}
	}
	if state == storage.ActionFailed {
		a.Message = "it failed"
	}
	for _, f := range also {
		f(&a)
	}
	tl.Runs = append(tl.Runs, a)
	return tl
}

// decided makes a run that of an action that only chose the other way.
func decided(a *storage.ActionRun) { a.Message = "" }

// was notes the counters of a transform: its state, and what its sink wrote.
func (tl *tale) was(at, name, state string, sink *storage.SinkFacts) *tale {
	for i := range tl.Executions {
		if e := &tl.Executions[i]; e.CallPath == at {
			tl.Metrics[e.ID] = append(tl.Metrics[e.ID], storage.TransformMetrics{Transform: name, State: state, Sink: sink})
		}
	}
	return tl
}

// appended is what a sink on the table "loaded" wrote.
func appended(rows int64, committed bool) *storage.SinkFacts {
	return &storage.SinkFacts{Target: "connection target, table loaded", How: "append", Rows: rows, Committed: committed}
}

// plan makes the plan of a record in its chain, the oldest first; the last one is
// replayed unless the chain says otherwise.
func (b *bench) plan(o replay.Options, of *tale, chain ...*tale) *replay.Plan {
	b.t.Helper()
	p, err := replay.Preflight(b.t.Context(), b.source(of, chain...), b.ground, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) source(of *tale, chain ...*tale) *replay.Source {
	if len(chain) == 0 {
		chain = []*tale{of}
	}
	src := &replay.Source{
		Record: of.Record,
		Rows:   func(_ context.Context, a storage.ActionRun) (storage.RowSet, error) { return a.Rows, nil },
		Definition: func(_ context.Context, hash string) ([]byte, error) {
			if text, ok := b.texts[hash]; ok {
				return text, nil
			}
			return nil, storage.ErrNotFound
		},
	}
	for _, c := range chain {
		src.Chain = append(src.Chain, c.Record)
	}
	return src
}

// wantSteps compares decisions: "Load=RUN", "Load#2=REUSE", "night#1/Load=SKIP".
func wantSteps(t *testing.T, p *replay.Plan, want ...string) {
	t.Helper()
	got := map[string]string{}
	for _, s := range p.Steps {
		if _, twice := got[s.Name()]; twice {
			t.Errorf("%s stands in the plan twice", s.Name())
		}
		got[s.Name()] = string(s.Decision)
	}
	for _, w := range want {
		name, decision, _ := strings.Cut(w, "=")
		if got[name] != decision {
			t.Errorf("%s is %q, want %s; %v", name, got[name], decision, got)
		}
	}
}

// wantChecks compares everything that blocks or warns: "BLOCK open-path", "WARN
// second-write:target".
func wantChecks(t *testing.T, p *replay.Plan, want ...string) {
	t.Helper()
	left := map[string]bool{}
	for _, w := range want {
		left[w] = true
	}
	for _, c := range p.Checks {
		name := string(c.Status) + " " + c.ID
		switch {
		case c.Status != gate.Block && c.Status != gate.Warn:
		case left[name]:
			left[name] = false
		default:
			if _, known := left[name]; !known {
				t.Errorf("unexpected check %s: %s", name, c.What)
			}
		}
	}
	for name, missing := range left {
		if missing {
			t.Errorf("there is no check %s among %v", name, p.Checks)
		}
	}
}

func says(t *testing.T, p *replay.Plan, id string, texts ...string) {
	t.Helper()
	for _, c := range p.Checks {
		if c.ID != id {
			continue
		}
		for _, text := range texts {
			if !strings.Contains(c.String(), text) {
				t.Errorf("%s does not say %q", c, text)
			}
		}
		return
	}
	t.Errorf("there is no check %s", id)
}

// The documents.

func action(name, kind, settings string) string {
	return "<action><name>" + name + "</name><type>" + kind + "</type>" + settings + "</action>\n"
}

func parallel(a string) string {
	return strings.Replace(a, "</action>", "<parallel>Y</parallel></action>", 1)
}

// workflowOf writes a workflow; hops are "a>b" always, "a+b" on success, "a-b" on
// failure.
func workflowOf(hops string, list ...string) string {
	var b strings.Builder
	for h := range strings.FieldsSeq(hops) {
		at := strings.IndexAny(h, ">+-")
		always, evaluation := "N", "Y"
		switch h[at] {
		case '>':
			always = "Y"
		case '-':
			evaluation = "N"
		}
		fmt.Fprintf(&b, "<hop><from>%s</from><to>%s</to><enabled>Y</enabled><evaluation>%s</evaluation><unconditional>%s</unconditional></hop>\n", h[:at], h[at+1:], evaluation, always)
	}
	return "<workflow><name>w</name><actions>\n" + action("Start", "SPECIAL", "") + strings.Join(list, "") + "</actions><hops>\n" + b.String() + "</hops></workflow>\n"
}

func runs(name, file string) string {
	kind := "PIPELINE"
	if strings.HasSuffix(file, ".hwf") {
		kind = "WORKFLOW"
	}
	return action(name, kind, "<filename>${PROJECT_HOME}/"+file+"</filename><run_configuration>local</run_configuration><wait_until_finished>Y</wait_until_finished>")
}

func sets(name, value string) string {
	return action(name, "SET_VARIABLES", "<fields><field><variable_name>DAY</variable_name><variable_value>"+value+"</variable_value><variable_type>CURRENT_WORKFLOW</variable_type></field></fields>")
}

func exists(name string) string { return action(name, "FILE_EXISTS", "<filename>/nowhere</filename>") }

func shell(name string) string {
	return action(name, "SHELL", "<insertScript>Y</insertScript><script>echo told</script>")
}

func node(name, kind, settings string) string {
	return "<transform><name>" + name + "</name><type>" + kind + "</type>" + settings + "</transform>\n"
}

func source(name string) string {
	return node(name, "CSVInput", "<filename>${PROJECT_HOME}/"+name+".csv</filename><separator>,</separator><header>Y</header><fields><field><name>id</name><type>Integer</type></field></fields>")
}

func dummy(name string) string { return node(name, "Dummy", "") }

// sink appends to the table "loaded".
func sink(name string) string {
	return node(name, "TableOutput", "<connection>target</connection><table>loaded</table>")
}

func pipelineOf(hops string, transforms ...string) string {
	var b strings.Builder
	for h := range strings.FieldsSeq(hops) {
		from, to, _ := strings.Cut(h, ">")
		fmt.Fprintf(&b, "<hop><from>%s</from><to>%s</to><enabled>Y</enabled></hop>\n", from, to)
	}
	return "<pipeline><info><name>p</name></info><order>\n" + b.String() + "</order>\n" + strings.Join(transforms, "") + "</pipeline>\n"
}

// mark makes gates of transforms.
func mark(t *testing.T, text string, nodes ...string) string {
	t.Helper()
	d, err := hopxml.Parse("p.hpl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		if d, err = d.Apply(gate.Mark(n, map[string]string{gate.KeyLocation: "test:"}, strings.NewReader(fmt.Sprintf("gate%02d", i)))); err != nil {
			t.Fatal(err)
		}
	}
	return string(d.Bytes())
}

// seal runs the sources of a marked pipeline with all sinks as dummies, and links
// what was sealed to the execution of a record at a place. Then the sources go.
func (tl *tale) seal(at, text string) *tale {
	tl.t.Helper()
	sources := 0
	for part := range strings.SplitSeq(text, "<filename>${PROJECT_HOME}/") {
		if name, _, ok := strings.Cut(part, ".csv<"); ok && !strings.ContainsAny(name, "<> ") {
			tl.write(name+".csv", "id\n1\n2\n3\n")
			sources++
			defer func() { _ = os.Remove(tl.path(name + ".csv")) }() // the test has not to see it
		}
	}
	if sources == 0 {
		tl.t.Fatal("the pipeline has no source")
	}
	file := fmt.Sprintf("sealing-%d.hpl", tl.ids)
	tl.write(file, strings.ReplaceAll(text, "<type>TableOutput</type>", "<type>Dummy</type>"))
	session := tl.ground.Session(gate.SessionOptions{})
	runner := *tl.ground.Pipelines
	runner.Extend = session.Extend
	e, err := runner.Prepare(tl.t.Context(), pipeline.Run{File: tl.path(file), Scope: tl.ground.Scope, CallPath: engine.CallPath(at), ID: tl.child(at).ID, RootID: tl.Root().ID})
	if err != nil {
		tl.t.Fatal(err)
	}
	if _, err := e.Run(tl.t.Context()); err != nil {
		tl.t.Fatal(err)
	}
	if err := session.Close(tl.t.Context(), true); err != nil {
		tl.t.Fatal(err)
	}
	for _, o := range session.Outcomes() {
		if o.State != storage.SnapshotSealed {
			tl.t.Fatalf("%s is %s", o.Node, o.State)
		}
		tl.Snapshots = append(tl.Snapshots, storage.SnapshotLink{
			Execution: tl.child(at).ID, Ref: storage.SnapshotRef{Gate: o.Gate, ID: o.Snapshot}, Role: storage.SnapshotWritten, Location: "test:", CallPath: at, Node: o.Node, Digest: o.Digest,
		})
	}
	return tl
}

func (tl *tale) child(at string) *storage.Execution {
	for i := range tl.Executions {
		if tl.Executions[i].CallPath == at {
			return &tl.Executions[i]
		}
	}
	tl.t.Fatalf("nothing ran at %q", at)
	return nil
}
