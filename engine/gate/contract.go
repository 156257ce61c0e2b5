package gate

import (
	"fmt"
	"strings"
	"time"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// Contract is what a whole extraction must satisfy. It is checked on all ports
// but the error port, before the seal, and again before a replay.
type Contract struct {
	MinRows, MaxRows int64 // -1: no bound
	Fields           []ContractField
	NotNull, Unique  []string
	MaxAge           time.Duration // 0: no bound
}

// ContractField is a field that must be there; Type None asks for no type.
type ContractField struct {
	Name string
	Type batch.Type
}

// violation is why rows must not be sealed; it is data's fault, not a machine's.
type violation struct{ text string }

func (v *violation) Error() string { return "contract: " + v.text }

func violated(format string, args ...any) error { return &violation{fmt.Sprintf(format, args...)} }

// CheckSchema tells which required field a schema lacks.
func (c *Contract) CheckSchema(s *batch.Schema) error {
	for _, f := range c.Fields {
		i := s.Index(f.Name)
		if i < 0 {
			return violated("field %q is required and missing; the rows have %s", f.Name, strings.Join(s.Names(), ", "))
		}
		if f.Type != batch.None && s.Fields[i].Type != f.Type {
			return violated("field %q must be %s and is %s", f.Name, f.Type, s.Fields[i].Type)
		}
	}
	for _, list := range [][]string{c.NotNull, c.Unique} {
		for _, name := range list {
			if s.Index(name) < 0 {
				return violated("field %q is named in the contract and missing; the rows have %s", name, strings.Join(s.Names(), ", "))
			}
		}
	}
	return nil
}

// CheckRows tells whether the number of rows is within its bounds.
func (c *Contract) CheckRows(rows int64) error {
	if c.MinRows >= 0 && rows < c.MinRows {
		return violated("%d rows, at least %d are required", rows, c.MinRows)
	}
	if c.MaxRows >= 0 && rows > c.MaxRows {
		return violated("%d rows, at most %d are allowed", rows, c.MaxRows)
	}
	return nil
}

// governs says whether rows of a port are part of the contract.
func governs(port transform.Port) bool { return port != transform.Error }

// watch checks the rows of one part as they pass.
type watch struct {
	contract *Contract
	notNull  []int
	unique   []int
	keys     *uniqueKeys // shared by the parts
	scratch  []byte
}

func (c *Contract) watch(s *batch.Schema, keys *uniqueKeys) *watch {
	w := &watch{contract: c, keys: keys}
	for _, name := range c.NotNull {
		w.notNull = append(w.notNull, s.Index(name))
	}
	for _, name := range c.Unique {
		w.unique = append(w.unique, s.Index(name))
	}
	return w
}

// add checks the selected rows of b; first is the number of the first one in its
// part, from 1.
func (w *watch) add(b *batch.Batch, first int64) error {
	for _, k := range w.notNull {
		if b.Cols[k].Nulls() == 0 {
			continue
		}
		n := first
		for i := range b.All() {
			if b.Cols[k].IsNull(i) {
				return violated("field %q is null in row %d", b.Schema.Fields[k].Name, n)
			}
			n++
		}
	}
	if len(w.unique) == 0 {
		return nil
	}
	for i := range b.All() {
		w.scratch = w.scratch[:0]
		for _, k := range w.unique {
			w.scratch = appendValue(w.scratch, b.Cols[k], i)
		}
		if err := w.keys.add(w.scratch); err != nil {
			return err
		}
	}
	return nil
}
