package relation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

// failing are runs of each transform that hold rows or files when they end badly.
var failing = map[string]struct {
	definition transform.Definition
	xml        string
	inputs     int
}{
	"sort":         {relation.SortRows, "<fields>" + sortKey("k", "Y", "Y") + "</fields>", 1},
	"unique":       {relation.Unique, "<count_rows>Y</count_rows><count_field>c</count_field>", 1},
	"unique hash":  {relation.UniqueRowsByHashSet, "", 1},
	"memory group": {relation.MemoryGroupBy, groupXML("k", "SUM n", "CONCAT_COMMA k", "FIRST k"), 1},
	"group":        {relation.GroupBy, groupXML("k", "SUM n"), 1},
	"group all":    {relation.GroupBy, "<all_rows>Y</all_rows>" + groupXML("k", "SUM n", "CUM_SUM n"), 1},
	"analytic":     {relation.AnalyticQuery, "<fields><field><aggregate>x</aggregate><subject>n</subject><type>LEAD</type><valuefield>2</valuefield></field></fields>", 1},
	"lookup":       {relation.StreamLookup, strings.Replace(lookupXML("k=k", "n:m"), "Side", "in2", 1), 2},
	"merge join":   {relation.MergeJoin, "<join_type>FULL OUTER</join_type><transform1>in1</transform1><transform2>in2</transform2><keys_1><key>k</key></keys_1><keys_2><key>k</key></keys_2>", 2},
	"merge rows":   {relation.MergeRows, "<reference>in1</reference><compare>in2</compare><diff-field>d</diff-field><keys><key>k</key></keys><values><value>n</value></values>", 2},
	"sorted merge": {relation.SortedMerge, "<fields><field><name>k</name><ascending>Y</ascending></field></fields>", 3},
	"append":       {relation.Append, "<head_name>in1</head_name><tail_name>in2</tail_name>", 2},
	"denormaliser": {relation.Denormaliser, "<key_field>k</key_field><fields><field><field_name>n</field_name><key_value>a</key_value><target_name>t</target_name><target_type>String</target_type></field></fields>", 1},
	"normaliser":   {relation.Normaliser, "<fields><field><name>n</name><value>A</value><norm>x</norm></field></fields>", 1},
	"flattener":    {relation.Flattener, "<field_name>n</field_name><fields><field><name>a</name></field><field><name>b</name></field></fields>", 1},
}

var errDownstream = errors.New("downstream failed")

// TestFailuresLeaveNothingBehind ends every transform by an error downstream, by
// an error upstream and by a cancelled context, with and without memory.
func TestFailuresLeaveNothingBehind(t *testing.T) {
	for name, c := range failing {
		for _, limit := range []int64{1 << 40, 0} {
			for _, end := range []string{"emit", "read", "cancel"} {
				t.Run(fmt.Sprintf("%s, %s, budget %d", name, end, limit), func(t *testing.T) {
					env, _ := transformtest.NewEnv(t, nil)
					env.Memory = &transformtest.Memory{Limit: limit}
					err := failRun(t, env, c.definition, c.xml, c.inputs, end)
					if err == nil && name != "append" && end != "emit" {
						t.Error("the run ended well")
					}
					if err := env.Alloc.CheckLeaks(); err != nil {
						t.Error(err)
					}
					if !env.Memory.Request(limit) {
						t.Error("memory was not given back")
					}
				})
			}
		}
	}
}

