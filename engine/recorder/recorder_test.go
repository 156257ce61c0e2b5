package recorder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/engine/actions"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/recorder"
	"sluice/engine/transforms"
	"sluice/engine/workflow"
	"sluice/storage"
)

// sums stands for the key of an installation.
type sums struct{}

func (sums) KeyID() string            { return "test" }
func (sums) Sum(secret string) string { return fmt.Sprintf("test:%064x", len(secret)) }

type bench struct {
	t         *testing.T
	dir       string
	store     *storage.MemoryExecutions
	values    *storage.SecretValues
	scope     *project.Variables
	pipelines *pipeline.Runner
	workflows *workflow.Runner
	recorder  *recorder.Recorder
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), values: &storage.SecretValues{}, scope: project.NewVariables()}
	b.store = &storage.MemoryExecutions{Redact: b.values.Redact}
	alloc := batch.NewAllocator()
	b.pipelines = &pipeline.Runner{
		Registry: transforms.Registry(), Metadata: project.OpenMetadata(), Files: files.Local{}, Alloc: alloc, Now: time.Now, Location: time.UTC,
		Log: slog.New(slog.DiscardHandler),
	}
	b.workflows = &workflow.Runner{Actions: actions.Registry(), Pipelines: b.pipelines}
	b.workflows.Connect()
	b.scope.Set("DIR", b.dir)
	b.recorder = recorder.New(recorder.Options{Store: b.store, Secrets: sums{}, Values: b.values, LogLevel: "basic", SampleEvery: time.Hour})
	b.recorder.Attach(b.pipelines, b.workflows)
	t.Cleanup(func() {
		if err := b.recorder.Trouble(); err != nil {
			t.Errorf("not recorded: %v", err)
		}
		if err := alloc.CheckLeaks(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) runWorkflow(text string) string {
	b.t.Helper()
	e, err := b.workflows.Prepare(workflow.Run{File: b.write("main.hwf", text), Scope: b.scope})
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := e.Run(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, x := range r.Rows {
		x.Release()
	}
	return e.ID()
}

func action(name, kind, settings string) string {
	return "<action><name>" + name + "</name><type>" + kind + "</type>" + settings + "</action>"
}

func workflowOf(hops string, list ...string) string {
	var b strings.Builder
	for h := range strings.FieldsSeq(hops) {
		from, to, _ := strings.Cut(h, ">")
		fmt.Fprintf(&b, "<hop><from>%s</from><to>%s</to><enabled>Y</enabled><evaluation>Y</evaluation><unconditional>Y</unconditional></hop>", from, to)
	}
	return "<workflow><name>main</name><parameters><parameter><name>P</name><default_value>one</default_value></parameter></parameters><actions>" +
		action("Start", "SPECIAL", "") + strings.Join(list, "") + "</actions><hops>" + b.String() + "</hops></workflow>"
}

const childPipeline = `<pipeline><info><name>child</name></info><order><hop><from>rows</from><to>result</to><enabled>Y</enabled></hop></order>
<transform><name>rows</name><type>RowGenerator</type><limit>3</limit><fields><field><name>a</name><type>String</type><nullif>x</nullif></field></fields></transform>
<transform><name>result</name><type>RowsToResult</type></transform></pipeline>`

func TestAWorkflowIsRecordedWithAllBelowIt(t *testing.T) {
	b := newBench(t)
	b.write("child.hpl", childPipeline)
	secret := "correct horse"
	b.scope.Set("DB_PASSWORD", secret)
	id := b.runWorkflow(workflowOf("Start>set set>child child>file file>stop",
		action("set", "SET_VARIABLES", "<replacevars>Y</replacevars><fields><field><variable_name>DAY</variable_name><variable_value>2026-12-01</variable_value><variable_type>CURRENT_WORKFLOW</variable_type></field></fields>"),
		action("child", "PIPELINE", "<filename>${DIR}/child.hpl</filename><run_configuration>local</run_configuration><wait_until_finished>Y</wait_until_finished>"),
		action("file", "CREATE_FILE", "<filename>${DIR}/made.txt</filename><add_filename_result>Y</add_filename_result>"),
		action("stop", "ABORT", "<message>with ${DB_PASSWORD} inside</message>"),
	))
	ctx := context.Background()
	head, err := b.store.Execution(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if head.State != storage.StateFailed || head.Kind != storage.KindWorkflow || head.Name != "main" || len(head.Parameters) != 1 || head.Parameters[0].Value != "one" {
		t.Errorf("execution %+v", head)
	}
	tree, err := b.store.Tree(ctx, id)
	if err != nil || len(tree) != 2 || tree[1].CallPath != "child#1" || tree[1].State != storage.StateSucceeded || tree[1].Parent != id {
		t.Fatalf("tree %+v, %v", tree, err)
	}
	runs, err := b.store.ActionRuns(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	byName := map[string]storage.ActionRun{}
	for _, a := range runs {
		states = append(states, a.Node+" "+string(a.State))
		byName[a.Node] = a
	}
	want := []string{"Start SUCCEEDED", "set SUCCEEDED", "child SUCCEEDED", "file SUCCEEDED", "stop FAILED"}
	if !slices.Equal(states, want) {
		t.Errorf("actions %q, want %q", states, want)
	}
	set := byName["set"]
	if len(set.After) != 1 || set.After[0] != (storage.Variable{Name: "DAY", Value: "2026-12-01"}) || len(set.Before) != 0 {
		t.Errorf("set: after %v, before %v", set.After, set.Before)
	}
	child := byName["child"]
	if child.Rows.Count != 3 || child.Rows.Format != recorder.RowsFormat || child.Child != tree[1].ID {
		t.Errorf("child: %+v", child)
	}
	if f := byName["file"].Files; len(f) != 1 || f[0].SHA256 == "" || !strings.HasSuffix(f[0].Path, "made.txt") {
		t.Errorf("files %+v", f)
	}
	metrics, err := b.store.Metrics(ctx, tree[1].ID)
	if err != nil || len(metrics) != 2 || metrics[0].Written != 3 {
		t.Errorf("metrics %+v, %v", metrics, err)
	}
	b.scan(id, secret)
}

// scan looks for a secret in everything that was stored, and counts log lines.
func (b *bench) scan(id, secret string) {
	b.t.Helper()
	ctx := context.Background()
	head, err := b.store.Execution(ctx, id)
	if err != nil {
		b.t.Fatal(err)
	}
	runs, err := b.store.ActionRuns(ctx, id)
	if err != nil {
		b.t.Fatal(err)
	}
	log, err := b.store.Logs(ctx, storage.LogQuery{Root: id})
	if err != nil || len(log.Entries) < 10 {
		b.t.Fatalf("%d log entries, %v", len(log.Entries), err)
	}
	for what, v := range map[string]any{"execution": head, "runs": runs, "log": log} {
		text, err := json.Marshal(v)
		if err != nil {
			b.t.Fatal(err)
		}
		if strings.Contains(string(text), secret) {
			b.t.Errorf("the %s holds the secret", what)
		}
	}
	seen := map[string]int{}
	for _, e := range log.Entries {
		if e.Text != "" {
			seen[e.Time.String()+e.Node+e.Text]++
		}
	}
	for line, n := range seen {
		if n > 1 {
			b.t.Errorf("%d times: %s", n, line)
		}
	}
}

func TestSecretsStayOutOfDefinitions(t *testing.T) {
	b := newBench(t)
	doc := strings.Replace(childPipeline, "<limit>3</limit>", "<limit>3</limit><password>open sesame</password><proxy_password>Encrypted 2be98afc86aa7f2e4cb79ff228dc6fa8c</proxy_password><token>${TOKEN}</token>", 1)
	e, err := b.pipelines.Prepare(t.Context(), pipeline.Run{File: b.write("p.hpl", doc), Scope: b.scope})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Rows {
		x.Release()
	}
	head, err := b.store.Execution(t.Context(), e.ID())
	if err != nil || head.State != storage.StateSucceeded {
		t.Fatalf("%+v, %v", head, err)
	}
	kept, err := b.store.Definition(t.Context(), head.Definition)
	if err != nil {
		t.Fatal(err)
	}
	text := string(kept)
	if strings.Contains(text, "open sesame") || strings.Contains(text, "2be98afc86aa") {
		t.Errorf("the definition holds a password:\n%s", text)
	}
	if !strings.Contains(text, "<token>${TOKEN}</token>") || !strings.Contains(text, "<limit>3</limit>") {
		t.Errorf("the definition lost what is no secret:\n%s", text)
	}
}

func TestPreviewsAndUnitTestsAreNotRecorded(t *testing.T) {
	b := newBench(t)
	e, err := b.pipelines.Prepare(t.Context(), pipeline.Run{File: b.write("p.hpl", childPipeline), Scope: b.scope, Until: "rows"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := b.store.Executions(t.Context(), storage.ExecutionQuery{})
	if err != nil || len(page.Executions) != 0 {
		t.Errorf("%d recorded, %v", len(page.Executions), err)
	}
}

func TestWhatCannotStartIsRecordedAsFailed(t *testing.T) {
	b := newBench(t)
	doc := strings.Replace(childPipeline, "<limit>3</limit>", "<limit>many</limit>", 1)
	_, err := b.pipelines.Prepare(t.Context(), pipeline.Run{File: b.write("p.hpl", doc), Scope: b.scope})
	if err == nil {
		t.Fatal("it was prepared")
	}
	page, lerr := b.store.Executions(t.Context(), storage.ExecutionQuery{})
	if lerr != nil || len(page.Executions) != 1 || page.Executions[0].State != storage.StateFailed || page.Executions[0].Message == "" {
		t.Errorf("recorded %+v, %v", page.Executions, lerr)
	}
}

func TestOneRunOfAChainAtATime(t *testing.T) {
	b := newBench(t)
	doc := workflowOf("Start>ok", action("ok", "SUCCESS", ""))
	id := b.runWorkflow(doc)
	lease, err := b.store.Acquire(t.Context(), recorder.LeaseName(id), "")
	if err != nil {
		t.Fatalf("the lease was not given back: %v", err)
	}
	second := recorder.New(recorder.Options{Store: b.store, Secrets: sums{}, ReplayOf: id})
	second.Attach(b.pipelines, b.workflows)
	e, err := b.workflows.Prepare(workflow.Run{File: filepath.Join(b.dir, "main.hwf"), Scope: b.scope})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "held by") {
		t.Errorf("a replay beside another one: %v", err)
	}
	if err := b.store.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}
