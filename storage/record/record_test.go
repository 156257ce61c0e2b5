package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/storage"
	"sluice/storage/record"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

const childFolder = "SLUICE_TEST_RECORD_FOLDER"

func TestMain(m *testing.M) {
	dir := os.Getenv(childFolder)
	if dir == "" {
		os.Exit(m.Run())
	}
	ctx := context.Background()
	remote := storage.NewPrivateFolder(dir)
	r := sample(1)
	_, err := record.Begin(ctx, remote, record.Options{}, r)
	if err == nil {
		_, err = record.TakeClaim(ctx, remote, record.Options{}, r.Root().ID, id(99))
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("ready\n")
	select {} // until it is killed
}

var day = time.Date(2026, 9, 1, 2, 0, 0, 0, time.UTC)

func id(n int) string { return fmt.Sprintf("01a00000-0000-7000-8000-%012d", n) }

// sample is the record of execution n with a child.
func sample(n int) record.Record {
	root := storage.Execution{ExecutionHead: storage.ExecutionHead{
		ID: id(n), Root: id(n), Origin: id(n), Kind: storage.KindWorkflow, Name: "nightly & <co>", State: storage.StateRunning, Started: day, Host: "pod",
	}}
	root.Variables = []storage.Variable{{Name: "PW", Value: "k:00112233445566778899aabbccddeeff", Secret: true}}
	child := root
	child.ID, child.Parent, child.CallPath, child.Kind, child.Variables = id(n+500), root.ID, "Extract#1", storage.KindPipeline, nil
	return record.Record{
		Executions: []storage.Execution{root, child},
		Metrics:    map[string][]storage.TransformMetrics{child.ID: {{Transform: "load", State: "Failed", Output: 7, Sink: &storage.SinkFacts{Target: "t", Rows: 7}}}},
		Snapshots:  []storage.SnapshotLink{{Execution: child.ID, Ref: storage.SnapshotRef{Gate: "0123456789ab", ID: id(1)}, Role: storage.SnapshotWritten, Location: "s3:b", Digest: "dd"}},
		Extra:      []byte(`{"project":"p"}`),
	}
}

func withDefinition(t *testing.T, r record.Record, text string) record.Record {
	t.Helper()
	var m storage.MemoryExecutions
	n := storage.NewExecution{Content: []byte(text)}
	n.Kind, n.Name = storage.KindPipeline, "x"
	e, err := m.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	r.Executions[0].Definition = e.Definition
	r.Definitions = map[string][]byte{e.Definition: []byte(text)}
	return r
}

func addRun(r *record.Record, state storage.ActionState) {
	n := len(r.Runs)
	a := storage.ActionRun{
		ActionKey: storage.ActionKey{Root: r.Root().ID, Node: "Load", Ordinal: n + 1}, Execution: r.Root().ID, State: state, Started: day.Add(time.Duration(n) * time.Second),
		Result: &storage.ActionResult{OK: true, Written: int64(n)}, Rows: storage.RowSet{Count: 1, Format: "parquet", Data: []byte{1, 2, byte(n)}},
	}
	r.Runs = append(r.Runs, a)
}

func save(t *testing.T, w *record.Writer, r record.Record) {
	t.Helper()
	if err := w.Save(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, remote storage.Remote, o record.Options, origin string) *record.Loaded {
	t.Helper()
	list, err := record.Load(t.Context(), remote, o, origin)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func newKey(t *testing.T, text string) *snapshot.Key {
	t.Helper()
	k, err := snapshot.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Every state that was saved comes back, with rows and definitions, also over
// many pages of action runs, on each kind of remote.
func TestRecordsComeBack(t *testing.T) {
	for name, remote := range map[string]storage.Remote{"memory": &storage.Memory{}, "folder": storage.NewPrivateFolder(filepath.Join(t.TempDir(), "r"))} {
		t.Run(name, func(t *testing.T) {
			o := record.Options{Keys: []*snapshot.Key{newKey(t, "0123456789abcdef0123")}}
			r := withDefinition(t, sample(1), "<pipeline/>")
			w, err := record.Begin(t.Context(), remote, o, r)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 300 {
				addRun(&r, storage.ActionRunning)
				if n%50 == 0 {
					save(t, w, r)
				}
				r.Runs[n].State, r.Runs[n].Ended = storage.ActionSucceeded, day.Add(time.Hour)
				if n%7 == 0 || n == 299 {
					save(t, w, r)
				}
			}
			r.Executions[0].State, r.Executions[0].Ended = storage.StateFailed, day.Add(time.Hour)
			save(t, w, r)
			if err := w.Save(t.Context(), r); !errors.Is(err, record.ErrEnded) {
				t.Errorf("saved after the end: %v", err)
			}
			if err := errors.Join(w.Close(t.Context()), w.Close(t.Context())); err != nil {
				t.Error(err)
			}

			got := load(t, remote, o, id(1))
			if len(got.Damaged) > 0 || !got.Signed || !got.Ended() {
				t.Errorf("damaged %v, signed %t", got.Damaged, got.Signed)
			}
			for n, a := range r.Runs {
				rows, err := got.Rows(t.Context(), a.ActionKey)
				if err != nil || !bytes.Equal(rows, a.Rows.Data) {
					t.Fatalf("rows of run %d: %v, %v", n, rows, err)
				}
				a.Rows.Data = nil
				if !reflect.DeepEqual(got.Runs[n], a) {
					t.Fatalf("run %d: %+v, want %+v", n, got.Runs[n], a)
				}
			}
			if text, err := got.Definition(t.Context(), r.Root().Definition); err != nil || string(text) != "<pipeline/>" {
				t.Errorf("definition %q, %v", text, err)
			}
			if !reflect.DeepEqual(got.Executions, r.Executions) || !reflect.DeepEqual(got.Metrics, r.Metrics) || !reflect.DeepEqual(got.Snapshots, r.Snapshots) || string(got.Extra) != string(r.Extra) {
				t.Errorf("record %+v\nwant %+v", got.Record, r)
			}
			if life, execution, err := record.Look(t.Context(), remote, id(1)); err != nil || life != record.Ended || execution != id(1) {
				t.Errorf("%s %s, %v", life, execution, err)
			}
			list, err := remote.List(t.Context(), path.Join("executions", id(1)))
			heads := 0
			for _, object := range list {
				if strings.Contains(object.Name, "/record-") {
					heads++
				}
			}
			if err != nil || heads != 4 {
				t.Errorf("%d heads stay, %v", heads, err)
			}
			if origins, err := record.Origins(t.Context(), remote); err != nil || !reflect.DeepEqual(origins, []string{id(1)}) {
				t.Errorf("origins %v, %v", origins, err)
			}
			if err := record.Remove(t.Context(), remote, id(1)); err != nil {
				t.Error(err)
			}
			if left, err := remote.List(t.Context(), "executions"); err != nil || len(left) != 0 {
				t.Errorf("left %v, %v", left, err)
			}
			if _, err := record.Load(t.Context(), remote, o, id(1)); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("removed record: %v", err)
			}
		})
	}
}

// The record can be built from any execution store.
func TestCollect(t *testing.T) {
	var m storage.MemoryExecutions
	n := storage.NewExecution{Content: []byte("<workflow/>")}
	n.Kind, n.Name, n.State = storage.KindWorkflow, "w", storage.StateRunning
	e, err := m.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	n.Parent = e.ID
	in, err := m.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	ref := storage.SnapshotRef{Gate: "0123456789ab", ID: id(3)}
	err = errors.Join(m.SaveMetrics(t.Context(), in.ID, []storage.TransformMetrics{{Transform: "x", State: "Finished"}}),
		m.LinkSnapshot(t.Context(), storage.SnapshotLink{Execution: in.ID, Ref: ref, Role: storage.SnapshotWritten, Location: "l"}), m.RecordSeal(t.Context(), ref, "dd"),
		m.SaveActionRun(t.Context(), storage.ActionRun{ActionKey: storage.ActionKey{Root: e.ID, Node: "n", Ordinal: 1}, Execution: e.ID, State: storage.ActionFailed}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Collect(t.Context(), &m, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	var remote storage.Memory
	w, err := record.Begin(t.Context(), &remote, record.Options{}, r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(t.Context()) }()
	got := load(t, &remote, record.Options{}, e.ID)
	if len(got.Executions) != 2 || len(got.Runs) != 1 || len(got.Metrics[in.ID]) != 1 || got.Snapshots[0].Digest != "dd" {
		t.Errorf("collected %+v", got.Record)
	}
	if text, err := got.Definition(t.Context(), e.Definition); err != nil || string(text) != "<workflow/>" {
		t.Errorf("definition %q, %v", text, err)
	}
}

// A replay on another machine stores its record beside the original's.
func TestChainOfReplays(t *testing.T) {
	var remote storage.Memory
	for _, n := range []int{1, 2} {
		r := sample(n)
		for i := range r.Executions {
			r.Executions[i].Origin = id(1)
		}
		if n == 2 {
			r.Executions[0].ReplayOf = id(1)
		}
		w, err := record.Begin(t.Context(), &remote, record.Options{}, r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close(t.Context()) }()
	}
	list, err := record.Load(t.Context(), &remote, record.Options{}, id(1))
	if err != nil || len(list) != 2 || list[0].Root().ID != id(1) || list[1].Root().ReplayOf != id(1) {
		t.Errorf("%d records, %v", len(list), err)
	}
}

func object(t *testing.T, remote storage.Remote, part string) (name string, data []byte) {
	t.Helper()
	list, err := remote.List(t.Context(), path.Join("executions", id(1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if strings.Contains(o.Name, part) {
			name = o.Name
		}
	}
	data, err = storage.ReadAll(t.Context(), remote, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return name, data
}

func put(t *testing.T, remote storage.Remote, name string, data []byte) {
	t.Helper()
	if err := remote.Put(t.Context(), name, storage.Bytes(data)); err != nil {
		t.Fatal(err)
	}
}

// Any changed byte of the newest head is found; then the head before it
// counts, and the damage is reported.
func TestMutations(t *testing.T) {
	remote := &storage.Memory{}
	r := sample(1)
	w, err := record.Begin(t.Context(), remote, record.Options{}, r)
	if err != nil {
		t.Fatal(err)
	}
	addRun(&r, storage.ActionSucceeded)
	save(t, w, r)
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	name, data := object(t, remote, "-000001.json")
	for at := range data {
		for _, bit := range []byte{1, 0x20} {
			changed := bytes.Clone(data)
			changed[at] ^= bit
			copied := remote.Clone()
			put(t, copied, name, changed)
			got, err := record.Load(t.Context(), copied, record.Options{}, id(1))
			if errors.Is(err, record.ErrNewerFormat) {
				continue
			}
			if err != nil || got[0].Seq != 0 || len(got[0].Damaged) != 1 {
				t.Fatalf("byte %d (%s): %v", at, changed[max(at-20, 0):min(at+5, len(changed))], err)
			}
		}
	}
	for cut := range len(data) {
		copied := remote.Clone()
		put(t, copied, name, data[:cut])
		if got := load(t, copied, record.Options{}, id(1)); got.Seq != 0 || len(got.Damaged) != 1 {
			t.Fatalf("cut at %d: head %d", cut, got.Seq)
		}
	}
	blob, _ := object(t, remote, "blob-")
	put(t, remote, blob, []byte("other rows"))
	if _, err := load(t, remote, record.Options{}, id(1)).Rows(t.Context(), r.Runs[0].ActionKey); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("changed rows: %v", err)
	}
}

func TestKeys(t *testing.T) {
	right, wrong := newKey(t, "right key 0123456789"), newKey(t, "wrong key 0123456789")
	begin := func(keys ...*snapshot.Key) storage.Remote {
		remote := &storage.Memory{}
		w, err := record.Begin(t.Context(), remote, record.Options{Keys: keys}, sample(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		return remote
	}
	for name, c := range map[string]struct {
		remote storage.Remote
		keys   []*snapshot.Key
		want   error
	}{
		"signed": {begin(right), []*snapshot.Key{wrong, right}, nil}, "no key at hand": {begin(right), nil, nil},
		"unsigned": {begin(), []*snapshot.Key{right}, record.ErrUnsigned}, "wrong key": {begin(right), []*snapshot.Key{wrong}, record.ErrWrongKey},
	} {
		if _, err := record.Load(t.Context(), c.remote, record.Options{Keys: c.keys}, id(1)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A whole head that does not follow the one before it is not believed.
func TestForeignHead(t *testing.T) {
	remote := &storage.Memory{}
	w, err := record.Begin(t.Context(), remote, record.Options{}, sample(1))
	if err != nil {
		t.Fatal(err)
	}
	before := remote.Clone()
	one, other := sample(1), sample(1)
	addRun(&one, storage.ActionFailed)
	save(t, w, one)
	name, data := object(t, remote, "-000001.json")
	// The same writer's next head, from a history that was not this one.
	addRun(&other, storage.ActionSucceeded)
	forged := bytes.Replace(data, []byte("FAILED"), []byte("SUCCEEDED"), 1)
	put(t, before, name, forged)
	if got := load(t, before, record.Options{}, id(1)); got.Seq != 0 || len(got.Damaged) != 1 {
		t.Errorf("head %d, damaged %v", got.Seq, got.Damaged)
	}
	first, zero := object(t, remote, "-000000.json")
	put(t, remote, first, bytes.Replace(zero, []byte(`"seq":0`), []byte(`"seq":9`), 1))
	if got := load(t, remote, record.Options{}, id(1)); got.Seq != 1 || len(got.Damaged) != 1 {
		t.Errorf("head %d, damaged %v", got.Seq, got.Damaged)
	}
	_ = w.Close(t.Context())
}

func TestNoSecretLeaves(t *testing.T) {
	var values storage.SecretValues
	values.Add(storagetest.Secrets...)
	remote := &storage.Memory{}
	r := sample(1)
	for _, secret := range storagetest.Secrets {
		r.Executions[0].Variables = append(r.Executions[0].Variables, storage.Variable{Name: "V", Value: "x" + secret})
		addRun(&r, storage.ActionFailed)
		a := &r.Runs[len(r.Runs)-1]
		a.Message, a.Result.LogText, a.Files = secret, secret, []storage.ResultFile{{Path: "/x/" + secret}}
		r.Snapshots[0].Location += secret
		r.Metrics[r.Executions[1].ID][0].Sink.Target += secret
	}
	w, err := record.Begin(t.Context(), remote, record.Options{Redact: values.Redact}, r)
	if err != nil {
		t.Fatal(err)
	}
	_, data := object(t, remote, "record-")
	got := load(t, remote, record.Options{}, id(1))
	text := fmt.Sprintf("%s %+v %+v", data, got.Record, *got.Metrics[r.Executions[1].ID][0].Sink)
	for _, secret := range storagetest.Secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%q left the machine", secret)
		}
	}
	if strings.Count(text, storage.RedactedText) < 10 {
		t.Error("nothing was redacted")
	}
	r.Executions[0].Variables = []storage.Variable{{Name: "PW", Value: "hunter2", Secret: true}}
	if err := w.Save(t.Context(), r); !errors.Is(err, storage.ErrSecretInClear) {
		t.Errorf("secret in clear: %v", err)
	}
	_ = w.Close(t.Context())
}

// On a remote without locks, only time tells whether a writer lives, and a
// writer that is cut off stops itself first.
func TestLifeOfAWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := &storage.Memory{}
		faults := storagetest.NewFaulty(remote, storagetest.Faults{})
		w, err := record.Begin(t.Context(), faults, record.Options{}, sample(1))
		if err != nil {
			t.Fatal(err)
		}
		if life, _, err := record.Look(t.Context(), remote, id(1)); err != nil || life != record.Unknown {
			t.Errorf("look: %s, %v", life, err)
		}
		if life, execution, err := record.Watch(t.Context(), remote, id(1)); err != nil || life != record.Alive || execution != id(1) {
			t.Errorf("watch: %s, %v", life, err)
		}
		if err := w.Close(t.Context()); err != nil { // without an end
			t.Fatal(err)
		}
		start := time.Now()
		if life, _, err := record.Watch(t.Context(), remote, id(1)); err != nil || life != record.Dead || time.Since(start) < 200*time.Second {
			t.Errorf("watch after an abrupt end: %s after %s, %v", life, time.Since(start), err)
		}
	})
}

// find gives the name of the object with a base name, below a folder.
func find(t *testing.T, remote storage.Remote, folder, base string) string {
	t.Helper()
	list, err := remote.List(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		switch {
		case o.Dir:
			if name := find(t, remote, o.Name, base); name != "" {
				return name
			}
		case path.Base(o.Name) == base:
			return o.Name
		}
	}
	return ""
}

// A lease that its writer did not end writing blocks nobody for ever.
func TestTornLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := &storage.Memory{}
		w, err := record.Begin(t.Context(), remote, record.Options{}, sample(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(t.Context()); err != nil { // without an end
			t.Fatal(err)
		}
		if err := remote.Put(t.Context(), find(t, remote, "", "lease.json"), storage.Bytes([]byte(`{"format":"slu`))); err != nil {
			t.Fatal(err)
		}
		if life, execution, err := record.Look(t.Context(), remote, id(1)); err != nil || life != record.Unknown || execution != "" {
			t.Errorf("look: %s of %q, %v", life, execution, err)
		}
		start := time.Now()
		if life, _, err := record.Watch(t.Context(), remote, id(1)); err != nil || life != record.Dead || time.Since(start) < 200*time.Second {
			t.Errorf("watch: %s after %s, %v", life, time.Since(start), err)
		}
	})
}

func TestWriterIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := &switchable{Memory: &storage.Memory{}}
		w, err := record.Begin(t.Context(), remote, record.Options{}, sample(1))
		if err != nil {
			t.Fatal(err)
		}
		claim, err := record.TakeClaim(t.Context(), remote, record.Options{}, id(1), id(2))
		if err != nil {
			t.Fatal(err)
		}
		remote.down.Store(true)
		time.Sleep(90 * time.Second) // virtual
		if err := claim.Alive(); err != nil {
			t.Errorf("fenced too early: %v", err)
		}
		time.Sleep(30 * time.Second)
		remote.down.Store(false)
		if err := w.Save(t.Context(), sample(1)); !errors.Is(err, record.ErrFenced) {
			t.Errorf("save after a long silence: %v", err)
		}
		if err := claim.Alive(); !errors.Is(err, record.ErrFenced) {
			t.Errorf("claim after a long silence: %v", err)
		}
		_ = w.Close(t.Context())
		_ = claim.Release(t.Context())
	})
}

// The lost pod, as far as the record goes: a process on a local disk is killed
// without warning. Its lock tells at once.
func TestKilledWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	remote := storage.NewPrivateFolder(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env, c.Stderr = append(os.Environ(), childFolder+"="+dir), os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if life, execution, err := record.Look(t.Context(), remote, id(1)); err != nil || life != record.Alive || execution != id(1) {
		t.Errorf("while it lives: %s, %v", life, err)
	}
	var claimed *record.ClaimedError
	if _, err := record.TakeClaim(t.Context(), remote, record.Options{}, id(1), id(5)); !errors.As(err, &claimed) || claimed.Execution != id(99) || claimed.PID != c.Process.Pid {
		t.Errorf("claim beside a living one: %v", err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if life, _, err := record.Look(t.Context(), remote, id(1)); err != nil || life != record.Dead {
		t.Errorf("after the kill: %s, %v", life, err)
	}
	if got := load(t, remote, record.Options{}, id(1)); got.Ended() || len(got.Executions) != 2 {
		t.Errorf("record %+v", got.Record)
	}
	claim, err := record.TakeClaim(t.Context(), remote, record.Options{}, id(1), id(6))
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
