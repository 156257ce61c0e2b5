package presenter

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine/gate"
	"sluice/engine/project"
)

// GateOf gives the gate at a node, nil when it is none. The error is for marks that
// cannot be trusted.
func (f *File) GateOf(node string) (*gate.Gate, error) {
	marks, err := gate.ReadMarks(f.doc)
	if err != nil {
		return nil, err
	}
	return marks.Gate(node), marks.Err()
}

// MarkGate makes a gate of a node, or changes the settings of the one it is: only
// those that differ are written, an empty value takes one away.
func (f *File) MarkGate(node string, settings map[string]string) error {
	g, err := f.GateOf(node)
	if err != nil {
		return err
	}
	label, changed := "Mark as replay gate", map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		was := ""
		if g != nil {
			was = g.Settings[k]
		}
		if settings[k] != was {
			changed[k] = settings[k]
		}
	}
	if g != nil {
		if len(changed) == 0 {
			return nil
		}
		label = "Change replay gate"
	}
	return f.Do(label, gate.Mark(node, changed, nil))
}

// UnmarkGate takes the gate from a node.
func (f *File) UnmarkGate(node string) error { return f.Do("Remove replay gate", gate.Unmark(node)) }

// IsGate tells whether a node has a gate mark.
func (f *File) IsGate(node string) bool { return f.view.gates[lower(node)] }

// HasCaches tells whether the output of a transform is cached for development.
func (f *File) HasCaches() bool { return len(f.view.caches) > 0 }

// HasMarks tells whether there are gates or cached outputs.
func (f *File) HasMarks() bool { return len(f.view.gates) > 0 || f.HasCaches() }

// CacheOf gives the most rows that the mark of a cached output keeps of each part, 0
// for all; ok is false where nothing is cached.
func (f *File) CacheOf(node string) (rows int64, ok bool) {
	marks, err := gate.ReadCacheMarks(f.doc)
	if err != nil {
		return 0, false
	}
	m := marks.Gate(node)
	if m == nil {
		return 0, false
	}
	rows, _ = project.ParseLong(m.Settings[gate.KeyCacheRows]) // "all" is 0
	return rows, true
}

// MarkCache asks for the output of a transform to be cached for development, so
// many rows of each part at most; 0 caches all.
func (f *File) MarkCache(node string, rows int64) error {
	return f.Do("Cache output of "+node, gate.MarkCache(node, rows, nil))
}

// UnmarkCache takes the mark away. What is cached stays until it is cleared.
func (f *File) UnmarkCache(node string) error {
	return f.Do("Stop caching "+node, gate.UnmarkCache(node))
}

// CheckGate tells what is wrong with settings of a gate, as far as no variable is in
// them; "" when they will do.
func CheckGate(node string, settings map[string]string) string {
	trial := &gate.Gate{Node: node, ID: "000000000000", Settings: map[string]string{}}
	for k, v := range settings {
		if strings.TrimSpace(v) != "" && !strings.ContainsAny(v, "$%#") {
			trial.Settings[k] = v
		}
	}
	if _, err := trial.Resolve(asWritten{}); err != nil {
		p := problemOf(err)
		if p.Hint != "" {
			return fmt.Sprintf("%s (%s)", p.Message, p.Hint)
		}
		return p.Message
	}
	return ""
}

// asWritten resolves nothing.
type asWritten struct{}

// Resolve implements transform.Resolver.
func (asWritten) Resolve(text string) (string, error) { return text, nil }
