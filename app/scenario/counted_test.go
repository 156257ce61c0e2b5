package scenario_test

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"testing"

	"sluice/app/workspace"
	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/replay"
	"sluice/engine/transform"
)

// counting counts how often each connection is asked for.
type counting struct {
	pipeline.Databases
	mu    *sync.Mutex
	asked map[string]int
}

func (c *counting) count(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[name]++
}

// DB implements transform.Databases.
func (c *counting) DB(ctx context.Context, name string) (*sql.DB, transform.Dialect, error) {
	c.count(name)
	return c.Databases.DB(ctx, name)
}

// QueryLayout implements pipeline.Databases.
func (c *counting) QueryLayout(scope *project.Variables, name, query string) (*batch.Schema, error) {
	c.count(name)
	return c.Databases.QueryLayout(scope, name, query)
}

// TableLayout implements pipeline.Databases.
func (c *counting) TableLayout(scope *project.Variables, name, schema, table string) (*batch.Schema, error) {
	c.count(name)
	return c.Databases.TableLayout(scope, name, schema, table)
}

// TestABypassedConnectionIsNeverOpened counts the connections of a pre-flight and of
// the replay behind it.
func TestABypassedConnectionIsNeverOpened(t *testing.T) {
	s := newShop(t)
	s.write("night.hwf", workflowOf("Start>load", runs("load", "load.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.warehouseUp()
	folders, err := workspace.UserFolders()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	history := workspace.NewHistory(folders, log)
	defer history.Close()
	r, err := workspace.OpenReplay(t.Context(), history, workspace.ReplayOptions{Execution: id, Options: workspace.Options{Log: log}})
	if err != nil {
		t.Fatal(err)
	}
	asked, mu := map[string]int{}, &sync.Mutex{}
	open := r.Ground.Pipelines.Databases
	r.Ground.Pipelines.Databases = func(scope *project.Variables, a *batch.Allocator) pipeline.Databases {
		return &counting{open(scope, a), mu, asked}
	}
	plan, err := r.Preflight(t.Context(), replay.Options{})
	if err != nil || plan.Verdict != replay.Ready {
		t.Fatalf("%v, %v", plan, err)
	}
	if len(asked) != 0 {
		t.Errorf("the pre-flight opened %v", asked)
	}
	run, err := r.Prepare(t.Context(), plan, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, result, err := run.Run(t.Context()); err != nil || !result.OK {
		t.Fatalf("success %v, %v", result.OK, err)
	}
	if asked["source"] != 0 || asked["target"] == 0 {
		t.Errorf("the replay opened %v; the source is bypassed", asked)
	}
	s.wantLoaded(original)
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
