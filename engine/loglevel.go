package engine

import (
	"fmt"
	"log/slog"
	"strings"
)

// The levels of the execution log. Hop's Basic is slog's Info; the finer ones lie
// below it.
const (
	LevelNothing  = slog.Level(100) // as a filter: no line at all
	LevelError    = slog.LevelError
	LevelMinimal  = slog.Level(2)
	LevelBasic    = slog.LevelInfo
	LevelDetailed = slog.Level(-2)
	LevelDebug    = slog.LevelDebug
	LevelRow      = slog.Level(-8)
)

var logLevels = []struct {
	name  string
	level slog.Level
}{
	{"Nothing", LevelNothing},
	{"Error", LevelError},
	{"Minimal", LevelMinimal},
	{"Basic", LevelBasic},
	{"Detailed", LevelDetailed},
	{"Debug", LevelDebug},
	{"Rowlevel", LevelRow},
}

// ParseLogLevel reads Hop's level codes, in any case, also with the old prefix
// "log_level_". The error lists the codes.
func ParseLogLevel(code string) (slog.Level, error) {
	name := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(code)), "log_level_")
	var codes []string
	for _, l := range logLevels {
		if strings.EqualFold(l.name, name) {
			return l.level, nil
		}
		codes = append(codes, strings.ToLower(l.name))
	}
	return LevelBasic, fmt.Errorf("log level %q is not known; use one of %s", code, strings.Join(codes, ", "))
}

// LogLevelName gives Hop's code of a level.
func LogLevelName(level slog.Level) string {
	for _, l := range logLevels {
		if level >= l.level {
			return l.name
		}
	}
	return "Rowlevel"
}
