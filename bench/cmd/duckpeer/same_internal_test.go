package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDuckDBReadsSegments runs a pipeline with a gate and has DuckDB compare the segments with what was read.
func TestDuckDBReadsSegments(t *testing.T) {
	dir := t.TempDir()
	sluice := filepath.Join(dir, "bin", "sluice")
	command(t, []string{"CGO_ENABLED=0"}, "go", "-C", "../../..", "build", "-tags", "headless,lean", "-o", sluice, ".")
	command(t, nil, "go", "run", "../gen", "-rows", "60000", "-customers", "1000", "-dir", dir)
	text, err := os.ReadFile("../../workloads/w1-group.hpl")
	if err != nil {
		t.Fatal(err)
	}
	orders, file, root := filepath.Join(dir, "orders.csv"), filepath.Join(dir, "w1.hpl"), filepath.Join(dir, "snapshots")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	home := []string{"XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "XDG_STATE_HOME=" + dir}
	command(t, home, sluice, "gate", "mark", file, "--transform", "Orders", "--location", root)
	command(t, home, sluice, "run", file, "--param", "ORDERS="+orders, "--param", "OUT="+filepath.Join(dir, "out"))
	manifests, err := filepath.Glob(filepath.Join(root, "*", "*", "SnapshotManifest.json"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("manifests %q, error %v", manifests, err)
	}
	segments := filepath.Dir(manifests[0])

	var report bytes.Buffer
	if err := same(t.Context(), &report, orders, segments); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.String(), "60000") {
		t.Errorf("the report does not tell of 60000 rows:\n%s", report.String())
	}

	// Other orders are told from them, by the column that differs.
	data, err := os.ReadFile(orders)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, "changed.csv")
	if err := os.WriteFile(changed, bytes.Replace(data, []byte(",DE,"), []byte(",DX,"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	err = same(t.Context(), io.Discard, changed, segments)
	if err == nil || !strings.Contains(err.Error(), "country hash") || strings.Contains(err.Error(), "note hash") {
		t.Errorf("error is %v, want one about the country alone", err)
	}
}

func command(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
