package transform

import (
	"fmt"

	"sluice/engine/hopxml"
)

// table brings the repeated elements of a table or list to other rows.
func (c *encoder) table(at spot, old, changed *Entry) {
	s := changed.Setting
	items := itemElements(at.el, s)
	if len(items) != len(old.Rows) {
		c.fail("%s has %d rows in the file and %d in the settings", s.Key(), len(items), len(old.Rows))
		return
	}
	from := align(old.Rows, changed.Rows, true)
	for n, k := range from {
		switch {
		case k < 0 || EqualEntries(old.Rows[k], changed.Rows[n]):
		case s.Kind == KindList:
			c.edits = append(c.edits, hopxml.SetText(items[k].ID(), changed.Rows[n][0].Text))
		default:
			c.entries(spot{el: items[k], owner: items[k].ID()}, old.Rows[k], changed.Rows[n])
		}
	}
	if inPlace(from, len(items)) {
		return
	}
	r := rowOrder{parent: at, path: s.Path[:len(s.Path)-1], name: s.Path[len(s.Path)-1], from: from}
	for _, item := range items {
		r.items = append(r.items, item.ID())
	}
	if holder, name := itemHolder(at.el, s); holder != nil {
		r.parent, r.path, r.name = spot{el: holder, owner: holder.ID()}, nil, name
	}
	for n, k := range from {
		if k < 0 {
			r.drafts = append(r.drafts, rowDraft(s, r.name, changed.Rows[n]))
		} else {
			r.drafts = append(r.drafts, hopxml.Draft{})
		}
	}
	c.edits = append(c.edits, r.edit)
}

func (c *encoder) fail(format string, args ...any) {
	err := fmt.Errorf("write settings: "+format+": %w", append(args, hopxml.ErrInvalid)...)
	c.edits = append(c.edits, func(*hopxml.Document) (*hopxml.Document, error) { return nil, err })
}

// itemHolder finds the element that holds the rows of a table, and how they are
// called there: where there are rows, else where the wrapper is.
func itemHolder(el *hopxml.Element, s *Setting) (*hopxml.Element, string) {
	var empty *hopxml.Element
	name := s.Path[len(s.Path)-1]
	for i, path := range append([][]string{s.Path}, s.Aliases...) {
		last := len(path) - 1
		holder := descend(el, path[:last])
		if holder == nil {
			continue
		}
		if items := holder.All(path[last]); len(items) > 0 {
			return holder, items[0].Name()
		}
		if empty == nil && (last > 0 || i == 0) {
			empty, name = holder, path[last]
		}
	}
	return empty, name
}

// rowOrder puts the elements of a table into a new order.
type rowOrder struct {
	parent spot
	path   []string // from parent to what holds the rows
	name   string
	items  []hopxml.ID
	from   []int // per new row: the old one, or -1
	drafts []hopxml.Draft
}

func (r *rowOrder) edit(d *hopxml.Document) (*hopxml.Document, error) {
	d, holder, err := ensurePath(d, r.parent.owner, append(append([]string(nil), r.parent.names...), r.path...))
	if err != nil {
		return nil, err
	}
	kept := map[int]bool{}
	for _, k := range r.from {
		kept[k] = true
	}
	for k, id := range r.items {
		if kept[k] {
			continue
		}
		if d, err = hopxml.Remove(id)(d); err != nil {
			return nil, err
		}
	}
	for n, k := range r.from {
		now := d.Element(holder).All(r.name)
		place := hopxml.Canonical()
		switch {
		case n > 0:
			place = hopxml.After(now[n-1].ID())
		case len(now) > 0:
			place = hopxml.Before(now[0].ID())
		}
		switch {
		case k < 0:
			d, err = hopxml.Insert(holder, place, r.drafts[n])(d)
		case now[n].ID() != r.items[k]:
			d, err = hopxml.Move(r.items[k], holder, place)(d)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// ensurePath finds the element that names lead to and adds what is missing.
func ensurePath(d *hopxml.Document, owner hopxml.ID, names []string) (*hopxml.Document, hopxml.ID, error) {
	for _, name := range names {
		if d.Element(owner).Child(name) == nil {
			next, err := hopxml.Insert(owner, hopxml.Canonical(), hopxml.Branch(name))(d)
			if err != nil {
				return nil, 0, err
			}
			d = next
		}
		owner = d.Element(owner).Child(name).ID()
	}
	return d, owner, nil
}

// inPlace tells whether the rows are the old ones in their order.
func inPlace(from []int, rows int) bool {
	if len(from) != rows {
		return false
	}
	for n, k := range from {
		if n != k {
			return false
		}
	}
	return true
}

// align finds for each new row the old row it stands for: the same one where rows
// are equal, in order as far as possible; with moves an equal row elsewhere; else a
// changed row in the same gap. -1 is a new row.
func align(old, changed [][]Entry, moves bool) []int {
	from := make([]int, len(changed))
	for i := range from {
		from[i] = -1
	}
	used := make([]bool, len(old))
	take := func(n, k int) { from[n], used[k] = k, true }
	lo := 0
	for lo < len(old) && lo < len(changed) && EqualEntries(old[lo], changed[lo]) {
		take(lo, lo)
		lo++
	}
	ho, hn := len(old), len(changed)
	for ho > lo && hn > lo && EqualEntries(old[ho-1], changed[hn-1]) {
		ho, hn = ho-1, hn-1
		take(hn, ho)
	}
	for _, p := range commonRows(old[lo:ho], changed[lo:hn]) {
		take(lo+p[1], lo+p[0])
	}
	if moves {
		for n := lo; n < hn; n++ {
			for k := lo; k < ho && from[n] < 0; k++ {
				if !used[k] && EqualEntries(old[k], changed[n]) {
					take(n, k)
				}
			}
		}
	}
	pairGaps(from, used, take)
	return from
}

// pairGaps gives the rows that are left, between the same neighbours, to each
// other in order.
func pairGaps(from []int, used []bool, take func(n, k int)) {
	k := 0
	for n := range from {
		if from[n] >= 0 {
			if from[n] >= k {
				k = from[n] + 1
			}
			continue
		}
		if k < len(used) && !used[k] {
			take(n, k)
			k++
		}
	}
}

// maxAligned bounds the table of commonRows.
const maxAligned = 1 << 20

// commonRows gives pairs of equal rows, rising in both lists, as many as there can
// be; none for very long lists.
func commonRows(old, changed [][]Entry) [][2]int {
	rows, cols := len(old), len(changed)
	if rows == 0 || cols == 0 || rows*cols > maxAligned {
		return nil
	}
	best := make([][]int, rows+1)
	for i := range best {
		best[i] = make([]int, cols+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for k := cols - 1; k >= 0; k-- {
			if EqualEntries(old[i], changed[k]) {
				best[i][k] = best[i+1][k+1] + 1
			} else {
				best[i][k] = max(best[i+1][k], best[i][k+1])
			}
		}
	}
	var pairs [][2]int
	for i, k := 0, 0; i < rows && k < cols; {
		switch {
		case EqualEntries(old[i], changed[k]):
			pairs = append(pairs, [2]int{i, k})
			i, k = i+1, k+1
		case best[i+1][k] >= best[i][k+1]:
			i++
		default:
			k++
		}
	}
	return pairs
}
