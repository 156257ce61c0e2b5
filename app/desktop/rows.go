//go:build !headless

package desktop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/app/workspace"
)

// rowsPanel shows the rows of a preview, of a running transform or of a snapshot.
type rowsPanel struct {
	d      *Desktop
	folder func() string       // where exports go
	source presenter.RowSource // nil: none
	closed func()              // gives back what the source needs
	title  *words
	parts  *widget.Select // of a snapshot with more than one
	export *flat
	fields []presenter.Field
	grid   *grid
	all    fyne.CanvasObject
}

func newRowsPanel(d *Desktop, folder func() string, none string) *rowsPanel {
	r := &rowsPanel{d: d, folder: folder, title: d.caption(""), closed: func() {}}
	r.grid = newGrid(d, nil, r.count, r.cell)
	r.grid.onRow = r.detail
	r.parts = widget.NewSelect(nil, nil)
	r.parts.Hide()
	r.export = d.flat("export", "Export to CSV…", "All rows, to a file", r.askExport)
	head := container.NewBorder(nil, nil, nil, container.NewHBox(container.NewCenter(sized(r.parts, 150, 28)), r.export), inset(r.title, 0, 8, 0, 8))
	body := container.NewBorder(head, nil, nil, nil, r.grid.all)
	r.all = container.NewStack(body, emptyNote(d, "preview", "No rows", none))
	body.Hide()
	return r
}

func (r *rowsPanel) count() int {
	if r.source == nil {
		return 0
	}
	return r.source.Len()
}

func (r *rowsPanel) cell(row, c int) gridCell {
	if c == 0 {
		return gridCell{text: presenter.Grouped(int64(row + 1)), ink: inkSoft}
	}
	if r.source == nil {
		return gridCell{}
	}
	values := r.source.Row(row)
	if c-1 >= len(values) {
		return gridCell{}
	}
	x := values[c-1]
	if x.Null {
		return gridCell{text: "null", ink: inkOff}
	}
	return gridCell{text: strings.ReplaceAll(x.Text, "\n", " ⏎ ")}
}

// detail shows all values of a row in full.
func (r *rowsPanel) detail(row int) {
	if row >= r.count() {
		return
	}
	g := newGrid(r.d, []gridColumn{{"Field", 200, false, 0}, {"Type", 90, false, 0}, {"Value", 300, false, 1}}, func() int { return len(r.fields) }, func(k, c int) gridCell {
		if c == 2 {
			return r.cell(row, k+1)
		}
		return gridCell{text: []string{r.fields[k].Name, r.fields[k].Type}[c], ink: []ink{inkText, inkSoft}[c]}
	})
	var dl *dialog
	dl = r.d.dialog(fmt.Sprintf("Row %s", presenter.Grouped(int64(row+1))), "", g.all, fyne.NewSize(840, 480), nil, button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}

// show shows rows, and those that come to them. closed, which may be nil, is called
// when others take their place.
func (r *rowsPanel) show(rows presenter.RowSource, closed func()) {
	if r.source != rows {
		r.clear()
		r.source, r.closed = rows, closed
		if closed == nil {
			r.closed = func() {}
		}
	}
	r.update()
}

// clear gives the rows back.
func (r *rowsPanel) clear() {
	if r.source == nil {
		return
	}
	r.source.Close()
	r.closed()
	r.source, r.closed = nil, func() {}
	r.parts.Hide()
}

// update shows the rows as they are by now.
func (r *rowsPanel) update() {
	if r.source == nil {
		return
	}
	r.title.Set(r.source.Caption(), nil)
	fields := r.source.Fields()
	if len(fields) != len(r.fields) || !slices.Equal(fields, r.fields) {
		r.fields = fields
		columns := []gridColumn{{"#", 72, true, 0}}
		for _, f := range fields {
			width := fyne.MeasureText(f.Name, captionSize, fyne.TextStyle{Bold: true}).Width + 24
			right := f.Type == "Integer" || f.Type == "Number" || f.Type == "BigNumber"
			columns = append(columns, gridColumn{f.Name, min(max(width, 110), 240), right, 0})
		}
		r.grid.setColumns(columns)
	}
	reveal(r.all, true)
	r.grid.refresh()
}

// askExport asks where the rows go.
func (r *rowsPanel) askExport() {
	rows, d := r.source, r.d
	if rows == nil {
		return
	}
	name, _, _ := strings.Cut(rows.Caption(), ":")
	name = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), " ", "-")) + ".csv"
	d.choose(chooserOptions{title: "Export rows", ok: "Export", folder: r.folder(), name: name, save: true, show: func(name string) bool { return filepath.Ext(name) == ".csv" }}, func(path string) {
		d.mayReplace(path, func() { r.exportTo(rows, path) })
	})
}

func (r *rowsPanel) exportTo(rows presenter.RowSource, path string) {
	d := r.d
	d.frame.note("Exporting to " + path + " …")
	background(d, func() (int64, error) { return rows.ExportCSV(context.Background(), path) }, func(n int64, err error) {
		if err != nil {
			d.fail("Export rows", err)
			return
		}
		d.frame.note(presenter.Plural(n, "row") + " exported to " + path)
		d.event("exported %d rows", n)
	})
}

// mayReplace asks before a file is written over.
func (d *Desktop) mayReplace(path string, do func()) {
	background(d, func() (bool, error) {
		_, err := os.Stat(path)
		return err == nil, nil
	}, func(there bool, _ error) {
		if !there {
			do()
			return
		}
		d.ask("Replace "+filepath.Base(path)+"?", "There is a file of this name in "+filepath.Dir(path)+".", answer{"Cancel", false, nil}, answer{"Replace", true, do})
	})
}

// openSnapshot opens a snapshot and shows its rows; then brings the panel to the
// front.
func (r *rowsPanel) openSnapshot(open func(*presenter.Log, string) (*workspace.Workspace, error), v presenter.GateView, then func()) {
	background(r.d, func() (*presenter.SnapshotSource, error) {
		ws, err := open(nil, "")
		if err != nil {
			return nil, err
		}
		return presenter.OpenSnapshot(context.Background(), ws, v)
	}, func(src *presenter.SnapshotSource, err error) {
		if err != nil {
			r.d.fail("Show the rows of "+v.Node, err)
			return
		}
		then()
		r.showSnapshot(src, src.First)
	})
}

// showSnapshot loads the rows of one part of a snapshot; others can be chosen.
func (r *rowsPanel) showSnapshot(src *presenter.SnapshotSource, part int) {
	rows := src.Rows(part)
	ctx, cancel := context.WithCancel(context.Background())
	r.show(rows, func() {
		cancel()
		r.d.spawn(func() { _ = src.Close() }) // it was only read
	})
	r.parts.OnChanged = nil
	r.parts.SetOptions(src.Parts)
	r.parts.SetSelectedIndex(part)
	r.parts.OnChanged = func(string) {
		if i := r.parts.SelectedIndex(); i >= 0 && i != part {
			r.closed = cancel // the source stays open
			r.showSnapshot(src, i)
		}
	}
	setVisible(r.parts, src.Several())
	done := make(chan struct{})
	loaded := func() {
		if r.source == presenter.RowSource(rows) {
			r.update()
		}
	}
	r.d.spawn(func() {
		rows.Load(ctx)
		close(done)
		r.d.post(loaded)
	})
	r.d.spawn(func() { r.d.ticking(done, loaded) })
}
