package text_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

// orders makes rows like those of the workloads: seven columns, every tenth note
// quoted, half of them empty.
func orders(rows int) string {
	r := rand.New(rand.NewPCG(7, 7))
	words := strings.Fields("urgent gift wrap leave at the door call before delivery fragile return repeated customer second floor blue")
	var b strings.Builder
	b.WriteString("id,ts,customer,country,amount,qty,note\n")
	for i := range rows {
		note := ""
		switch r.IntN(10) {
		case 0:
			note = `"` + words[r.IntN(len(words))] + `, ` + words[r.IntN(len(words))] + `"`
		case 1, 2, 3, 4:
			for range 1 + r.IntN(8) {
				note += words[r.IntN(len(words))] + " "
			}
		}
		fmt.Fprintf(&b, "%d,%04d-%02d-%02d %02d:%02d:%02d.%03d,C%07d,%s,%d.%02d,%d,%s\n", i+1,
			2024+r.IntN(2), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000),
			r.IntN(100000), []string{"DE", "NL", "FR", "US"}[r.IntN(4)], r.IntN(1000), r.IntN(100), 1+r.IntN(20), note)
	}
	return b.String()
}

const orderFields = `<fields>
<field><name>id</name><type>Integer</type><format>#</format></field>
<field><name>ts</name><type>Date</type><format>yyyy-MM-dd HH:mm:ss.SSS</format></field>
<field><name>customer</name><type>String</type></field>
<field><name>country</name><type>String</type></field>
<field><name>amount</name><type>BigNumber</type><format>0.00</format><decimal>.</decimal><precision>2</precision></field>
<field><name>qty</name><type>Integer</type><format>#</format></field>
<field><name>note</name><type>String</type></field></fields>`

func BenchmarkCSVParse(b *testing.B) {
	data := orders(1_200_000)
	for _, lazy := range []string{"N", "Y"} {
		b.Run("lazy="+lazy, func(b *testing.B) {
			env, _ := transformtest.NewEnv(b, nil)
			hook, _ := with(map[string]string{"o.csv": data})
			hook(env)
			s := transformtest.Settings(b, text.CSVInput, "<filename>o.csv</filename><separator>,</separator><header>Y</header><lazy_conversion>"+lazy+"</lazy_conversion>"+orderFields)
			b.SetBytes(int64(len(data)))
			rows := 0
			for b.Loop() {
				p, err := s.Start(env, transform.Links{Transform: "t", Copies: 1, Outputs: []string{"out"}})
				if err != nil {
					b.Fatal(err)
				}
				rows = 0
				err = p.(transform.Source).Produce(context.Background(), func(_ transform.Port, x *batch.Batch) error {
					rows += x.Rows()
					x.Release()
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkTextOutput formats a million orders and throws the text away.
func BenchmarkTextOutput(b *testing.B) {
	data := orders(1_000_000)
	for _, lazy := range []string{"N", "Y"} {
		b.Run("lazy="+lazy, func(b *testing.B) {
			env, _ := transformtest.NewEnv(b, nil)
			hook, _ := with(map[string]string{"o.csv": data})
			hook(env)
			s := transformtest.Settings(b, text.CSVInput, "<filename>o.csv</filename><separator>,</separator><header>Y</header><lazy_conversion>"+lazy+"</lazy_conversion>"+orderFields)
			p, err := s.Start(env, transform.Links{Transform: "t", Copies: 1})
			if err != nil {
				b.Fatal(err)
			}
			var batches []*batch.Batch
			if err := p.(transform.Source).Produce(context.Background(), func(_ transform.Port, x *batch.Batch) error {
				batches = append(batches, x)
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			out := transformtest.Settings(b, text.TextFileOutput, "<separator>,</separator><enclosure>\"</enclosure><enclosure_fix_disabled>N</enclosure_fix_disabled><format>UNIX</format><file><name>out</name></file>"+orderFields)
			l := transform.Links{Transform: "t", Copies: 1, Inputs: []transform.Input{{From: "in", Schema: batches[0].Schema}}}
			w, err := out.Start(env, l)
			if err != nil {
				b.Fatal(err)
			}
			env.Files = &discard{env.Files}
			enc := w.(transform.Encoder)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				for _, x := range batches {
					e, err := enc.Encode(context.Background(), x)
					if err != nil {
						b.Fatal(err)
					}
					if err := enc.ApplyEncoded(context.Background(), x, e, func(_ transform.Port, y *batch.Batch) error {
						y.Release()
						return nil
					}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			for _, x := range batches {
				x.Release()
			}
		})
	}
}

// discard is a store whose files go nowhere.
type discard struct{ files.Store }

func (discard) Create(context.Context, string, files.CreateOptions) (files.Writer, error) {
	return nowhere{io.Discard}, nil
}

type nowhere struct{ io.Writer }

func (nowhere) Commit() error { return nil }
func (nowhere) Abort() error  { return nil }

// BenchmarkTextInput parses text without enclosures, which the scanner reads, and
// with them, which is split line by line.
func BenchmarkTextInput(b *testing.B) {
	quoted := orders(600_000)
	for name, data := range map[string]string{"plain": strings.ReplaceAll(quoted, `"`, ""), "enclosed": quoted} {
		b.Run(name, func(b *testing.B) {
			env, _ := transformtest.NewEnv(b, nil)
			hook, _ := with(map[string]string{"in.txt": data})
			hook(env)
			s := transformtest.Settings(b, text.TextFileInput, inTxt+"<separator>,</separator><header>Y</header>"+orderFields)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				p, err := s.Start(env, transform.Links{Transform: "t", Copies: 1})
				if err != nil {
					b.Fatal(err)
				}
				if err := p.(transform.Source).Produce(context.Background(), func(_ transform.Port, x *batch.Batch) error {
					x.Release()
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
