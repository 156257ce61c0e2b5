package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"sluice/engine"
)

// lineHandler writes one plain line per log record: time, level unless it is
// Basic, transform, message, facts.
type lineHandler struct {
	w     io.Writer
	level slog.Level
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (h *lineHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// WithAttrs implements slog.Handler.
func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(append([]slog.Attr(nil), h.attrs...), attrs...)
	return &c
}

// WithGroup implements slog.Handler; groups are not shown.
func (h *lineHandler) WithGroup(string) slog.Handler { return h }

// logLock keeps lines of one process whole.
var logLock sync.Mutex

// Handle implements slog.Handler.
func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Time.Format("15:04:05.000 "))
	if r.Level != slog.LevelInfo {
		b.WriteString(strings.ToUpper(engine.LogLevelName(r.Level)) + " ")
	}
	var facts []string
	add := func(a slog.Attr) bool {
		if a.Key == "transform" || a.Key == "action" {
			b.WriteString(a.Value.String() + " - ")
		} else {
			facts = append(facts, a.Key+"="+fmt.Sprint(a.Value.Resolve().Any()))
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	about := ""
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "action" { // what the line speaks of, not what speaks
			about = " [" + a.Value.String() + "]"
			return true
		}
		return add(a)
	})
	b.WriteString(r.Message + about)
	if len(facts) > 0 {
		b.WriteString(" (" + strings.Join(facts, ", ") + ")")
	}
	b.WriteByte('\n')
	logLock.Lock()
	defer logLock.Unlock()
	_, err := io.WriteString(h.w, b.String())
	return err
}
