package storage

import (
	"encoding/json"
	"fmt"
	"time"
)

// LogKind is what a log entry tells.
type LogKind string

// The kinds of log entries; each but LogLine has a type of data.
const (
	LogStarted     LogKind = "started"
	LogProgress    LogKind = "progress"
	LogBatchResult LogKind = "batch_result"
	LogTaskResult  LogKind = "task_result"
	LogRecordError LogKind = "record_error"
	LogArchive     LogKind = "archive"
	LogCheckpoint  LogKind = "checkpoint"
	LogReplay      LogKind = "replay"
	LogLine        LogKind = "line"
)

// LogLevel orders entries by weight.
type LogLevel int

// The levels.
const (
	LevelDebug LogLevel = iota - 1
	LevelInfo
	LevelWarn
	LevelError
)

// LogEntry is one entry of an execution's log.
type LogEntry struct {
	Seq       int64     `json:"seq"` // given by the store, grows
	Execution string    `json:"execution"`
	Root      string    `json:"root"` // "" is the execution itself
	Time      time.Time `json:"time"` // UTC in milliseconds
	Level     LogLevel  `json:"level"`
	Kind      LogKind   `json:"kind"`           // "" follows from Data
	Node      string    `json:"node,omitempty"` // transform, action or task
	Copy      int       `json:"copy,omitempty"`
	Text      string    `json:"text,omitempty"`
	Data      LogData   `json:"data,omitempty"` // nil for LogLine
}

// LogData is the typed part of an entry: one of the Entry types below, by
// value, or UnknownEntry.
type LogData interface {
	Kind() LogKind
	// redacted gives a copy without secrets.
	redacted(r Redactor) LogData
}

type (
	// StartedEntry is logged before anything is read.
	StartedEntry struct {
		Source string `json:"source,omitempty"`
		Target string `json:"target,omitempty"`
	}
	// ProgressEntry counts so far.
	ProgressEntry struct {
		Counts
		RowsPerSecond float64 `json:"rowsPerSecond,omitempty"`
	}
	// BatchResultEntry is one committed or failed micro-batch.
	BatchResultEntry struct {
		Counts
		Batch    int64         `json:"batch"`
		Duration time.Duration `json:"durationNanos,omitempty"`
		Error    string        `json:"error,omitempty"`
	}
	// TaskResultEntry is the end of a task, action or pipeline.
	TaskResultEntry struct {
		Counts
		State    State         `json:"state"`
		Duration time.Duration `json:"durationNanos,omitempty"`
		Error    string        `json:"error,omitempty"`
	}
	// RecordErrorEntry is one bad source record.
	RecordErrorEntry struct {
		Source    string `json:"source,omitempty"` // topic or file
		Partition int    `json:"partition,omitempty"`
		Offset    int64  `json:"offset,omitempty"` // or line
		Stage     string `json:"stage,omitempty"`
		Error     string `json:"error"`
		Field     string `json:"field,omitempty"`
		Code      string `json:"code,omitempty"`
	}
	// ArchiveEntry is a source file put away.
	ArchiveEntry struct {
		File  string `json:"file"`
		Mode  string `json:"mode"` // archive, delete
		To    string `json:"to,omitempty"`
		Error string `json:"error,omitempty"`
	}
	// CheckpointEntry is a position that was made durable.
	CheckpointEntry struct {
		Task      string `json:"task"`
		Source    string `json:"source,omitempty"`
		Partition int    `json:"partition,omitempty"`
		Position  string `json:"position"`
		Batch     int64  `json:"batch,omitempty"`
	}
	// ReplayEntry is what a replay did with one unit of its plan.
	ReplayEntry struct {
		Of       string       `json:"of"`
		Unit     string       `json:"unit"`
		Decision string       `json:"decision"` // REUSE, RUN, SKIP, BLOCKED
		Why      string       `json:"why,omitempty"`
		Snapshot *SnapshotRef `json:"snapshot,omitempty"`
	}
	// UnknownEntry is data of a kind that a newer version wrote.
	UnknownEntry struct {
		Of  LogKind
		Raw json.RawMessage
	}
)

// Counts are source records: Read is Committed + Erroneous + Skipped.
type Counts struct {
	Read      int64 `json:"read,omitempty"`
	Committed int64 `json:"committed,omitempty"`
	Erroneous int64 `json:"erroneous,omitempty"`
	Skipped   int64 `json:"skipped,omitempty"`
}

// Kind is the entry's kind.
func (StartedEntry) Kind() LogKind { return LogStarted }

// Kind is the entry's kind.
func (ProgressEntry) Kind() LogKind { return LogProgress }

// Kind is the entry's kind.
func (BatchResultEntry) Kind() LogKind { return LogBatchResult }

// Kind is the entry's kind.
func (TaskResultEntry) Kind() LogKind { return LogTaskResult }

// Kind is the entry's kind.
func (RecordErrorEntry) Kind() LogKind { return LogRecordError }

