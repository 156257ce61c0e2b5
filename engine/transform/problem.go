package transform

import "fmt"

// Severity orders problems.
type Severity int

// The severities: an Err stops a run before it starts.
const (
	Note Severity = iota
	Warning
	Err
)

// String gives note, warning or error.
func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// Problem is one finding about a transform's settings or wiring.
type Problem struct {
	Severity Severity
	Setting  string // path of the setting ("fields>field[2]>name"), empty for the whole transform
	Message  string
	Hint     string
}

// Errorf gives a problem that stops a run.
func Errorf(setting, format string, args ...any) Problem {
	return Problem{Severity: Err, Setting: setting, Message: fmt.Sprintf(format, args...)}
}

// Warnf gives a problem that does not stop a run.
func Warnf(setting, format string, args ...any) Problem {
	return Problem{Severity: Warning, Setting: setting, Message: fmt.Sprintf(format, args...)}
}
