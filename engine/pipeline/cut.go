package pipeline

import (
	"context"
	"encoding/json"
	"iter"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// PartSpec is one stream of rows at the output of a transform: what one copy
// emits on one port.
type PartSpec struct {
	Port   transform.Port
	Copy   int
	Schema *batch.Schema
}

// Rows gives spooled rows back. It is safe for many goroutines.
type Rows interface {
	Parts() []PartSpec
	// Read gives the rows of a part in the order they were emitted; the receiver
	// releases the batches. After an error nothing follows.
	Read(ctx context.Context, part int) iter.Seq2[*batch.Batch, error]
}

// Cut spools the output of one transform: a replay gate, a cached output, or a
// hop of the safe engine.
type Cut interface {
	Rows
	// Streams says whether rows flow on while they are spooled. Otherwise what
	// is downstream starts when the rows are sealed.
	Streams() bool
	// Survives says whether the extraction goes on to its seal when something
	// else fails.
	Survives() bool
	// Begin is called once before a row moves.
	Begin(ctx context.Context, parts []PartSpec) error
	// Add spools the selected rows of b (borrowed, typed); one goroutine a part.
	Add(ctx context.Context, part int, b *batch.Batch) error
	// EndPart says that the part is complete.
	EndPart(ctx context.Context, part int) error
	// Seal is called when all parts have ended and every transform upstream has
	// reached its own end of input; Interrupt when that cannot happen any more.
	Seal(ctx context.Context, e Effects) error
	Interrupt(ctx context.Context, reason string) error
}

// Effects are what the upstream of a cut left in its surroundings; a start from
// the cut gives them back.
type Effects struct {
	Variables map[string]string      `json:"variables,omitempty"` // set by transforms
	Files     []transform.ResultFile `json:"files,omitempty"`
	Counters  map[string]int64       `json:"counters,omitempty"` // next values of shared counters
	Metrics   []TransformCounts      `json:"metrics,omitempty"`
	// Action is what an action left beside its rows; only at gates of actions.
	Action json.RawMessage `json:"action,omitempty"`
}

// TransformCounts are the row counts of one transform copy.
type TransformCounts struct {
	Name                                                    string
	Copy                                                    int
	Read, Written, Input, Output, Updated, Rejected, Errors int64
}

// JSON gives the effects as compact JSON.
func (e Effects) JSON() json.RawMessage {
	data, err := json.Marshal(e)
	if err != nil {
		return nil // strings and numbers always encode
	}
	return data
}

// Bound is a snapshot in the place of a transform: its rows are emitted and
// nothing upstream of it runs.
type Bound interface {
	Rows
	Effects() Effects
}

// boundSettings stand in for a transform whose rows come from a snapshot. The
// ports are those of the real settings, so routing follows today's hops.
type boundSettings struct {
	real  transform.Settings
	rows  Rows
	ready <-chan struct{} // nil: at once
	err   func() error    // why it will never be ready
	// schemas of the transform that runs above, nil when none does
	schemas func() transform.Schemas
}

// Ports implements transform.Porter.
func (s *boundSettings) Ports(l transform.Links) transform.Ports {
	p := transform.PortsOf(s.real, l)
	p.Inputs, p.WaitsFor = nil, nil
	return p
}

// Output implements transform.Settings.
func (s *boundSettings) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	if s.schemas != nil {
		return s.schemas(), nil
	}
	out := transform.Schemas{}
	for _, p := range s.rows.Parts() {
		if out[p.Port] == nil {
			out[p.Port] = p.Schema
		}
	}
	return out, nil
}

// Start implements transform.Settings.
func (s *boundSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &boundProcessor{settings: s, copy: env.Copy}, nil
}

type boundProcessor struct {
	transform.Producer
	settings *boundSettings
	copy     int
}

// Produce implements transform.Source: the parts of the copy, port after port.
func (p *boundProcessor) Produce(ctx context.Context, emit transform.Emit) error {
	if p.settings.ready != nil {
		select {
		case <-p.settings.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := p.settings.err(); err != nil {
			return err
		}
	}
	for k, part := range p.settings.rows.Parts() {
		if part.Copy != p.copy {
			continue
		}
		for b, err := range p.settings.rows.Read(ctx, k) {
			if err != nil {
				return err
			}
			if err := emit(part.Port, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// copiesIn is the number of copies that the parts come from.
func copiesIn(r Rows) int {
	n := 1
	for _, p := range r.Parts() {
		n = max(n, p.Copy+1)
	}
	return n
}