// Kind is the entry's kind.
func (ArchiveEntry) Kind() LogKind { return LogArchive }

// Kind is the entry's kind.
func (CheckpointEntry) Kind() LogKind { return LogCheckpoint }

// Kind is the entry's kind.
func (ReplayEntry) Kind() LogKind { return LogReplay }

// Kind is the kind that the newer version gave.
func (u UnknownEntry) Kind() LogKind { return u.Of }

// MarshalJSON gives the raw data.
func (u UnknownEntry) MarshalJSON() ([]byte, error) { return u.Raw, nil }

func (e StartedEntry) redacted(r Redactor) LogData {
	e.Source, e.Target = r.Text(e.Source), r.Text(e.Target)
	return e
}

func (e ProgressEntry) redacted(Redactor) LogData { return e }

func (e BatchResultEntry) redacted(r Redactor) LogData {
	e.Error = r.Text(e.Error)
	return e
}

func (e TaskResultEntry) redacted(r Redactor) LogData {
	e.Error = r.Text(e.Error)
	return e
}

func (e RecordErrorEntry) redacted(r Redactor) LogData {
	e.Source, e.Stage, e.Error = r.Text(e.Source), r.Text(e.Stage), r.Text(e.Error)
	return e
}

func (e ArchiveEntry) redacted(r Redactor) LogData {
	e.File, e.To, e.Error = r.Text(e.File), r.Text(e.To), r.Text(e.Error)
	return e
}

func (e CheckpointEntry) redacted(r Redactor) LogData {
	e.Source, e.Position = r.Text(e.Source), r.Text(e.Position)
	return e
}

func (e ReplayEntry) redacted(r Redactor) LogData {
	e.Unit, e.Why = r.Text(e.Unit), r.Text(e.Why)
	return e
}

func (u UnknownEntry) redacted(r Redactor) LogData {
	if r != nil {
		u.Raw = json.RawMessage(r.Text(string(u.Raw)))
	}
	return u
}

// Clean checks an entry and gives a redacted copy with the empty fields
// filled in.
func (e LogEntry) Clean(r Redactor, now time.Time) (LogEntry, error) {
	if e.Root == "" {
		e.Root = e.Execution
	}
	if e.Time.IsZero() {
		e.Time = now
	}
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	kind := LogLine
	if e.Data != nil {
		kind = e.Data.Kind()
		e.Data = e.Data.redacted(r)
	}
	if e.Kind == "" {
		e.Kind = kind
	}
	if e.Execution == "" || e.Kind != kind {
		return e, fmt.Errorf("log entry of kind %q with data of kind %q for execution %q: %w", e.Kind, kind, e.Execution, ErrBadName)
	}
	e.Text = r.Text(e.Text)
	return e, nil
}

// ParseLogData reads the data of an entry of this kind; nil for LogLine.
func ParseLogData(kind LogKind, data []byte) (LogData, error) {
	switch kind {
	case LogLine:
		return nil, nil
	case LogStarted:
		return parseData[StartedEntry](data)
	case LogProgress:
		return parseData[ProgressEntry](data)
	case LogBatchResult:
		return parseData[BatchResultEntry](data)
	case LogTaskResult:
		return parseData[TaskResultEntry](data)
	case LogRecordError:
		return parseData[RecordErrorEntry](data)
	case LogArchive:
		return parseData[ArchiveEntry](data)
	case LogCheckpoint:
		return parseData[CheckpointEntry](data)
	case LogReplay:
		return parseData[ReplayEntry](data)
	}
	return UnknownEntry{kind, data}, nil
}

func parseData[T LogData](data []byte) (LogData, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("log entry of kind %s: %w: %w", v.Kind(), ErrCorrupt, err)
	}
	return v, nil
}

// LogQuery filters a log. Zero fields do not filter. The oldest come first.
type LogQuery struct {
	Execution string // its own entries only
	Root      string // entries of the whole tree
	MinLevel  *LogLevel
	Kinds     []LogKind
	Node      string
	Search    string // part of the text, letter case ignored (A-Z)
	After     int64  // Seq of the last entry that is known; 0 is the start
	Limit     int    // 0 is DefaultPageSize, at most MaxPageSize
}

// LogPage is one page of a log. Next continues it, also later when entries
// were added; More tells whether there are some already.
type LogPage struct {
	Entries []LogEntry
	Next    int64
	More    bool
}

// Matches tells whether an entry is in the log asked for; After and Limit are
// the caller's business.
func (q *LogQuery) Matches(e *LogEntry) bool {
	kinds := len(q.Kinds) == 0
	for _, k := range q.Kinds {
		kinds = kinds || k == e.Kind
	}
	return kinds && (q.Execution == "" || q.Execution == e.Execution) &&
		(q.Root == "" || q.Root == e.Root) && (q.Node == "" || q.Node == e.Node) &&
		(q.MinLevel == nil || e.Level >= *q.MinLevel) && containsFold(e.Text, q.Search)
}
