package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/engine/action"
	"sluice/engine/actions"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms"
	"sluice/engine/workflow"
)

// Probe does what its settings say; it counts its tries in the variable COUNT.
var Probe = action.Define[ProbeSettings](action.About{ID: "PROBE", Name: "Probe"})

// ProbeSettings says how a run of Probe ends.
type ProbeSettings struct {
	FailFirst int    `hop:"fail_first"` // tries that fail
	Kind      string `hop:"kind"`       // of the failure: refused, 429, 401, false, panic, other
	Rows      int    `hop:"rows"`       // result rows to hand on
	File      string `hop:"file"`       // result file to add
	Below     int    `hop:"below"`      // success while COUNT is below; 0: always
	Read      int    `hop:"read"`
}

// answer is an HTTP failure.
type answer struct {
	status int
	wait   time.Duration
}

func (a *answer) Error() string             { return fmt.Sprintf("answered %d", a.status) }
func (a *answer) HTTPStatus() int           { return a.status }
func (a *answer) RetryAfter() time.Duration { return a.wait }

var failures = map[string]error{
	"refused": syscall.ECONNREFUSED, "429": &answer{429, time.Minute}, "401": &answer{401, 0}, "other": errors.New("broken"),
}

// Run implements action.Settings.
func (s *ProbeSettings) Run(_ context.Context, env *action.Env, r *action.Result) error {
	text, _ := env.Scopes.Variable("COUNT", action.ScopeWorkflow)
	n, _ := strconv.Atoi(text)
	n++
	if err := env.Scopes.Set("COUNT", strconv.Itoa(n), action.ScopeWorkflow); err != nil {
		return err
	}
	r.Read = int64(s.Read)
	if s.Rows > 0 {
		b := env.Alloc.Batch(batch.NewSchema(batch.NewField("who", batch.String)))
		for range s.Rows {
			b.Cols[0].AppendString(env.Action)
		}
		b.SetRows(s.Rows)
		r.SetRows([]*batch.Batch{b})
	}
	if s.File != "" {
		r.AddFile(env.ResultFile(s.File, action.FileGeneral))
	}
	r.Succeed()
	if n <= s.FailFirst {
		switch s.Kind {
		case "false":
			r.Fail()
			return nil
		case "panic":
			panic("probe")
		}
		return failures[s.Kind]
	}
	r.OK = s.Below == 0 || n < s.Below
	return nil
}

// node writes an action; settings are "element=text".
func node(name, kind string, settings ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<action><name>%s</name><type>%s</type>", name, kind)
	for _, s := range settings {
		k, v, _ := strings.Cut(s, "=")
		if strings.HasPrefix(k, "<") {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, "<%s>%s</%s>", k, v, k)
	}
	b.WriteString("</action>")
	return b.String()
}

func retry(settings ...string) string {
	var b strings.Builder
	b.WriteString("<attributes><group><name>sluice-retry</name>")
	for _, s := range settings {
		k, v, _ := strings.Cut(s, "=")
		fmt.Fprintf(&b, "<attribute><key>%s</key><value>%s</value></attribute>", k, v)
	}
	return b.String() + "</group></attributes>"
}

// document writes a workflow. Hops are "from>to" for always, "from+to" for
// success, "from-to" for failure.
func document(nodes []string, hops ...string) string {
	var b strings.Builder
	b.WriteString("<workflow><name>test</name><parameters><parameter><name>P</name><default_value/></parameter></parameters><actions>")
	b.WriteString(strings.Join(nodes, ""))
	b.WriteString("</actions><hops>")
	for _, h := range hops {
		at := strings.IndexAny(h, ">+-")
		fmt.Fprintf(&b, "<hop><from>%s</from><to>%s</to><enabled>Y</enabled><evaluation>%s</evaluation><unconditional>%s</unconditional></hop>",
			h[:at], h[at+1:], map[byte]string{'>': "Y", '+': "Y", '-': "N"}[h[at]], map[byte]string{'>': "Y", '+': "N", '-': "N"}[h[at]])
	}
	b.WriteString("</hops></workflow>")
	return b.String()
}

// bench is a runner in a folder of its own, which counts batches.
type bench struct {
	t      *testing.T
	dir    string
	alloc  *batch.Allocator
	runner *workflow.Runner
	scope  *project.Variables
	log    *strings.Builder

	mu   sync.Mutex // guards runs
	runs []string   // names of the actions that started, in order
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), alloc: batch.NewAllocator(), scope: project.NewVariables(), log: &strings.Builder{}}
	b.scope.Set("DIR", b.dir)
	b.runner = &workflow.Runner{
		Actions: action.NewRegistry(actions.Registry().All(), []action.Definition{Probe}),
		Pipelines: &pipeline.Runner{
			Registry: transforms.Registry(), Metadata: project.OpenMetadata(), Files: files.Local{}, Alloc: b.alloc,
			Now: time.Now, Location: time.UTC,
		},
		Hooks: workflow.Hooks{Started: func(r *workflow.ActionRun) {
			b.mu.Lock()
			b.runs = append(b.runs, r.Action)
			b.mu.Unlock()
		}},
	}
	b.runner.Connect()
	t.Cleanup(func() {
		if n := b.alloc.Live(); n != 0 {
			t.Errorf("%d batches were not released", n)
		}
	})
	return b
}

// write puts a file into the folder.
func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// run runs a workflow and gives its result; rows are counted and released.
func (b *bench) run(doc string, change ...func(*workflow.Run)) (transform.Result, int, error) {
	b.t.Helper()
	e := b.prepare(doc, change...)
	r, err := e.Run(b.t.Context())
	rows := 0
	for _, batch := range r.Rows {
		rows += batch.Rows()
		batch.Release()
	}
	return r, rows, err
}

func (b *bench) prepare(doc string, change ...func(*workflow.Run)) *workflow.Execution {
	b.t.Helper()
	run := workflow.Run{File: b.write("test.hwf", doc), Scope: b.scope}
	for _, c := range change {
		c(&run)
	}
	e, err := b.runner.Prepare(run)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

func (b *bench) order() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.runs, " ")
}
