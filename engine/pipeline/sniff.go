package pipeline

import (
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// sniffing is who looks at the rows of a transform while it runs.
type sniffing struct {
	name string // lower case
	take func(copy int, port transform.Port, b *batch.Batch)
}

// Sniff shows take every batch that a transform emits from now on, instead of what
// was shown before; nil ends it. The batch is borrowed; take is called from many
// goroutines. It costs the running execution nothing else, so sources go on leaving
// out the fields that Unread names.
func (e *Execution) Sniff(name string, take func(copy int, port transform.Port, b *batch.Batch)) {
	if take == nil {
		e.sniffed.Store(nil)
		return
	}
	e.sniffed.Store(&sniffing{strings.ToLower(name), take})
}

// Unread names the fields of a transform's main output that sources may have left
// out, because nothing needs them.
func (e *Execution) Unread(name string) []string {
	for _, u := range e.units {
		if !strings.EqualFold(u.node.Name, name) {
			continue
		}
		s := u.schemas[transform.Main]
		if s == nil || e.opts.Sample != nil || !u.prunedAbove() {
			return nil
		}
		var unread []string
		wanted := e.wantedFrom(u, map[*unit][]bool{})
		for i, f := range s.Fields {
			if i < len(wanted) && !wanted[i] {
				unread = append(unread, f.Name)
			}
		}
		return unread
	}
	return nil
}

// prunedAbove says whether fields may have been left out by the unit, or one whose
// rows it gets.
func (u *unit) prunedAbove() bool {
	if _, ok := u.proc.(transform.Pruner); ok {
		return true
	}
	for _, in := range u.in {
		if in.from.prunedAbove() {
			return true
		}
	}
	return false
}

// sniff shows a batch to who looks at its transform.
func (e *Execution) sniff(u *unit, port transform.Port, b *batch.Batch) {
	if s := e.sniffed.Load(); s != nil && strings.EqualFold(s.name, u.node.Name) {
		s.take(u.copy, port, b)
	}
}
