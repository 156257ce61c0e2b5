//go:build !headless

package desktop

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2"

	"sluice/app/presenter"
	"sluice/canvas/scene"
)

// manyRows is a source of rows that are made up as they are looked at.
type manyRows struct {
	presenter.RowSource // nobody exports them
	n                   int
}

func (manyRows) Caption() string { return "Many rows" }
func (manyRows) Fields() []presenter.Field {
	return []presenter.Field{{Name: "number", Type: "Integer"}, {Name: "text", Type: "String"}}
}
func (m manyRows) Len() int { return m.n }
func (manyRows) Row(i int) []presenter.Cell {
	return []presenter.Cell{{Text: fmt.Sprint(i)}, {Text: fmt.Sprintf("text of row %d", i)}}
}
func (manyRows) Close() {}

// draw300 opens a file with 300 transforms.
func (s *shown) draw300(t *testing.T) *editor {
	t.Helper()
	s.newFile(false)
	e := s.current
	for i := range 300 {
		if _, err := e.file.Place(presenter.Placed{Type: "Dummy", At: scene.Point{X: float64(100 + i%20*160), Y: float64(100 + i/20*112)}}); err != nil {
			t.Fatal(err)
		}
	}
	e.changed()
	return e
}

func TestTheDesignerNeedsFewObjects(t *testing.T) {
	s := show(t, false)
	e := s.draw300(t)
	e.setBottom(true)
	e.bottom.choose(3)
	e.rows.show(manyRows{n: 1_000_000}, nil)
	for _, size := range []fyne.Size{fyne.NewSize(1440, 900), fyne.NewSize(1024, 700), fyne.NewSize(2560, 1440)} {
		s.win.Resize(size)
		s.draw()
		e.rows.grid.table.ScrollToBottom()
		s.draw()
		n := objects(s.win.Content())
		t.Logf("%v: %d objects", size, n)
		if n > 2000 {
			t.Errorf("%d objects with 300 nodes and 1,000,000 rows at %v", n, size)
		}
	}
	if e.rows.count() != 1_000_000 {
		t.Errorf("%d rows are shown", e.rows.count())
	}
}

func TestATickThatBringsNothingPaintsNothing(t *testing.T) {
	s := show(t, false)
	e := s.sample(t)
	s.draw()
	e.run(e.options, plainRun, nil)
	s.draw()
	before := e.graph.Pictures()
	for range 3 {
		e.tickOnce(nil)
		s.draw()
	}
	if n := e.graph.Pictures() - before; n != 0 {
		t.Errorf("%d pictures were painted although nothing changed", n)
	}
}
