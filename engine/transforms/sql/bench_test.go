package sql_test

import (
	"testing"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	family "sluice/engine/transforms/sql"
)

const benchRows = 100_000

// benchEnv is an environment with a database for a benchmark.
func benchEnv(b *testing.B, script string) *transform.Env {
	b.Helper()
	env, _ := transformtest.NewEnv(b, nil)
	(&base{t: b, script: script}).env(env)
	return env
}

func drop(_ transform.Port, b *batch.Batch) error {
	b.Release()
	return nil
}

func BenchmarkTableInput(b *testing.B) {
	env := benchEnv(b, `create table t(id INTEGER PRIMARY KEY, name TEXT, price REAL, day DATE);
		with recursive n(i) as (select 1 union all select i+1 from n where i < 100000)
		insert into t select i, 'customer number '||i, i/7.0, date('2020-01-01', '+'||(i%1000)||' days') from n`)
	s := transformtest.Settings(b, family.TableInput, `<connection>db</connection><sql>select * from t</sql>`)
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.Start(env, transform.Links{Transform: "in"})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.(transform.Source).Produce(b.Context(), drop); err != nil {
			b.Fatal(err)
		}
		if err := p.(interface{ Close() error }).Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*benchRows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkTableOutput(b *testing.B) {
	env := benchEnv(b, "create table t(id INTEGER, name TEXT, price REAL, day DATE)")
	s := transformtest.Settings(b, family.TableOutput, `<connection>db</connection><table>t</table><truncate>Y</truncate>`)
	schema := batch.NewSchema(batch.NewField("id", batch.Integer), batch.NewField("name", batch.String), batch.NewField("price", batch.Number), batch.NewField("day", batch.Date))
	rows := env.Alloc.Batch(schema)
	for i := range batch.MaxRows {
		rows.Cols[0].AppendInt(int64(i))
		rows.Cols[1].AppendString("customer number of the row")
		rows.Cols[2].AppendFloat(float64(i) / 7)
		rows.Cols[3].AppendInt(int64(i) * 86_400_000)
	}
	defer rows.Release()
	links := transform.Links{Transform: "out", Inputs: []transform.Input{{From: "in", Schema: schema}}}
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.Start(env, links)
		if err != nil {
			b.Fatal(err)
		}
		for range benchRows / batch.MaxRows {
			if err := p.(transform.RowWise).Apply(b.Context(), rows, drop); err != nil {
				b.Fatal(err)
			}
		}
		if err := p.(transform.Sink).Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := p.(interface{ Close() error }).Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*(benchRows/batch.MaxRows*batch.MaxRows))/b.Elapsed().Seconds(), "rows/s")
}
