package flow

import (
	"context"
	"errors"
	"io"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// BlockingTransform holds its rows until the input has ended and then emits all
// of them or only the last. All rows are kept in memory within the execution's
// budget and beyond it on disk.
var BlockingTransform = transform.Define[BlockingTransformSettings](transform.About{
	ID:         "BlockingTransform",
	Name:       "Blocking transform",
	Category:   transform.CategoryFlow,
	Summary:    "Hold rows until the input has ended; pass all or the last.",
	RowNeutral: []string{"directory", "prefix", "cache_size", "compress"},
})

// BlockingTransformSettings lists the settings in the order the form shows them.
type BlockingTransformSettings struct {
	PassAll   bool   `hop:"pass_all_rows" label:"Pass all rows"`
	Directory string `hop:"directory" default:"${java.io.tmpdir}" form:"folder" advanced:"true"`
	Prefix    string `hop:"prefix" default:"block" advanced:"true"`
	CacheSize int    `hop:"cache_size" default:"5000" unit:"rows" advanced:"true"`
	Compress  bool   `hop:"compress" advanced:"true"`
}

// Output implements transform.Settings.
func (s *BlockingTransformSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *BlockingTransformSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	if s.PassAll {
		return &blockAllProcessor{env: env}, nil
	}
	return &blockLastProcessor{}, nil
}

type blockLastProcessor struct {
	transform.Stateful
	transform.TakesRaw
	last *batch.Batch
}

// Apply implements transform.RowWise.
func (p *blockLastProcessor) Apply(_ context.Context, b *batch.Batch, _ transform.Emit) error {
	if n := b.Rows(); n > 0 {
		if p.last != nil {
			p.last.Release()
		}
		p.last = b.Gather([]int32{int32(b.Row(n - 1))})
	}
	return nil
}

// Finish implements transform.Finisher.
func (p *blockLastProcessor) Finish(_ context.Context, emit transform.Emit) error {
	if p.last == nil {
		return nil
	}
	last := p.last
	p.last = nil
	return emit(transform.Main, last)
}

// Close implements io.Closer.
func (p *blockLastProcessor) Close() error {
	if p.last != nil {
		p.last.Release()
		p.last = nil
	}
	return nil
}

type blockAllProcessor struct {
	transform.Collector
	transform.TakesRaw
	env *transform.Env
}

// Run implements transform.Stream.
func (p *blockAllProcessor) Run(ctx context.Context, in []transform.Reader, emit transform.Emit) error {
	k := &kept{env: p.env}
	defer k.close()
	for {
		b, err := in[0].Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = k.add(b)
		}
		if err != nil {
			return err
		}
	}
	return k.emit(ctx, in[0].Schema(), emit)
}

// kept holds batches in memory while the budget allows, then on disk.
type kept struct {
	env     *transform.Env
	batches []*batch.Batch
	bytes   int64
	file    transform.SpillFile
}

// add takes over one hold of b.
func (k *kept) add(b *batch.Batch) (err error) {
	if k.file == nil {
		n := int64(b.Bytesize())
		if k.env.Memory.Request(n) {
			k.bytes += n
			k.batches = append(k.batches, b)
			return nil
		}
		if k.file, err = k.env.Spill.Create(); err != nil {
			b.Release()
			return err
		}
	}
	defer b.Release()
	return k.file.Write(b)
}

func (k *kept) emit(ctx context.Context, schema *batch.Schema, emit transform.Emit) error {
	for len(k.batches) > 0 {
		b := k.batches[0]
		k.batches = k.batches[1:]
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
	if k.file == nil {
		return nil
	}
	r, err := k.file.Reader(schema)
	if err != nil {
		return err
	}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = emit(transform.Main, b)
		}
		if err != nil {
			return err
		}
	}
}

func (k *kept) close() {
	for _, b := range k.batches {
		b.Release()
	}
	k.batches = nil
	k.env.Memory.Release(k.bytes)
	if k.file != nil {
		_ = k.file.Close() // it was read or is not wanted; the spill folder goes with the execution
	}
}
