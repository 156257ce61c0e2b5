package presenter

import (
	"slices"
	"strings"

	"sluice/engine/project/jsondoc"
)

// Options of a driver are members of an object whose keys begin with a prefix that
// names the variant: EXTRA_OPTION_MYSQL.useSSL.

// optionPrefix is what the keys of the options of today's variant begin with.
func (m *MetaDraft) optionPrefix(f *MetaField) string {
	return strings.ReplaceAll(f.Prefix, "*", m.Variant())
}

func (m *MetaDraft) optionRows(f *MetaField) []MetaRow {
	_, v := m.at(f)
	prefix := m.optionPrefix(f)
	var rows []MetaRow
	for _, member := range v.Members() {
		if name, ok := strings.CutPrefix(member.Key, prefix); ok {
			rows = append(rows, MetaRow{Cells: []string{name, member.Value.Text()}, from: len(rows) + 1})
		}
	}
	return rows
}

// setOptions puts options in the place of those there are. Rows that cannot stand
// in the file, without a name or with the same one, wait in the draft until they
// can: nothing is lost while a name is typed.
func (m *MetaDraft) setOptions(f *MetaField, rows []MetaRow) error {
	if rowProblem(rows) != "" {
		if m.pending == nil {
			m.pending = map[string][]MetaRow{}
		}
		m.pending[f.Label] = slices.Clone(rows)
		return nil
	}
	path, _ := m.at(f)
	old, prefix := m.optionRows(f), m.optionPrefix(f)
	keep := map[string]bool{}
	for _, r := range rows {
		keep[r.Cells[0]] = true
	}
	doc, err := m.doc, error(nil)
	for _, r := range old {
		if keep[r.Cells[0]] {
			continue
		}
		if doc, err = doc.Delete(append(slices.Clone(path), prefix+r.Cells[0])...); err != nil {
			return err
		}
	}
	before := m.doc
	m.doc = doc
	for _, r := range rows {
		if slices.ContainsFunc(old, func(o MetaRow) bool { return slices.Equal(o.Cells, r.Cells) }) {
			continue
		}
		if err := m.set(jsondoc.Quote(r.Cells[1]), append(slices.Clone(path), prefix+r.Cells[0])); err != nil {
			m.doc = before
			return err
		}
	}
	delete(m.pending, f.Label)
	return nil
}
