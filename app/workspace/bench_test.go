//go:build integration || soak

package workspace_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
)

const pipelineText = `<?xml version="1.0" encoding="UTF-8"?>
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
    <seed>${SEED}</seed><fields><field><name>r</name><type>random number</type></field></fields><attributes/></transform>
  <transform><name>file</name><type>TextFileOutput</type><distribute>Y</distribute><copies>1</copies>
    <separator>;</separator><header>Y</header><format>UNIX</format><compression>None</compression><encoding>UTF-8</encoding>
    <file><name>${OUT}</name><extension>csv</extension></file>
    <fields><field><name>a</name><type>String</type></field><field><name>r</name><type>Number</type><format>0.0000000000000000</format></field></fields><attributes/></transform>
  <attributes/>
</pipeline>
`

// gatePipeline is the file with a gate at the transform "number". With a seed all
// runs give the same rows.
func gatePipeline(t *testing.T, seed string) string {
	t.Helper()
	return markedAt(t, strings.Replace(pipelineText, "${SEED}", seed, 1), "number")
}

// bench is a project with one marked pipeline whose gate is at a location.
type bench struct {
	t            *testing.T
	file         string
	ws           *workspace.Workspace
	places       gate.Places
	segmentBytes int
}

func newBench(t *testing.T, text, location string, rows int) *bench {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(workspace.EnvData, filepath.Join(dir, "data"))
	t.Setenv(workspace.EnvCache, filepath.Join(dir, "cache"))
	b := &bench{t: t, segmentBytes: 600_000, file: filepath.Join(dir, "gates.hpl")}
	if err := os.WriteFile(b.file, []byte(text), 0o600); err != nil {
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
	b.ws, b.places = ws, ws.Places
	return b
}

// run gives the bytes written, the session and the error.
func (b *bench) run(o gate.SessionOptions) (string, *gate.Session, error) {
	b.t.Helper()
	o.Places, o.Secrets, o.Alloc, o.Local, o.SegmentBytes = b.places, b.ws.Secrets, b.ws.Runner.Alloc, b.ws.Places.Local, b.segmentBytes
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
