package relation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms/flow"
	"sluice/engine/transforms/generate"
	"sluice/engine/transforms/relation"
	"sluice/engine/transforms/rows"
	"sluice/engine/transforms/script"
	"sluice/engine/transforms/text"
)

func TestAdhocW(t *testing.T) {
	debug.SetGCPercent(100)
	reg := transform.NewRegistry(flow.Transforms, generate.Transforms, relation.Transforms, rows.Transforms, script.Transforms, text.Transforms)
	bench, _ := filepath.Abs("../../../bench")
	for _, w := range strings.Fields(os.Getenv("W")) {
		v := project.SystemVariables(project.System{Getenv: func(string) string { return "" }})
		dir := t.TempDir()
		pr, err := project.Open(project.OpenOptions{Home: filepath.Join(suiteDir(t), "transforms"), Base: v})
		if err != nil {
			t.Fatal(err)
		}
		r := &pipeline.Runner{Registry: reg, Metadata: pr.Metadata(), Files: files.Local{Dir: dir}, Now: time.Now, Location: time.UTC, Alloc: batch.NewAllocator(), SpillFolder: t.TempDir(), MemoryBytes: 256 << 20}
		start := time.Now()
		e, err := r.Prepare(t.Context(), pipeline.Run{File: filepath.Join(bench, "workloads", w), Scope: v, RunConfig: "local", Parameters: map[string]string{
			"ORDERS": filepath.Join(bench, "data/orders.csv"), "CUSTOMERS": filepath.Join(bench, "data/customers.csv"), "OUT": filepath.Join(dir, "out")}})
		if err != nil {
			fmt.Println(w, err)
			continue
		}
		res, err := e.Run(t.Context())
		fmt.Println(w, time.Since(start), err, res.OK, res.Errors)
		s, _ := os.ReadFile("/proc/self/status")
		for _, l := range strings.Split(string(s), "\n") {
			if strings.HasPrefix(l, "VmHWM") {
				fmt.Println(l)
			}
		}
		m, _ := filepath.Glob(dir + "/*")
		for _, f := range m {
			st, _ := os.Stat(f)
			fmt.Println(f, st.Size())
		}
	}
}
