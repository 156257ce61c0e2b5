//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/batch"
	"sluice/engine/expr"
)

// conditionEditor edits a condition as groups of comparisons.
type conditionEditor struct {
	v    *formView
	root *expr.Condition // always a group
	rows *fyne.Container
	text *words
	all  fyne.CanvasObject
}

func newConditionEditor(v *formView) *conditionEditor {
	c := &conditionEditor{v: v, root: presenter.AsGroup(v.form.Condition), rows: container.New(layout.NewCustomPaddedVBoxLayout(4)), text: v.e.d.words("", 12, inkSoft)}
	c.text.style.Monospace = true
	c.all = container.NewVBox(v.e.d.bold("Condition", textSize), v.e.d.outlined(inset(container.New(layout.NewCustomPaddedVBoxLayout(8), c.rows, c.text), 8, 8, 8, 8)))
	c.fill()
	return c
}

// changed takes the tree over into the form. An untouched condition stays as the
// file has it.
func (c *conditionEditor) changed() {
	c.v.form.Condition = presenter.Simplified(c.root)
	c.text.Set(presenter.ConditionText(c.v.form.Condition), nil)
	c.v.check()
}

func (c *conditionEditor) fill() {
	c.rows.Objects = nil
	c.group(c.root, nil, 0)
	c.text.Set(presenter.ConditionText(presenter.Simplified(c.root)), nil)
	c.rows.Refresh()
}

func (c *conditionEditor) indent(o fyne.CanvasObject, depth int) {
	c.rows.Add(inset(o, 0, 0, 0, float32(depth)*40))
}

// group adds the rows of a group; parent is nil for the root.
func (c *conditionEditor) group(g, parent *expr.Condition, depth int) {
	d := c.v.e.d
	kind := widget.NewSelect([]string{"All of", "Any of"}, nil)
	kind.Selected = "All of"
	if presenter.AnyOf(g) {
		kind.Selected = "Any of"
	}
	kind.OnChanged = func(s string) {
		presenter.SetAnyOf(g, s == "Any of")
		c.changed()
	}
	not := widget.NewCheck("NOT", func(on bool) { g.Negated = on; c.changed() })
	not.Checked = g.Negated
	add := button("Add comparison", false, func() {
		field := ""
		if len(c.v.fields) > 0 {
			field = c.v.fields[0].Name
		}
		g.Children = append(g.Children, presenter.NewAtom(g, field))
		c.fill()
		c.changed()
	})
	addGroup := button("Add group", false, func() {
		sub := presenter.NewAtom(g, "")
		sub.Children = []*expr.Condition{presenter.NewAtom(sub, "")}
		g.Children = append(g.Children, sub)
		c.fill()
		c.changed()
	})
	row := container.NewHBox(sized(bordered(kind), 110, 0), not, add, addGroup)
	if parent != nil {
		row.Add(d.tool("delete", "Remove this group", func() { c.remove(parent, g) }))
	}
	c.indent(row, depth)
	for _, child := range g.Children {
		if len(child.Children) > 0 {
			c.group(child, g, depth+1)
			continue
		}
		c.indent(c.atom(child, g), depth+1)
	}
	if len(g.Children) == 0 {
		c.indent(d.soft("No comparison yet: every row passes."), depth+1)
	}
}

func (c *conditionEditor) remove(parent, child *expr.Condition) {
	for i, k := range parent.Children {
		if k == child {
			parent.Children = append(parent.Children[:i:i], parent.Children[i+1:]...)
			break
		}
	}
	if len(parent.Children) > 0 {
		parent.Children[0].Operator = expr.OpNone
	}
	c.fill()
	c.changed()
}

// atom is the row of one comparison: field, function, field or value.
func (c *conditionEditor) atom(a, parent *expr.Condition) fyne.CanvasObject {
	d := c.v.e.d
	names := fieldNames(c.v.fields)
	left := d.choice(a.Left, names, func(s string) {
		a.Left = s
		if a.Constant != nil {
			for _, f := range c.v.fields {
				if f.Name == s && a.Constant.Text == "" {
					a.Constant.Type = batch.ParseType(f.Type)
				}
			}
		}
		c.changed()
	})
	var functions []string
	for _, f := range expr.Functions() {
		functions = append(functions, string(f))
	}
	function := widget.NewSelect(functions, nil)
	function.Selected = string(a.Function)
	function.OnChanged = func(s string) {
		a.Function = expr.Function(s)
		c.fill()
		c.changed()
	}
	not := widget.NewCheck("NOT", func(on bool) { a.Negated = on; c.changed() })
	not.Checked = a.Negated
	remove := d.tool("delete", "Remove this comparison", func() { c.remove(parent, a) })
	right := layout.NewSpacer()
	if presenter.NeedsRight(a.Function) {
		right = c.right(a, names)
	}
	return container.NewBorder(nil, nil, nil, container.NewHBox(not, remove), container.New(&thirds{}, left, bordered(function), right))
}

// right is the other side of a comparison: a field, or a value with its type.
func (c *conditionEditor) right(a *expr.Condition, names []string) fyne.CanvasObject {
	d := c.v.e.d
	text := ""
	if a.Constant != nil {
		text = a.Constant.Text
	}
	kinds := []string{"Value", "Field"}
	kind := widget.NewSelect(kinds, nil)
	kind.Selected = kinds[0]
	input := fyne.CanvasObject(d.field(text, "Value", func(s string) {
		if a.Constant == nil {
			a.Constant = &expr.Constant{Name: "constant", Type: batch.String, Length: -1, Precision: -1}
		}
		a.Constant.Text, a.Constant.IsNull = s, false
		c.changed()
	}))
	if a.Right != "" {
		kind.Selected = kinds[1]
		input = d.choice(a.Right, names, func(s string) { a.Right = s; c.changed() })
	}
	kind.OnChanged = func(s string) {
		a.Right = ""
		if s == kinds[1] {
			a.Right, a.Constant = " ", nil
			if len(names) > 0 {
				a.Right = names[0]
			}
		}
		c.fill()
		c.changed()
	}
	return container.NewBorder(nil, nil, sized(bordered(kind), 92, 0), nil, input)
}

// thirds sets field, function and value side by side.
type thirds struct{}

// MinSize implements fyne.Layout.
func (t *thirds) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(320, 32) }

// Layout implements fyne.Layout.
func (t *thirds) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const gap = 8
	room := size.Width - 2*gap
	x := float32(0)
	for i, share := range []float32{0.32, 0.24, 0.44} {
		o[i].Move(fyne.NewPos(x, (size.Height-32)/2))
		o[i].Resize(fyne.NewSize(room*share, 32))
		x += room*share + gap
	}
}
