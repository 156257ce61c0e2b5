package presenter

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/project/jsondoc"
)

// MetaRow is one row of a list in a draft.
type MetaRow struct {
	Cells []string
	from  int // where it stands in the file, from 1; 0 for a new one
}

// Rows lists the rows of a setting.
func (m *MetaDraft) Rows(f *MetaField) []MetaRow {
	if f.Kind == MetaOptions {
		if rows, ok := m.pending[f.Label]; ok {
			return slices.Clone(rows)
		}
		return m.optionRows(f)
	}
	_, v := m.at(f)
	var rows []MetaRow
	for i, item := range v.Items() {
		r := MetaRow{from: i + 1}
		for _, c := range f.Columns {
			cell := item
			if c.Key != "" {
				cell = item.Get(c.Key)
			}
			r.Cells = append(r.Cells, cell.Text())
		}
		rows = append(rows, r)
	}
	return rows
}

// NewRow makes an empty row of a setting.
func (f *MetaField) NewRow() MetaRow { return MetaRow{Cells: make([]string, len(f.Columns))} }

// SetRows puts rows in the place of those there are. What else a row of the file
// holds stays.
func (m *MetaDraft) SetRows(f *MetaField, rows []MetaRow) error {
	if f.Kind == MetaOptions {
		return m.setOptions(f, rows)
	}
	path, v := m.at(f)
	old := m.Rows(f)
	var parts [][]byte
	for _, r := range rows {
		raw, err := m.rowJSON(f, v, old, r)
		if err != nil {
			return err
		}
		parts = append(parts, raw)
	}
	same := len(rows) == len(old)
	for i, r := range rows {
		same = same && r.from == i+1
	}
	if !same {
		return m.set(joinJSON(parts), path)
	}
	for i, raw := range parts {
		doc, err := m.doc.Set(raw, append(slices.Clone(path), strconv.Itoa(i))...)
		if err != nil {
			return err
		}
		m.doc = doc
	}
	return nil
}

func joinJSON(parts [][]byte) []byte {
	if len(parts) == 0 {
		return []byte("[ ]")
	}
	return slices.Concat([]byte("[ "), bytes.Join(parts, []byte(", ")), []byte(" ]"))
}

func (m *MetaDraft) rowJSON(f *MetaField, list *jsondoc.Value, old []MetaRow, r MetaRow) ([]byte, error) {
	raw, was := []byte("{}"), make([]string, len(f.Columns))
	if r.from > 0 {
		raw, was = slices.Clone(m.doc.Raw(list.Items()[r.from-1])), old[r.from-1].Cells
	}
	if len(f.Columns) == 1 && f.Columns[0].Key == "" {
		if r.from > 0 && was[0] == r.Cells[0] {
			return raw, nil
		}
		return jsondoc.Quote(r.Cells[0]), nil
	}
	doc, err := jsondoc.Parse(m.Path, raw)
	if err != nil {
		return nil, err
	}
	for i, c := range f.Columns {
		if r.from > 0 && was[i] == r.Cells[i] {
			continue
		}
		cell := jsondoc.Quote(r.Cells[i])
		if c.Number && isNumber(r.Cells[i]) {
			cell = []byte(r.Cells[i])
		}
		if doc, err = doc.Set(cell, c.Key); err != nil {
			return nil, err
		}
	}
	return doc.Bytes(), nil
}

func rowProblem(rows []MetaRow) string {
	seen := map[string]int{}
	for i, r := range rows {
		name := r.Cells[0]
		if strings.TrimSpace(name) == "" {
			return fmt.Sprintf("Row %d has no name", i+1)
		}
		if first, twice := seen[name]; twice {
			return fmt.Sprintf("Rows %d and %d are both called %s; the later one counts", first, i+1, name)
		}
		seen[name] = i + 1
	}
	return ""
}
