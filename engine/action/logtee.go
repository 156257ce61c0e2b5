package action

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// LogTee is a slog.Handler that shows each record to Line, as a line in the form
// of Hop's log with a line end, and passes it on to Next. Line may be called by
// several goroutines at once.
type LogTee struct {
	Next  slog.Handler // nil: nobody else
	Level slog.Level   // of the least lines that Line is shown
	Line  func(line string)
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (t *LogTee) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= t.Level || t.Next != nil && t.Next.Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (t *LogTee) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= t.Level {
		t.Line(t.text(r))
	}
	if t.Next != nil && t.Next.Enabled(ctx, r.Level) {
		return t.Next.Handle(ctx, r)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (t *LogTee) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *t
	c.attrs = append(append([]slog.Attr(nil), t.attrs...), attrs...)
	if t.Next != nil {
		c.Next = t.Next.WithAttrs(attrs)
	}
	return &c
}

// WithGroup implements slog.Handler; groups are not shown.
func (t *LogTee) WithGroup(name string) slog.Handler {
	c := *t
	if t.Next != nil {
		c.Next = t.Next.WithGroup(name)
	}
	return &c
}

// The attributes whose value stands before the message: what logs.
const (
	attrTransform = "transform"
	attrAction    = "action"
)

func (t *LogTee) text(r slog.Record) string {
	var line lineText
	for _, a := range t.attrs {
		if a.Key == attrTransform || a.Key == attrAction {
			line.subject = a.Value.Resolve().String() + " - "
			continue
		}
		line.note(a)
	}
	r.Attrs(line.note)
	mark := ""
	if r.Level >= slog.LevelError {
		mark = "ERROR: "
	}
	return r.Time.Format("2006/01/02 15:04:05") + " - " + line.subject + mark + r.Message + line.facts.String() + "\n"
}

// lineText gathers the attributes of a line. An action in the record itself is
// what the line speaks of: "Starting action [x]".
type lineText struct {
	subject string
	facts   strings.Builder
}

func (l *lineText) note(a slog.Attr) bool {
	switch value := a.Value.Resolve(); a.Key {
	case attrTransform:
		l.subject = value.String() + " - "
	case attrAction:
		fmt.Fprintf(&l.facts, " [%v]", value)
	case "err":
		fmt.Fprintf(&l.facts, ": %v", value)
	default:
		fmt.Fprintf(&l.facts, " (%s=[%v])", a.Key, value)
	}
	return true
}
