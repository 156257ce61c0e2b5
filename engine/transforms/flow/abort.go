package flow

import (
	"context"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

// Abort passes its rows on and ends the pipeline when more of them come than a
// threshold allows.
var Abort = transform.Define[AbortSettings](transform.About{
	ID:       "Abort",
	Name:     "Abort",
	Category: transform.CategoryFlow,
	Summary:  "End the pipeline when rows arrive.",
})

// AbortOption says how the pipeline ends.
type AbortOption string

// The options.
const (
	AbortStop      AbortOption = "ABORT"
	AbortWithError AbortOption = "ABORT_WITH_ERROR"
	AbortSafely    AbortOption = "SAFE_STOP"
)

// Choices implements transform.Choices.
func (AbortOption) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(AbortStop), Label: "Stop", Help: "Everything stops; the result is still a success"},
		{Code: string(AbortWithError), Label: "Stop with an error", Help: "The pipeline has failed"},
		{Code: string(AbortSafely), Label: "Safe stop", Help: "Sources stop; rows under way are worked off"},
	}
}

// AbortSettings lists the settings in the order the form shows them.
type AbortSettings struct {
	Option    AbortOption            `hop:"abort_option" default:"ABORT"`
	Threshold transform.Expr[int64]  `hop:"row_threshold" default:"0" unit:"rows" min:"0" label:"Abort threshold"`
	Message   transform.Expr[string] `hop:"message" label:"Abort message"`
	LogRows   bool                   `hop:"always_log_rows" label:"Always log rows"`
}

// AfterDecode reads the older form of the option.
func (s *AbortSettings) AfterDecode(el *hopxml.Element) {
	if el.Child("abort_option").Text() == "" && el.Child("abort_with_error").Flag() {
		s.Option = AbortWithError
	}
}

// Ports implements transform.Porter.
func (s *AbortSettings) Ports(transform.Links) transform.Ports {
	p := transform.DefaultPorts()
	p.Inputs[0].AnyLayout = true
	return p
}

// Output implements transform.Settings.
func (s *AbortSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *AbortSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	threshold, err := s.Threshold.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("abort threshold: %w", err)
	}
	message, err := s.Message.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("abort message: %w", err)
	}
	return &abortProcessor{env: env, option: s.Option, threshold: threshold, message: message, log: s.LogRows}, nil
}

type abortProcessor struct {
	transform.Stateful
	env       *transform.Env
	option    AbortOption
	threshold int64
	message   string
	log       bool
	rows      int64
	aborted   bool
}

// Apply implements transform.RowWise. Rows after the one that passed the
// threshold are passed on too, unless the pipeline has stopped by then.
func (p *abortProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	n := int64(b.Rows())
	if err := p.logRows(ctx, b); err != nil {
		return err
	}
	p.rows += n
	if p.rows <= p.threshold || p.aborted {
		return emit(transform.Main, b.Retain())
	}
	p.aborted = true
	over := min(n, p.threshold-(p.rows-n)+1)
	row := b.Row(int(over - 1))
	text, err := rowText(p.env, b, row)
	if err != nil {
		return err
	}
	message := p.message
	if message == "" {
		message = "Aborting after having seen " + fmt.Sprint(p.threshold+1) + " rows"
	}
	p.env.Log.Log(ctx, engine.LevelMinimal, "Row seen", "row", text)
	if err := emit(transform.Main, b.Retain()); err != nil {
		return err
	}
	switch p.option {
	case AbortWithError:
		return &engine.Error{Transform: p.env.Transform, Row: over, Message: message}
	case AbortSafely:
		p.env.Log.Log(ctx, engine.LevelMinimal, "Safe stop", "reason", message)
		p.env.Stop(transform.StopSafely, message)
	default:
		p.env.Log.Log(ctx, engine.LevelMinimal, "Stopped", "reason", message)
		p.env.Stop(transform.StopNow, message)
	}
	return nil
}

func (p *abortProcessor) logRows(ctx context.Context, b *batch.Batch) error {
	if !p.log {
		return nil
	}
	for i := range b.All() {
		text, err := rowText(p.env, b, i)
		if err != nil {
			return err
		}
		p.env.Log.Log(ctx, engine.LevelMinimal, "Row", "row", text)
	}
	return nil
}

// rowText writes a row as Hop's log does: the values between brackets.
func rowText(env *transform.Env, b *batch.Batch, i int) (string, error) {
	codecs, err := env.Semantics.Codecs(b.Schema)
	if err != nil {
		return "", err
	}
	words := make([]string, len(b.Cols))
	for k, c := range b.Cols {
		words[k] = "[" + nullOr(codecs[k], c, i) + "]"
	}
	return strings.Join(words, ", "), nil
}

func nullOr(codec *batch.Codec, c *batch.Column, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	return string(codec.AppendText(nil, c, i))
}
