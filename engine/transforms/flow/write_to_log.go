package flow

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// WriteToLog writes its rows to the execution log and passes them on.
var WriteToLog = transform.Define[WriteToLogSettings](transform.About{
	ID:       "WriteToLog",
	Name:     "Write to log",
	Category: transform.CategoryFlow,
	Summary:  "Write rows to the log.",
})

// LogLevel is one of Hop's log levels.
type LogLevel string

// Choices implements transform.Choices.
func (LogLevel) Choices() []transform.Choice {
	var list []transform.Choice
	for _, code := range []string{"Nothing", "Error", "Minimal", "Basic", "Detailed", "Debug", "Rowlevel"} {
		list = append(list, transform.Choice{Code: code, Label: code}, transform.Choice{Code: "log_level_" + strings.ToLower(code), Label: code})
	}
	return list
}

// WriteToLogSettings lists the settings in the order the form shows them.
type WriteToLogSettings struct {
	Level     LogLevel               `hop:"loglevel" default:"Basic" label:"Log level"`
	Header    bool                   `hop:"displayHeader" label:"Print header"`
	Limit     bool                   `hop:"limitRows" label:"Limit rows"`
	LimitRows int                    `hop:"limitRowsNumber" default:"0" unit:"rows" label:"Number of rows"`
	Message   transform.Expr[string] `hop:"logmessage" form:"multiline" label:"Log message"`
	Fields    []LoggedField          `hop:"fields>field" help:"Empty: all fields"`
}

// LoggedField is one logged field.
type LoggedField struct {
	Name string `hop:"name" form:"field" required:"true"`
}

// Output implements transform.Settings.
func (s *WriteToLogSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(inputOf(l))
}

// Start implements transform.Settings.
func (s *WriteToLogSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	level, err := engine.ParseLogLevel(string(s.Level))
	if err != nil {
		return nil, err
	}
	p := &logProcessor{env: env, level: level, header: s.Header, limit: -1}
	if s.Limit {
		p.limit = s.LimitRows
	}
	if p.message, err = s.Message.Eval(env); err != nil {
		return nil, fmt.Errorf("log message: %w", err)
	}
	in := inputOf(l)
	for _, f := range s.Fields {
		k, err := fieldIndex(in, f.Name, "Fields")
		if err != nil {
			return nil, err
		}
		p.fields = append(p.fields, k)
	}
	if len(s.Fields) == 0 {
		for k := range in.Len() {
			p.fields = append(p.fields, k)
		}
	}
	if p.codecs, err = env.Semantics.Codecs(in); err != nil {
		return nil, err
	}
	return p, nil
}

type logProcessor struct {
	transform.Stateful
	env     *transform.Env
	level   slog.Level
	header  bool
	limit   int // -1: none
	message string
	fields  []int
	codecs  []*batch.Codec
	rows    int
}

const (
	logHead = "\n------------> Linenr %d------------------------------\n"
	logFoot = "\n===================="
)

// Apply implements transform.RowWise.
func (p *logProcessor) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if p.env.Log.Enabled(ctx, p.level) {
		for i := range b.All() {
			if p.limit >= 0 && p.rows >= p.limit {
				break
			}
			p.rows++
			p.env.Log.Log(ctx, p.level, p.text(b, i)) //nolint:sloglint // the rows are the message, as in Hop
		}
	}
	return emit(transform.Main, b.Retain())
}

func (p *logProcessor) text(b *batch.Batch, i int) string {
	var out strings.Builder
	fmt.Fprintf(&out, logHead, p.rows)
	if p.message != "" {
		out.WriteString(p.message + "\n")
	}
	for n, k := range p.fields {
		if n > 0 {
			out.WriteByte('\n')
		}
		value := nullOr(p.codecs[k], b.Cols[k], i)
		if p.header {
			out.WriteString(b.Schema.Fields[k].Name + " = " + value)
		} else {
			out.WriteString(value)
		}
	}
	out.WriteString(logFoot)
	return out.String()
}
