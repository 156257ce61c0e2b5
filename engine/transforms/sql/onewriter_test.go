package sql_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/flow"
	family "sluice/engine/transforms/sql"
)

// An SQLite file takes one writer at a time. A pipeline that reads a large table
// of a file and writes to several others of it works all the same.
func TestOnePipelineReadsAndWritesOneSQLiteFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "rdbms"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"name":"db","rdbms":{"SQLITE":{"pluginId":"SQLITE","databaseName":%q,"attributes":{"EXTRA_OPTION_SQLITE.busy_timeout":"100","EXTRA_OPTION_SQLITE.synchronous":"OFF"}}}}`, filepath.Join(dir, "one.db"))
	if err := os.WriteFile(filepath.Join(dir, "rdbms", "db.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	meta, scope := project.OpenMetadata(dir), project.NewVariables()
	open := func(scope *project.Variables, _ *batch.Allocator) pipeline.Databases {
		return database.NewPool(database.Options{Metadata: meta, Scope: scope, Location: time.UTC})
	}
	const rows = 4_200 // more than one batch
	b := &base{t: t}
	pool := open(scope, nil)
	defer func() { _ = pool.(*database.Pool).Close() }()
	var err error
	if b.db, _, err = pool.DB(t.Context(), "db"); err != nil {
		t.Fatal(err)
	}
	b.exec(fmt.Sprintf(`create table n(i INTEGER); create table a(i INTEGER); create table b(i INTEGER PRIMARY KEY); create table log(i INTEGER);
		with recursive c(i) as (select 1 union all select i+1 from c where i < %d) insert into n select i from c`, rows))
	node := func(name, kind, settings string) string {
		return "<transform><name>" + name + "</name><type>" + kind + "</type><distribute>N</distribute><copies>1</copies><connection>db</connection>" + settings + "</transform>"
	}
	hop := func(from, to string) string {
		return "<hop><from>" + from + "</from><to>" + to + "</to><enabled>Y</enabled></hop>"
	}
	doc, err := hopxml.Parse("one.hpl", []byte(`<?xml version="1.0" encoding="UTF-8"?>
<pipeline><info><name>one</name></info><order>`+hop("read", "a")+hop("read", "b")+hop("read", "log")+hop("b", "found")+`</order>`+
		node("read", "TableInput", "<sql>select i from n</sql>")+
		node("a", "TableOutput", "<table>a</table><commit>300</commit>")+
		node("b", "InsertUpdate", "<commit>700</commit><lookup><table>b</table><key><name>i</name><field>i</field><condition>=</condition></key><value><name>i</name><rename>i</rename><update>N</update></value></lookup>")+
		node("log", "ExecSql", "<sql>insert into log select ? where ? % 1000 = 0</sql><execute_each_row>Y</execute_each_row><set_params>Y</set_params><arguments><argument><name>i</name></argument><argument><name>i</name></argument></arguments>")+
		node("found", "DBLookup", "<lookup><table>n</table><key><name>i</name><field>i</field></key></lookup><cache>Y</cache><cache_load_all>Y</cache_load_all>")+
		`</pipeline>`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := doc.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, 1} { // 1 byte: what is held goes to disk
		r := &pipeline.Runner{
			Registry: transform.NewRegistry(flow.Transforms, family.Transforms), Metadata: meta, Files: files.Local{}, Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return transformtest.Clock }, Location: time.UTC, Alloc: batch.NewAllocator(), Databases: open, MemoryBytes: memory, SpillFolder: t.TempDir(),
		}
		e, err := r.Prepare(t.Context(), pipeline.Run{Pipeline: p, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		result, err := e.Run(t.Context())
		if err != nil || !result.OK {
			t.Fatalf("%+v, %v", result, err)
		}
		if err := r.Alloc.CheckLeaks(); err != nil {
			t.Error(err)
		}
	}
	got := b.rows("select (select count(*) from a), (select count(*) from b), (select count(*) from log)")[0]
	if want := fmt.Sprintf("%d|%d|%d", 2*rows, rows, 2*rows/1000); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A failure takes back what the other writers of the file have not committed.
func TestAFailureRollsBackTheSharedTransaction(t *testing.T) {
	b := &base{t: t, script: "create table people(id INTEGER check (id <> 4), name TEXT)"}
	env, _ := transformtest.NewEnv(t, nil)
	b.env(env)
	in := people()[0]
	links := transform.Links{Transform: "out", Inputs: []transform.Input{{From: "in", Schema: batch.NewSchema(in.Fields...)}}}
	good := in.Rows[:2]
	var procs []transform.Processor
	for _, rows := range [][][]any{good, in.Rows} {
		p, err := transformtest.Settings(t, family.TableOutput, "<connection>db</connection><table>people</table>").Start(env, links)
		if err != nil {
			t.Fatal(err)
		}
		procs = append(procs, p)
		given := transformtest.Batch(env, links.Main(), rows)
		err = p.(transform.RowWise).Apply(t.Context(), given, drop)
		given.Release()
		if (err != nil) != (len(rows) > 2) {
			t.Fatalf("error %v", err)
		}
	}
	for _, p := range procs {
		if err := p.(transform.Sink).Abort(t.Context()); err != nil {
			t.Error(err)
		}
		if err := p.(interface{ Close() error }).Close(); err != nil {
			t.Error(err)
		}
	}
	if got := b.rows("select * from people"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestTableInputIsCancelledByItsContext(t *testing.T) {
	b := &base{t: t, script: "create table t(a)"}
	env, _ := transformtest.NewEnv(t, nil)
	b.env(env)
	s := transformtest.Settings(t, family.TableInput, `<connection>db</connection><sql>with recursive n(i) as (select 1 union all select i+1 from n) select i from n</sql>`)
	p, err := s.Start(env, transform.Links{Transform: "in"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = p.(transform.Source).Produce(ctx, func(_ transform.Port, b *batch.Batch) error {
		cancel()
		b.Release()
		return nil
	})
	if err == nil || ctx.Err() == nil {
		t.Errorf("error %v", err)
	}
	if err := p.(interface{ Close() error }).Close(); err != nil {
		t.Error(err)
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}
