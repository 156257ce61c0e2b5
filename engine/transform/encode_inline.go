package transform

import (
	"slices"

	"sluice/engine/hopxml"
)

// inline brings a table whose columns repeat inside one element to other rows.
func (c *encoder) inline(at spot, old, changed *Entry) {
	s := changed.Setting
	t := &inlineTable{setting: s, parent: at, from: align(old.Rows, changed.Rows, false), rows: changed.Rows}
	items := itemElements(at.el, s)
	count := 0
	for _, item := range items {
		for n := range inlineRows(s, item) {
			t.cells = append(t.cells, cellRow{item.ID(), n})
			count++
		}
	}
	if count != len(old.Rows) {
		c.fail("%s has %d rows in the file and %d in the settings", s.Key(), count, len(old.Rows))
		return
	}
	if len(items) > 0 {
		t.item = items[len(items)-1].ID()
	}
	t.old = old.Rows
	c.edits = append(c.edits, t.edit)
}

func inlineRows(s *Setting, item *hopxml.Element) int {
	rows := 0
	for i := range s.Items {
		rows = max(rows, len(item.All(s.Items[i].Path[0])))
	}
	return rows
}

// cellRow is a row of an inline table: the n-th element of each name in item.
type cellRow struct {
	item hopxml.ID
	n    int
}

type inlineTable struct {
	setting   *Setting
	parent    spot
	item      hopxml.ID // that takes rows added at the end; 0 when there is none
	cells     []cellRow
	from      []int
	old, rows [][]Entry
}

func (t *inlineTable) edit(d *hopxml.Document) (*hopxml.Document, error) {
	var err error
	for n, k := range t.from {
		if k < 0 {
			continue
		}
		for i := range t.rows[n] {
			if t.old[k][i].Text != t.rows[n][i].Text {
				if d, err = t.setCell(d, t.cells[k], i, t.rows[n][i].Text); err != nil {
					return nil, err
				}
			}
		}
	}
	if inPlace(t.from, len(t.cells)) {
		return d, nil
	}
	if d, err = t.removeRows(d); err != nil {
		return nil, err
	}
	return t.addRows(d)
}

// column lists the elements of a column under the name found.
func (t *inlineTable) column(item *hopxml.Element, i int) []*hopxml.Element {
	c := &t.setting.Items[i]
	all := item.All(c.Path[0])
	for a := 0; len(all) == 0 && a < len(c.Aliases); a++ {
		all = item.All(c.Aliases[a][0])
	}
	return all
}

// fill adds elements with the default until the column has n of them: rows are
// told apart by counting.
func (t *inlineTable) fill(d *hopxml.Document, item hopxml.ID, i, n int) (*hopxml.Document, error) {
	c := &t.setting.Items[i]
	blank := t.setting.NewRow()[i].Text
	for {
		all := t.column(d.Element(item), i)
		if len(all) >= n {
			return d, nil
		}
		place, name := hopxml.AtEnd(), c.Path[0]
		if len(all) > 0 {
			place, name = hopxml.After(all[len(all)-1].ID()), all[0].Name()
		}
		next, err := hopxml.Insert(item, place, hopxml.Leaf(name, fileText(c, blank)))(d)
		if err != nil {
			return nil, err
		}
		d = next
	}
}

func (t *inlineTable) setCell(d *hopxml.Document, at cellRow, i int, text string) (*hopxml.Document, error) {
	d, err := t.fill(d, at.item, i, at.n+1)
	if err != nil {
		return nil, err
	}
	cell := t.column(d.Element(at.item), i)[at.n]
	return hopxml.SetText(cell.ID(), fileText(&t.setting.Items[i], text))(d)
}

// removeRows takes out the rows that no new row stands for, from the last on.
func (t *inlineTable) removeRows(d *hopxml.Document) (*hopxml.Document, error) {
	kept := map[int]bool{}
	for _, k := range t.from {
		kept[k] = true
	}
	for k, v := range slices.Backward(t.cells) {
		if kept[k] {
			continue
		}
		at := v
		for i := range t.setting.Items {
			all := t.column(d.Element(at.item), i)
			if at.n >= len(all) {
				continue
			}
			next, err := hopxml.Remove(all[at.n].ID())(d)
			if err != nil {
				return nil, err
			}
			d = next
		}
	}
	return d, nil
}

// addRows puts in the new rows, each behind the row before it.
func (t *inlineTable) addRows(d *hopxml.Document) (*hopxml.Document, error) {
	last := cellRow{item: t.item, n: -1}
	if len(t.cells) > 0 {
		last.item = t.cells[0].item
	}
	for n, k := range t.from {
		if k >= 0 {
			if t.cells[k].item != last.item {
				last = cellRow{t.cells[k].item, -1}
			}
			last.n++
			continue
		}
		var err error
		if last.item == 0 {
			names := append(append([]string(nil), t.parent.names...), t.setting.Path...)
			if d, last.item, err = ensurePath(d, t.parent.owner, names); err != nil {
				return nil, err
			}
		}
		if d, err = t.addRow(d, last, t.rows[n]); err != nil {
			return nil, err
		}
		last.n++
	}
	return d, nil
}

// addRow puts a row behind another; n -1 is in front of all.
func (t *inlineTable) addRow(d *hopxml.Document, behind cellRow, row []Entry) (*hopxml.Document, error) {
	var before hopxml.ID // what the cells so far stand behind
	for i := range t.setting.Items {
		next, err := t.fill(d, behind.item, i, behind.n+1)
		if err != nil {
			return nil, err
		}
		d = next
		if all := t.column(d.Element(behind.item), i); behind.n >= 0 {
			before = all[behind.n].ID()
		}
	}
	for i := range t.setting.Items {
		all := t.column(d.Element(behind.item), i)
		name := t.setting.Items[i].Path[0]
		if len(all) > 0 {
			name = all[0].Name()
		}
		place := hopxml.AtEnd()
		switch {
		case before != 0:
			place = hopxml.After(before)
		case len(d.Element(behind.item).Elements()) > 0:
			place = hopxml.Before(d.Element(behind.item).Elements()[0].ID())
		}
		next, err := hopxml.Insert(behind.item, place, hopxml.Leaf(name, fileText(row[i].Setting, row[i].Text)))(d)
		if err != nil {
			return nil, err
		}
		d = next
		before = t.column(d.Element(behind.item), i)[behind.n+1].ID()
	}
	return d, nil
}
