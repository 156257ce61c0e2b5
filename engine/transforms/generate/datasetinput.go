package generate

import (
	"context"
	"errors"

	"sluice/engine/batch"
	"sluice/engine/dataset"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// DataSetInput emits the rows of a data set of the project's metadata.
var DataSetInput = transform.Define[DataSetInputSettings](transform.About{
	ID:       "DataSetInput",
	Name:     "Data set input",
	Category: transform.CategoryInput,
	Summary:  "Rows of a data set for unit tests.",
})

// DataSetInputSettings lists the settings in the order the form shows them.
type DataSetInputSettings struct {
	DataSet transform.Expr[string] `hop:"dataSetName" form:"dataset" required:"true" label:"Data set"`
}

func (s *DataSetInputSettings) load(r transform.Resolver, m *project.Metadata) (*project.Dataset, error) {
	name, err := s.DataSet.Eval(r)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, errors.New("no data set is named")
	}
	return m.Dataset(name)
}

// Output implements transform.Settings.
func (s *DataSetInputSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	set, err := s.load(d, d.Metadata())
	if err != nil {
		return nil, err
	}
	return transform.OnMain(dataset.Schema(set, l.Transform))
}

// Start implements transform.Settings.
func (s *DataSetInputSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	set, err := s.load(env, env.Design.Metadata())
	if err != nil {
		return nil, err
	}
	return &dataSetProcessor{env: env, set: set, schema: dataset.Schema(set, l.Transform)}, nil
}

type dataSetProcessor struct {
	transform.Producer
	env    *transform.Env
	set    *project.Dataset
	schema *batch.Schema
}

// errSafeStop ends the reading of a data set when sources are to stop.
var errSafeStop = errors.New("asked to stop")

// Produce implements transform.Source.
func (p *dataSetProcessor) Produce(ctx context.Context, emit transform.Emit) error {
	src := dataset.Source{Files: p.env.Files, Vars: p.env.Vars, Semantics: p.env.Semantics, Alloc: p.env.Alloc}
	err := dataset.Read(ctx, src, p.set, p.schema, func(b *batch.Batch) error {
		if stopping(p.env) {
			b.Release()
			return errSafeStop
		}
		p.env.Counters.Input.Add(int64(b.Rows()))
		return emit(transform.Main, b)
	})
	if errors.Is(err, errSafeStop) {
		return nil
	}
	return err
}
