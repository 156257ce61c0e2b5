package script_test

import (
	"fmt"
	"sync"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/script"
)

// Processors that claim to be stateless are applied by several goroutines to one
// shared batch, whose columns are raw for those that accept it.
func TestStatelessProcessorsShare(t *testing.T) {
	schema := batch.NewSchema(field("n", batch.Integer), field("f", batch.Number), field("s", batch.String))
	for name, c := range map[string]struct {
		d    transform.Definition
		xml  string
		rows int // emitted by each Apply
	}{
		"filter":     {script.FilterRows, above100 + "<send_true_to>a</send_true_to>", 99},
		"calculator": {script.Calculator, calculation("x", "MULTIPLY", "f", "n", "", "Number", "") + calculation("y", "ADD", "s", "n", "", "String", ""), 200},
		"formula":    {script.Formula, formulaXML([4]string{"x", "[n]*2 &amp; LEFT([s],1)", "2", ""}), 200},
		"regex":      {script.RegexEval, `<matcher>s</matcher><script>(?=row)row1.*</script><resultfieldname>ok</resultfieldname>`, 200},
		"switch":     {script.SwitchCase, `<fieldname>s</fieldname><cases><case><value>row7</value><target_transform>a</target_transform></case></cases>`, 1},
		"script":     {script.ScriptValueMod, jsXML(js(0, "var x = n * 2 + upper(s);"), jsField("x", "", "String", "N")), 200},
		"java":       {script.JavaFilter, `<condition>n &gt; 100</condition>`, 99},
	} {
		t.Run(name, func(t *testing.T) {
			env, _ := transformtest.NewEnv(t, map[string]string{"LIMIT": "100"})
			s := transformtest.Settings(t, c.d, c.xml)
			p, err := s.Start(env, transform.Links{Inputs: []transform.Input{{Schema: schema}}})
			if err != nil {
				t.Fatal(err)
			}
			if transform.ShapeOf(p) != transform.ShapeStateless {
				t.Fatal("not stateless")
			}
			_, raw := p.(transform.RawAware)
			b := sharedBatch(env, schema, raw)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					rows := 0
					err := p.(transform.RowWise).Apply(t.Context(), b, func(_ transform.Port, out *batch.Batch) error {
						rows += out.Rows()
						out.Release()
						return nil
					})
					if err != nil || rows != c.rows {
						t.Errorf("%d rows, want %d; error %v", rows, c.rows, err)
					}
				})
			}
			wg.Wait()
			b.Release()
			if err := env.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

func sharedBatch(env *transform.Env, schema *batch.Schema, raw bool) *batch.Batch {
	column := func(t batch.Type) *batch.Column {
		if raw {
			return env.Alloc.RawColumn(t)
		}
		return env.Alloc.Column(t)
	}
	n, f, s := column(batch.Integer), column(batch.Number), column(batch.String)
	for i := range 200 {
		if raw {
			n.AppendString(fmt.Sprint(i))
			f.AppendString(fmt.Sprint(i) + ".5")
		} else {
			n.AppendInt(int64(i))
			f.AppendFloat(float64(i) + 0.5)
		}
		s.AppendString(fmt.Sprintf("row%d", i))
	}
	return env.Alloc.Assemble(schema, []*batch.Column{n, f, s}, 200)
}