func failRun(t *testing.T, env *transform.Env, d transform.Definition, xml string, inputs int, end string) (err error) {
	t.Helper()
	schema := batch.NewSchema(fields("k:String", "n:Integer")...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	links := transform.Links{Transform: "tested", Copies: 1, Outputs: []string{"out"}}
	var readers []transform.Reader
	for i := range inputs {
		links.Inputs = append(links.Inputs, transform.Input{From: fmt.Sprint("in", i+1), Schema: schema})
		r := &failingReader{schema: schema, fail: end, cancel: cancel}
		for k := range 6 {
			var rows [][]any
			for j := range 1500 {
				rows = append(rows, []any{fmt.Sprintf("key %05d", (k*1500+j)/3), j})
			}
			r.batches = append(r.batches, transformtest.Batch(env, schema, rows))
		}
		defer r.close()
		readers = append(readers, r)
	}
	p, err := transformtest.Settings(t, d, xml).Start(env, links)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := p.(io.Closer); ok {
		defer func() {
			if e := c.Close(); e != nil {
				t.Error(e)
			}
		}()
	}
	emit := func(_ transform.Port, b *batch.Batch) error {
		b.Release()
		if end == "emit" {
			return errDownstream
		}
		return nil
	}
	if s, ok := p.(transform.Stream); ok {
		return s.Run(ctx, readers, emit)
	}
	if pr, ok := p.(transform.Preparer); ok {
		if err := pr.Prepare(ctx, readers[1:]); err != nil {
			return err
		}
	}
	for {
		b, err := readers[0].Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		err = apply(ctx, p, b, emit)
		b.Release()
		if err != nil {
			return err
		}
	}
	if f, ok := p.(transform.Finisher); ok {
		return f.Finish(ctx, emit)
	}
	return nil
}

// failingReader fails, or cancels the run, before its last batch.
type failingReader struct {
	schema  *batch.Schema
	batches []*batch.Batch
	fail    string
	cancel  context.CancelFunc
}

func (r *failingReader) Schema() *batch.Schema { return r.schema }

func (r *failingReader) Next(ctx context.Context) (*batch.Batch, error) {
	if len(r.batches) == 1 && r.fail == "read" {
		return nil, errors.New("upstream failed")
	}
	if len(r.batches) == 1 && r.fail == "cancel" {
		r.cancel()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(r.batches) == 0 {
		return nil, io.EOF
	}
	b := r.batches[0]
	r.batches = r.batches[1:]
	return b, nil
}

func (r *failingReader) close() {
	for _, b := range r.batches {
		b.Release()
	}
	r.batches = nil
}

// TestRawColumns runs transforms over columns that hold text nobody has converted
// yet, mixed with columns that are converted: keys are compared by value, other
// fields stay as they were read where all of them were.
func TestRawColumns(t *testing.T) {
	cases := map[string]struct {
		definition transform.Definition
		xml        string
		want       []string // text of the raw field as it is in memory
	}{
		"sort by value":       {relation.SortRows, "<fields>" + sortKey("n", "Y", "Y") + "</fields>", []string{"2|1.50", "007|x", "10|3"}},
		"first of a key":      {relation.UniqueRowsByHashSet, "<fields><field><name>n</name></field></fields>", []string{"10|3", "2|1.50", "007|x"}},
		"sums are of values":  {relation.MemoryGroupBy, groupXML("", "SUM n", "MIN n"), []string{"19|2"}},
		"neighbours by value": {relation.GroupBy, groupXML("n", "COUNT_ANY"), []string{"10|1", "2|1", "007|1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			env, _ := transformtest.NewEnv(t, nil)
			schema := batch.NewSchema(fields("n:Integer", "v:String")...)
			text := env.Alloc.Column(batch.String)
			for _, s := range []string{"3", "1.50", "x"} {
				text.AppendString(s)
			}
			b := env.Alloc.Assemble(schema, []*batch.Column{rawColumn(env, batch.Integer, "10", "2", "007"), text}, 3)
			var got []string
			drive(t, env, c.definition, c.xml, schema, []*batch.Batch{b}, func(o *batch.Batch) {
				for i := range o.All() {
					var words []string
					for _, col := range o.Cols {
						if col.IsText() {
							words = append(words, col.Str(i))
						} else {
							words = append(words, fmt.Sprint(col.Int(i)))
						}
					}
					got = append(got, strings.Join(words, "|"))
				}
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
			if err := env.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSortRowsMixesRawAndTypedBatches(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	schema := batch.NewSchema(fields("n:Integer")...)
	raw := env.Alloc.Assemble(schema, []*batch.Column{rawColumn(env, batch.Integer, "10", "02")}, 2)
	typed := transformtest.Batch(env, schema, [][]any{{5}, {nil}})
	got := runStream(t, env, relation.SortRows, "<fields>"+sortKey("n", "Y", "Y")+"</fields>", schema, []*batch.Batch{raw, typed})
	if !slices.Equal(got, []string{"<null>", "2", "5", "10"}) {
		t.Errorf("got %q", got)
	}
}

func TestSortRowsPlacesWhatCannotBeRead(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	schema := batch.NewSchema(fields("n:Integer")...)
	first := transformtest.Batch(env, schema, [][]any{{5}, {6}})
	second := env.Alloc.Assemble(schema, []*batch.Column{rawColumn(env, batch.Integer, "1", "x")}, 2)
	links := transform.Links{Transform: "tested", Inputs: []transform.Input{{From: "in", Schema: schema}}}
	p, err := transformtest.Settings(t, relation.SortRows, "<fields>"+sortKey("n", "Y", "Y")+"</fields>").Start(env, links)
	if err != nil {
		t.Fatal(err)
	}
	err = p.(transform.Stream).Run(t.Context(), []transform.Reader{&sliceReader{schema, []*batch.Batch{first, second}}}, nil)
	if err == nil || !strings.Contains(err.Error(), `transform "tested", row 4, field "n": "x" cannot become Integer`) {
		t.Errorf("got %v", err)
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}
