package presenter

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sluice/engine"
)

// LogLine is one line of a run's log.
type LogLine struct {
	Time      time.Time
	Level     string // "" for Basic
	Transform string
	Text      string
	Error     bool
}

// maxLogLines bounds a log in memory; the oldest lines go.
const maxLogLines = 100_000

// Log collects the log of runs. It is safe for many goroutines.
type Log struct {
	mu      sync.Mutex // guards what follows
	lines   []LogLine
	dropped int
	errors  int
}

// Lines gives the lines from a number on, and the number behind the last one;
// numbers count dropped lines too.
func (l *Log) Lines(from int) ([]LogLine, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.dropped + len(l.lines)
	start := max(from-l.dropped, 0)
	if start >= len(l.lines) {
		return nil, end
	}
	return append([]LogLine(nil), l.lines[start:]...), end
}

// Clear forgets all lines.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped += len(l.lines)
	l.lines, l.errors = nil, 0
}

// Errors counts the error lines.
func (l *Log) Errors() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errors
}

// Add appends a line.
func (l *Log) Add(line LogLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) >= maxLogLines {
		const atOnce = maxLogLines / 10
		l.lines = append([]LogLine(nil), l.lines[atOnce:]...)
		l.dropped += atOnce
	}
	if line.Error {
		l.errors++
	}
	l.lines = append(l.lines, line)
}

// Logger writes into the log from a level on.
func (l *Log) Logger(level slog.Level) *slog.Logger {
	return slog.New(&logHandler{log: l, level: level})
}

type logHandler struct {
	log   *Log
	level slog.Level
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(append([]slog.Attr(nil), h.attrs...), attrs...)
	return &c
}

// WithGroup implements slog.Handler; groups are not shown.
func (h *logHandler) WithGroup(string) slog.Handler { return h }

// Handle implements slog.Handler.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	line := LogLine{Time: r.Time, Error: r.Level >= slog.LevelError && r.Level < engine.LevelNothing}
	if r.Level != slog.LevelInfo {
		line.Level = engine.LogLevelName(r.Level)
	}
	var facts []string
	add := func(a slog.Attr) bool {
		if a.Key == "transform" {
			line.Transform = a.Value.String()
		} else {
			facts = append(facts, a.Key+"="+fmt.Sprint(a.Value.Resolve().Any()))
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	line.Text = r.Message
	if len(facts) > 0 {
		line.Text += " (" + strings.Join(facts, ", ") + ")"
	}
	h.log.Add(line)
	return nil
}
