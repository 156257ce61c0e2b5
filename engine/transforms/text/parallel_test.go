package text_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

// spread runs the morsels of a source on several goroutines, as the engine does,
// and encodes what they emit there too; the encoded batches are applied in order.
func spread(t *testing.T, src transform.Splitter, out transform.Processor) {
	t.Helper()
	type result struct {
		batches []*batch.Batch
		encoded []any
	}
	type job struct {
		morsel transform.Morsel
		done   chan result
	}
	ctx := t.Context()
	enc := out.(transform.Encoder)
	jobs, order := make(chan job, 4), make(chan chan result, 8)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for j := range jobs {
				var r result
				err := j.morsel(ctx, func(_ transform.Port, b *batch.Batch) error {
					e, err := enc.Encode(ctx, b)
					r.batches, r.encoded = append(r.batches, b), append(r.encoded, e)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				j.done <- r
			}
		})
	}
	workers.Go(func() {
		defer close(jobs)
		defer close(order)
		if err := src.Split(ctx, func(m transform.Morsel) error {
			j := job{m, make(chan result, 1)}
			order <- j.done
			jobs <- j
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	for done := range order {
		r := <-done
		for i, b := range r.batches {
			err := enc.ApplyEncoded(ctx, b, r.encoded[i], func(_ transform.Port, b *batch.Batch) error {
				b.Release()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			b.Release()
		}
	}
	workers.Wait()
	if err := out.(transform.Finisher).Finish(ctx, nil); err != nil {
		t.Error(err)
	}
	if err := out.(transform.Sink).Commit(ctx); err != nil {
		t.Error(err)
	}
}

// TestManyWorkersWriteWhatWasRead copies a file through both inputs and the
// output on several goroutines; it must come out byte for byte.
func TestManyWorkersWriteWhatWasRead(t *testing.T) {
	data := orders(60_000)
	var numbered strings.Builder
	for i, line := range strings.SplitAfter(data, "\n") {
		switch {
		case i == 0:
			numbered.WriteString("nr," + line)
		case line != "":
			numbered.WriteString(itoa(i) + "," + line)
		}
	}
	files := "<files><file><name>in.csv</name></file></files>"
	common := "<separator>,</separator><header>Y</header>" + orderFields
	cases := map[string]struct {
		source transform.Definition
		xml    string
		number bool
	}{
		"csv":            {text.CSVInput, "<filename>in.csv</filename>", false},
		"csv, lazy":      {text.CSVInput, "<filename>in.csv</filename><lazy_conversion>Y</lazy_conversion>", false},
		"csv, numbered":  {text.CSVInput, "<filename>in.csv</filename><rownum_field>nr</rownum_field>", true},
		"text":           {text.TextFileInput, files, false},
		"text, numbered": {text.TextFileInput, files + "<rownum>Y</rownum><rownum_field>nr</rownum_field>", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			env, _ := transformtest.NewEnv(t, nil)
			hook, store := with(map[string]string{"in.csv": data})
			hook(env)
			in := transformtest.Settings(t, c.source, c.xml+common)
			l := transform.Links{Transform: "in", Copies: 1}
			schemas, err := in.Output(l, env.Design)
			if err != nil {
				t.Fatal(err)
			}
			src, err := in.Start(env, l)
			if err != nil {
				t.Fatal(err)
			}
			want, fields := data, orderFields
			if c.number {
				want = numbered.String()
				fields = strings.Replace(fields, "<fields>", "<fields><field><name>nr</name><type>Integer</type><format>#</format></field>", 1)
			}
			out := transformtest.Settings(t, text.TextFileOutput, "<file><name>out</name><extension>csv</extension></file><enclosure_fix_disabled>N</enclosure_fix_disabled><format>UNIX</format><separator>,</separator><header>Y</header>"+fields)
			w, err := out.Start(env, transform.Links{Transform: "out", Copies: 1, Inputs: []transform.Input{{From: "in", Schema: schemas[transform.Main]}}})
			if err != nil {
				t.Fatal(err)
			}
			spread(t, src.(transform.Splitter), w)
			if store.texts["out.csv"] != want {
				t.Error("the copy differs: " + cmp.Diff(strings.SplitAfter(want, "\n"), strings.SplitAfter(store.texts["out.csv"], "\n"))[:2000])
			}
			if err := env.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSplitStops ends a split early: by a safe stop and by a context.
func TestSplitStops(t *testing.T) {
	for name, xml := range map[string]string{"csv": "<filename>in.csv</filename>", "text": "<files><file><name>in.csv</name></file></files>"} {
		t.Run(name, func(t *testing.T) {
			d := text.CSVInput
			if name == "text" {
				d = text.TextFileInput
			}
			env, _ := transformtest.NewEnv(t, nil)
			hook, _ := with(map[string]string{"in.csv": orders(50_000)})
			hook(env)
			stopping := make(chan struct{})
			env.Stopping = stopping
			p, err := transformtest.Settings(t, d, xml+"<separator>,</separator><header>Y</header>"+orderFields).Start(env, transform.Links{Transform: "in", Copies: 1})
			if err != nil {
				t.Fatal(err)
			}
			morsels := 0
			err = p.(transform.Splitter).Split(t.Context(), func(transform.Morsel) error {
				if morsels++; morsels == 2 {
					close(stopping)
				}
				return nil
			})
			if err != nil || morsels != 2 {
				t.Errorf("%d morsels, %v", morsels, err)
			}
			env.Stopping = make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			if err := p.(transform.Splitter).Split(ctx, func(transform.Morsel) error {
				cancel()
				return nil
			}); err == nil {
				t.Error("a cancelled split ends without an error")
			}
		})
	}
}
