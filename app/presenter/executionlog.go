package presenter

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"sluice/storage"
)

// LogFilter is what a log is narrowed to.
type LogFilter struct {
	Search, Node string
	Level        string // one of LogLevels, "" or the first for all
}

// logLevels are the choices of the filter of levels; the first is all.
var logLevels = []struct {
	name string
	min  storage.LogLevel
}{{"All levels", storage.LevelDebug}, {"Info and above", storage.LevelInfo}, {"Warnings and errors", storage.LevelWarn}, {"Errors", storage.LevelError}}

// LogLevels are the choices of the filter of levels.
func LogLevels() []string {
	var list []string
	for _, l := range logLevels {
		list = append(list, l.name)
	}
	return list
}

// query is the filter as the store takes it, for an execution: a root's log is that
// of its whole tree.
func (f LogFilter) query(e storage.ExecutionHead, after int64) storage.LogQuery {
	q := storage.LogQuery{Execution: e.ID, Node: f.Node, Search: strings.TrimSpace(f.Search), After: after, Limit: pageOfLog}
	if e.Root == e.ID {
		q.Execution, q.Root = "", e.ID
	}
	for i, l := range logLevels {
		if l.name == f.Level && i > 0 {
			q.MinLevel = &l.min
		}
	}
	return q
}

// pageOfLog is how much of a log is read at a time.
const pageOfLog = 2000

// RecordedLog is a log as far as it is loaded. It is used by one goroutine; Load
// reads for it on another.
type RecordedLog struct {
	Entries []storage.LogEntry
	Next    int64 // where the next page begins
	More    bool
}

// LoadLog reads a page of a log behind an entry, 0 for the start. It reads the disk.
func LoadLog(ctx context.Context, s storage.ExecutionReader, of storage.ExecutionHead, f LogFilter, after int64) (storage.LogPage, error) {
	return s.Logs(ctx, f.query(of, after))
}

// Add puts a page behind what is there. It tells whether something came.
func (l *RecordedLog) Add(p storage.LogPage) bool {
	l.Entries, l.More = append(l.Entries, p.Entries...), p.More
	if p.Next > l.Next {
		l.Next = p.Next
	}
	return len(p.Entries) > 0
}

// NextError finds the next error behind a line, -1 for the first one; it begins again
// at the top. -1 when there is none.
func (l *RecordedLog) NextError(line int) int {
	for k := range l.Entries {
		i := (line + 1 + k) % len(l.Entries)
		if l.Entries[i].Level >= storage.LevelError {
			return i
		}
	}
	return -1
}

// Nodes are the transforms and actions that logged, in the order of their first line.
func (l *RecordedLog) Nodes() []string {
	seen := map[string]bool{"": true}
	var list []string
	for i := range l.Entries {
		if n := l.Entries[i].Node; !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// ExportLog writes the whole log that fits a filter as lines of JSON, to a file that
// appears when it is whole. It reads and writes the disk.
func ExportLog(ctx context.Context, s storage.ExecutionReader, of storage.ExecutionHead, f LogFilter, path string) (lines int64, err error) {
	err = streamWhole(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for after, more := int64(0), true; more; {
			page, err := LoadLog(ctx, s, of, f, after)
			if err != nil {
				return err
			}
			for _, e := range page.Entries {
				if err := enc.Encode(e); err != nil {
					return err
				}
				lines++
			}
			after, more = page.Next, page.More
		}
		return nil
	})
	return lines, err
}
