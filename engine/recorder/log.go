package recorder

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"sluice/storage"
)

// logHandler keeps what an execution logs, and passes it on. A line that comes
// from a child through its parent's log is kept once, for the child.
type logHandler struct {
	next      slog.Handler
	recorder  *Recorder
	execution string
	root      string
	attrs     []slog.Attr
}

type keptKey struct{}

func (r *Recorder) logger(base *slog.Logger, execution, root string) *slog.Logger {
	next := slog.DiscardHandler
	if base != nil {
		next = base.Handler()
	}
	return slog.New(&logHandler{next: next, recorder: r, execution: execution, root: root})
}

// Enabled implements slog.Handler: the record is at least as full as basic.
func (h *logHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || h.next.Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(ctx context.Context, rec slog.Record) error {
	if ctx.Value(keptKey{}) == nil {
		h.keep(rec)
		ctx = context.WithValue(ctx, keptKey{}, true)
	}
	if !h.next.Enabled(ctx, rec.Level) {
		return nil
	}
	return h.next.Handle(ctx, rec)
}

func (h *logHandler) keep(rec slog.Record) {
	e := storage.LogEntry{Execution: h.execution, Root: h.root, Time: rec.Time, Level: levelOf(rec.Level)}
	var text strings.Builder
	text.WriteString(rec.Message)
	note := func(a slog.Attr) bool {
		switch a.Key {
		case "transform", "action":
			e.Node = a.Value.Resolve().String()
		default:
			fmt.Fprintf(&text, " (%s=%v)", a.Key, a.Value.Resolve())
		}
		return true
	}
	for _, a := range h.attrs {
		note(a)
	}
	rec.Attrs(note)
	e.Text = text.String()
	h.recorder.note(context.Background(), e)
}

func levelOf(l slog.Level) storage.LogLevel {
	switch {
	case l >= slog.LevelError:
		return storage.LevelError
	case l >= slog.LevelWarn:
		return storage.LevelWarn
	case l >= slog.LevelInfo:
		return storage.LevelInfo
	}
	return storage.LevelDebug
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(append([]slog.Attr(nil), h.attrs...), attrs...)
	c.next = h.next.WithAttrs(attrs)
	return &c
}

// WithGroup implements slog.Handler; groups are not kept.
func (h *logHandler) WithGroup(name string) slog.Handler {
	c := *h
	c.next = h.next.WithGroup(name)
	return &c
}
