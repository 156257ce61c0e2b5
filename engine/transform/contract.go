// Package transform is the contract between the pipeline engine and the
// transforms: how a transform names its settings, its ports and its output
// schema, and how it runs.
//
// A Definition says what a transform is; Define makes one from a tagged settings
// struct, the only list of its settings. A Processor is one started copy of a
// transform and has one of three shapes: RowWise, Source or Stream. Links tell a
// transform how it is wired, Env gives it everything it may touch.
//
// Families of transforms live in engine/transforms; the engine that runs them in
// engine/pipeline.
package transform

import (
	"context"
	"iter"

	"sluice/engine/batch"
)

// Settings is what a pointer to a settings struct implements. Optional abilities
// are Porter and Checker.
type Settings interface {
	// Output gives a schema for every output port; the engine adds the error
	// port's when it is missing. It is called on every edit and does no I/O.
	// l.Main() and the other input schemas are those of the connected hops.
	Output(l Links, d Design) (Schemas, error)
	// Start resolves the settings once and gives a processor for one copy. It
	// does not read or write data.
	Start(env *Env, l Links) (Processor, error)
}

// Porter is implemented by settings whose transform has other ports than one
// main input for all incoming hops and one main output for all outgoing ones.
type Porter interface {
	Ports(l Links) Ports
}

// Checker is implemented by settings with rules that tags cannot state.
type Checker interface {
	Check(l Links, d Design) iter.Seq[Problem]
}

// Port names an output port: Main, Error, or what Ports declares ("true",
// "case:2").
type Port string

// The ports every transform may have.
const (
	Main  Port = "main"
	Error Port = "error"
)

// Schemas gives the schema of each output port.
type Schemas map[Port]*batch.Schema

// OnMain is the common answer of Output: one main port.
func OnMain(s *batch.Schema) (Schemas, error) { return Schemas{Main: s}, nil }

// Emit hands a batch to an output port. It takes over one hold of the batch,
// also when it fails; a batch that the caller keeps or borrowed is retained
// first. An error means the execution ends: return it at once.
type Emit func(port Port, b *batch.Batch) error

// Processor is one started copy of a transform. Embed Stateless, Stateful,
// Producer or Collector to say which shape it has.
//
// A processor that also implements io.Closer is closed when the execution ends,
// however it ends.
type Processor interface{ shape() Shape }

// Shape tells the planner how a processor runs.
type Shape int

// The shapes.
const (
	ShapeStateless Shape = iota // RowWise; Apply is called by many goroutines at once
	ShapeStateful               // RowWise; Apply is called by one goroutine, in row order
	ShapeSource                 // Source
	ShapeStream                 // Stream
)

// ShapeOf gives the shape of a processor.
func ShapeOf(p Processor) Shape { return p.shape() }

// Stateless is embedded by a RowWise whose Apply is safe for many goroutines.
type Stateless struct{}

// Stateful is embedded by a RowWise that sees its rows in order on one goroutine.
type Stateful struct{}

// Producer is embedded by a Source.
type Producer struct{}

// Collector is embedded by a Stream.
type Collector struct{}

func (Stateless) shape() Shape { return ShapeStateless }
func (Stateful) shape() Shape  { return ShapeStateful }
func (Producer) shape() Shape  { return ShapeSource }
func (Collector) shape() Shape { return ShapeStream }

// RowWise works on one batch at a time.
type RowWise interface {
	Processor
	// Apply borrows b and emits what comes of it. b may carry a selection
	// (see batch.Batch.Sel); rows that are not selected do not exist.
	Apply(ctx context.Context, b *batch.Batch, emit Emit) error
}

// Preparer is a RowWise with info inputs: Prepare reads them to their end before
// the first Apply. The readers are in the order of the info ports.
type Preparer interface {
	Prepare(ctx context.Context, info []Reader) error
}

// Finisher is a RowWise that has something to do or to emit after its last row,
// also when there was none.
type Finisher interface {
	Finish(ctx context.Context, emit Emit) error
}

// Encoder is a Stateful RowWise whose costly half depends on one batch alone:
// Encode runs on many goroutines at once, ApplyEncoded in row order with what it
// returned. Apply is not called then.
type Encoder interface {
	Encode(ctx context.Context, b *batch.Batch) (any, error)
	ApplyEncoded(ctx context.Context, b *batch.Batch, encoded any, emit Emit) error
}

// Source makes rows of its own. Produce returns when there are no more, or when
// env.Stopping is closed (safe stop), or when ctx ends.
type Source interface {
	Processor
	Produce(ctx context.Context, emit Emit) error
}

// Morsel is an independent piece of a source's work.
type Morsel func(ctx context.Context, emit Emit) error

// Splitter is a Source that hands its work out in pieces: submit passes a morsel
// to any worker; what the morsels emit keeps the order of submission. Produce is
// not called then.
type Splitter interface {
	Split(ctx context.Context, submit func(Morsel) error) error
}

// Reader gives the batches of one input. Next returns io.EOF after the last one;
// the caller releases each batch.
type Reader interface {
	Schema() *batch.Schema
	Next(ctx context.Context) (*batch.Batch, error)
}

// Stream holds rows or waits: it pulls from its inputs and emits when it likes.
// The readers are in the order of Ports.Inputs, one per hop for a port that is
// Separate.
type Stream interface {
	Processor
	Run(ctx context.Context, in []Reader, emit Emit) error
}

// Sink is a processor that writes outside of the pipeline. After the last row
// comes Commit, after a failure Abort; never both.
type Sink interface {
	Commit(ctx context.Context) error
	Abort(ctx context.Context) error
}

// RawAware is a processor that copes with raw columns and reads values through
// Batch.Col. All others get typed columns only.
type RawAware interface{ AcceptsRaw() }

// TakesRaw is embedded by a RawAware processor.
type TakesRaw struct{}

// AcceptsRaw marks the processor.
func (TakesRaw) AcceptsRaw() {}

// Pacer is a RowWise that waits or acts for each row: it gets at most MaxRows
// rows at a time, so that rows move on while it works.
type Pacer interface{ MaxRows() int }

// FieldUser is implemented by settings that can say which fields of the main input
// they look at, given which fields of the output are looked at further on. The
// engine then spares sources the work for fields that nobody looks at. All output
// ports with rows have the schema that Output gives for the main port, or the
// input's. in has one flag per input field.
type FieldUser interface {
	Needs(l Links, out []bool) (in []bool)
}

// PassingNeeds is the answer of a transform that passes its input fields on in
// place and looks at some of them itself.
func PassingNeeds(l Links, out []bool, used ...string) []bool {
	s := l.Main()
	in := make([]bool, s.Len())
	copy(in, out)
	for _, name := range used {
		if i := s.Index(name); i >= 0 {
			in[i] = true
		}
	}
	return in
}

// Pruner is a source that can leave fields out: Prune comes before a row moves and
// says which fields are looked at. The others may be null in all rows, as long as
// reading them could not have failed.
type Pruner interface{ Prune(wanted []bool) }

// Converter is a source of raw columns that can convert them while it reads.
// ConvertAll comes before a row moves, when every value is going to be needed, and
// says of which fields the text is looked at, too. The columns stay raw, so a value
// that cannot be converted is the same error as before; the text of the other
// fields may be left out.
type Converter interface{ ConvertAll(text []bool) }

// Unbounded is a source that may never end by itself. Rows that come from one are
// merged in order of arrival.
type Unbounded interface{ Unbounded() bool }
