package transforms_test

import (
	"fmt"
	"runtime/metrics"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transforms"
)

const rejoinRows = 1_000_000

// rejoin is one source on two paths into a join of the type given.
const rejoin = `<pipeline><info><name>rejoin</name></info>
<order>
  <hop><from>rows</from><to>number</to><enabled>Y</enabled></hop>
  <hop><from>number</from><to>left</to><enabled>Y</enabled></hop>
  <hop><from>number</from><to>right</to><enabled>Y</enabled></hop>
  <hop><from>left</from><to>join</to><enabled>Y</enabled></hop>
  <hop><from>right</from><to>join</to><enabled>Y</enabled></hop>
</order>
<transform><name>rows</name><type>RowGenerator</type><distribute>N</distribute><copies>1</copies><limit>%d</limit>
  <fields><field><name>text</name><type>String</type><nullif>some text that takes room in memory</nullif></field></fields></transform>
<transform><name>number</name><type>Sequence</type><distribute>N</distribute><copies>1</copies>
  <valuename>n</valuename><use_counter>Y</use_counter><start_at>1</start_at><increment_by>1</increment_by><max_value>9999999999</max_value></transform>
<transform><name>left</name><type>Dummy</type><distribute>N</distribute><copies>1</copies></transform>
<transform><name>right</name><type>SelectValues</type><distribute>N</distribute><copies>1</copies>
  <fields><field><name>n</name><rename>m</rename></field><field><name>text</name><rename>other</rename></field></fields></transform>
<transform><name>join</name><distribute>N</distribute><copies>1</copies>%s</transform>
</pipeline>`

func TestSplitAndRejoinOfAMillionRows(t *testing.T) {
	for name, join := range map[string]string{
		"merge join": `<type>MergeJoin</type><join_type>INNER</join_type><transform1>left</transform1><transform2>right</transform2>
			<keys_1><key>n</key></keys_1><keys_2><key>m</key></keys_2>`,
		"stream lookup": `<type>StreamLookup</type><from>right</from>
			<lookup><key><name>n</name><field>m</field></key><value><name>other</name><type>String</type></value></lookup>`,
	} {
		t.Run(name, func(t *testing.T) {
			d, err := hopxml.Parse("rejoin.hpl", fmt.Appendf(nil, rejoin, rejoinRows, join))
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.Pipeline()
			if err != nil {
				t.Fatal(err)
			}
			r := &pipeline.Runner{
				Registry: transforms.Registry(), Metadata: project.OpenMetadata(), Now: time.Now,
				Alloc: batch.NewAllocator(), SpillFolder: t.TempDir(), MemoryBytes: 32 << 20, Workers: 2,
			}
			e, err := r.Prepare(t.Context(), pipeline.Run{Pipeline: p, Scope: project.NewVariables()})
			if err != nil {
				t.Fatal(err)
			}
			peak := watchHeap()
			result, err := e.Run(t.Context())
			most := peak()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range e.Metrics() {
				if m.Name == "join" && m.Written != rejoinRows {
					t.Errorf("join wrote %d rows, want %d", m.Written, rejoinRows)
				}
			}
			if result.Errors != 0 {
				t.Errorf("%d errors", result.Errors)
			}
			// The rows of one path alone take about 50 MB, both sides of the join and
			// what is between them several times that.
			if limit := uint64(400 << 20); most > limit {
				t.Errorf("the heap grew to %d MB, want at most %d", most>>20, limit>>20)
			}
			if err := r.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

// watchHeap samples the live heap until the function it returns is called, which
// gives the largest sample.
func watchHeap() func() uint64 {
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-stop:
				done <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-done
	}
}
