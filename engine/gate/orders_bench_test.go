//go:build unix

package gate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/gate"
	"sluice/engine/transform"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// BenchmarkOrders is what a gate costs, on the orders of the benchmark module whose path SLUICE_BENCH_ORDERS names:
// spooling typed rows from memory into a local folder until they are sealed, reading them back with all checks, and
// parsing the CSV file again instead. bench/cmd/gate runs it, one iteration a round.
func BenchmarkOrders(b *testing.B) {
	path := os.Getenv("SLUICE_BENCH_ORDERS")
	if path == "" {
		b.Skip("SLUICE_BENCH_ORDERS does not name the orders to spool")
	}
	for _, codec := range []string{"snappy", "zstd"} {
		o := newOrdersWorld(b, path, codec)
		b.Run("parse/"+codec, o.parse)
		b.Run("write/"+codec, o.write)
		b.Run("read/"+codec, o.read)
		b.Run("first/"+codec, o.first)
		o.release()
	}
}

// ordersWorld has the orders in memory, and files that read, spool and replay them.
type ordersWorld struct {
	*world
	folder      string // of the snapshots
	csv, stored string // pipelines
	rows        []*batch.Batch
	schema      *batch.Schema
	seen        atomic.Int64
	keep        bool
}

func newOrdersWorld(b *testing.B, path, codec string) *ordersWorld {
	folder := filepath.Join(b.TempDir(), "snapshots")
	o := &ordersWorld{world: use(newWorld(b, storage.NewPrivateFolder(folder))), folder: folder}
	o.more = []transform.Definition{
		transform.Define[ordersTarget](transform.About{ID: "TestOrdersTarget", Name: "Target"}),
		transform.Define[ordersSource](transform.About{ID: "TestOrdersSource", Name: "Source"}),
	}
	orders = o
	fields := ""
	for _, f := range []string{"id Integer", "ts Date yyyy-MM-dd HH:mm:ss.SSS", "customer String", "country String", "amount BigNumber 0.00", "qty Integer", "note String"} {
		part := strings.SplitN(f+"  ", " ", 3)
		fields += fmt.Sprintf("<field><name>%s</name><type>%s</type><format>%s</format><decimal>.</decimal><length>-1</length><precision>-1</precision><trim_type>none</trim_type></field>", part[0], part[1], strings.TrimSpace(part[2]))
	}
	target := node("out", "TestOrdersTarget", "")
	o.csv = o.file("csv.hpl", hpl("in>out", node("in", "CSVInput", "<filename>"+path+"</filename><separator>,</separator><enclosure>\"</enclosure><header>Y</header><lazy_conversion>N</lazy_conversion><encoding>UTF-8</encoding><fields>"+fields+"</fields>"), target))
	o.stored = o.file("stored.hpl", marked(b, hpl("in>out", node("in", "TestOrdersSource", ""), target), "in", "release=streaming", "compression="+codec))
	o.keep = true
	o.mustRun(o.csv, gate.SessionOptions{})
	o.keep = false
	if len(o.rows) == 0 {
		b.Fatalf("%s has no rows", path)
	}
	o.schema = o.rows[0].Schema
	return o
}

func (o *ordersWorld) release() {
	for _, b := range o.rows {
		b.Release()
	}
	o.rows = nil
}

// took runs f in the loop of b and reports processor and wall seconds of an iteration.
func took(b *testing.B, f func()) {
	runtime.GC() // the rubbish of what was before
	before, start := cpuSeconds(b), time.Now()
	for b.Loop() {
		f()
	}
	n := float64(b.N)
	b.ReportMetric((cpuSeconds(b)-before)/n, "cpu-s")
	b.ReportMetric(time.Since(start).Seconds()/n, "wall-s")
}

func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// check fails the benchmark when the last run did not see every row.
func (o *ordersWorld) check(b *testing.B) {
	want := int64(0)
	for _, rows := range o.rows {
		want += int64(rows.Rows())
	}
	if got := o.seen.Swap(0); got != want*int64(b.N) {
		b.Fatalf("%d rows in %d iterations of %d", got, b.N, want)
	}
}

func (o *ordersWorld) parse(b *testing.B) {
	o.seen.Store(0)
	took(b, func() { o.mustRun(o.csv, gate.SessionOptions{}) })
	o.check(b)
}

func (o *ordersWorld) write(b *testing.B) {
	o.seen.Store(0)
	var last gate.Outcome
	took(b, func() {
		if err := os.RemoveAll(o.folder); err != nil {
			b.Fatal(err)
		}
		last = o.mustRun(o.stored, gate.SessionOptions{}).outcome(b)
	})
	o.check(b)
	if last.State != storage.SnapshotSealed {
		b.Fatalf("%+v", last)
	}
	b.ReportMetric(float64(last.Bytes)/1e6, "file-MB")
}

// read is a replay: every check, every hash, every row.
func (o *ordersWorld) read(b *testing.B) {
	o.seen.Store(0)
	took(b, func() { o.mustRun(o.stored, from("in")) })
	o.check(b)
}

// first is the time from the manifest to the first batch: with all segments verified before, as a replay of local
// rows does, and with each segment verified before its rows only.
func (o *ordersWorld) first(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(o.firstBatch(b, true).Seconds()*1e3, "verified-ms")
		b.ReportMetric(o.firstBatch(b, false).Seconds()*1e3, "first-ms")
	}
}

func (o *ordersWorld) firstBatch(b *testing.B, verify bool) time.Duration {
	ctx := context.Background()
	gates, err := o.place.Store.Gates(ctx)
	if err != nil || len(gates) != 1 {
		b.Fatalf("gates %v: %v", gates, err)
	}
	sn, err := o.place.Store.Latest(ctx, gates[0])
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if verify {
		if _, err := sn.Verify(ctx, snapshot.Full, nil); err != nil {
			b.Fatal(err)
		}
	}
	src, err := gate.OpenSource(ctx, o.place, sn.Ref, o.alloc)
	if err != nil {
		b.Fatal(err)
	}
	for rows, err := range src.Read(ctx, 0) {
		if err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		rows.Release()
		return took
	}
	b.Fatal("no rows")
	return 0
}

// orders is the world of the transforms below; settings structs cannot carry it.
var orders *ordersWorld

// ordersTarget counts rows, and keeps them when asked to.
type ordersTarget struct{}

func (*ordersTarget) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

func (*ordersTarget) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return &ordersCount{}, nil
}

type ordersCount struct{ transform.Stateful }

func (*ordersCount) Apply(_ context.Context, b *batch.Batch, _ transform.Emit) error {
	orders.seen.Add(int64(b.Rows()))
	if orders.keep {
		orders.rows = append(orders.rows, b.Retain())
	}
	return nil
}

// ordersSource gives the rows that were kept.
type ordersSource struct{}

func (*ordersSource) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(orders.schema)
}

func (*ordersSource) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return &ordersProducer{}, nil
}

type ordersProducer struct{ transform.Producer }

func (*ordersProducer) Produce(_ context.Context, emit transform.Emit) error {
	for _, b := range orders.rows {
		if err := emit(transform.Main, b.Retain()); err != nil {
			return err
		}
	}
	return nil
}
