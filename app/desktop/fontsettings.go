//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/fonts"
	"sluice/app/workspace"
	sluicecanvas "sluice/canvas"
	"sluice/canvas/paint"
)

// ownFont is the choice of the fonts that come with the program.
const ownFont = "Sluice's own"

// chosenFonts are the fonts that took the place of our own ones; nil ones did not.
type chosenFonts struct {
	text [4]fyne.Resource // by style
	code fyne.Resource
}

func (c *chosenFonts) of(s fyne.TextStyle) fyne.Resource {
	switch {
	case s.Monospace:
		return c.code
	case s.Bold && s.Italic:
		return c.text[fonts.BoldItalic]
	case s.Bold:
		return c.text[fonts.Bold]
	case s.Italic:
		return c.text[fonts.Italic]
	}
	return c.text[fonts.Regular]
}

// useFonts reads the fonts of the settings and shows everything in them. Where that
// cannot be, it says so and goes back to our own.
func (d *Desktop) useFonts() {
	text, code := d.memory.TextFont, d.memory.CodeFont
	background(d, func() ([2]fonts.Set, error) {
		var sets [2]fonts.Set
		for i, name := range []string{text, code} {
			if name == "" {
				continue
			}
			var err error
			if sets[i], err = fonts.Read(name); err != nil {
				return sets, err
			}
		}
		return sets, nil
	}, func(sets [2]fonts.Set, err error) {
		if text != d.memory.TextFont || code != d.memory.CodeFont {
			return // chosen again
		}
		if err == nil {
			err = d.setFonts(text, sets[0], code, sets[1])
		}
		if err != nil {
			d.memory.TextFont, d.memory.CodeFont = "", ""
			d.remember()
			d.fail("Use another font", err)
			if err := d.setFonts("", nil, "", nil); err != nil {
				d.fail("Use the own fonts", err)
			}
		}
	})
}

func (d *Desktop) setFonts(textName string, text fonts.Set, codeName string, code fonts.Set) error {
	err := d.fonts.Use(paint.FontFile{Data: text[fonts.Regular]}, paint.FontFile{Data: text[fonts.Bold]}, paint.FontFile{Data: code[fonts.Regular]})
	if err != nil {
		return err
	}
	d.chosen = chosenFonts{}
	for style, data := range text {
		d.chosen.text[style] = fyne.NewStaticResource(textName+string(rune('0'+style)), data)
	}
	if code != nil {
		d.chosen.code = fyne.NewStaticResource("code-"+codeName, code[fonts.Regular])
	}
	d.restyle()
	d.fontsChanged()
	d.event("fonts %q %q", textName, codeName)
	return nil
}

func (d *Desktop) fontsChanged() {
	for _, g := range d.graphs() {
		g.FontsChanged()
	}
}

// graphs are all canvases of the window.
func (d *Desktop) graphs() []*sluicecanvas.Graph {
	var list []*sluicecanvas.Graph
	for _, e := range d.editors {
		list = append(list, e.graph)
	}
	if d.runs != nil {
		list = append(list, d.runs.detail.graph, d.runs.detail.tabs.chain)
	}
	return list
}

// lacks notes a character that no font of the canvas has. It is called while the
// canvas paints.
func (d *Desktop) lacks(r rune) {
	const block = 128
	if !d.lacked[r/block] {
		d.lacked[r/block] = true
		d.lacking = append(d.lacking, r)
	}
}

// findFonts looks among the fonts of the system for a character that the canvas
// lacks, and paints it again; one at a time, as a font has many.
func (d *Desktop) findFonts() {
	for !d.finding && len(d.lacking) > 0 {
		r := d.lacking[0]
		d.lacking = d.lacking[1:]
		if d.fonts.Has(r) {
			continue
		}
		d.finding = true
		background(d, func() (paint.FontFile, error) {
			folders, err := workspace.UserFolders()
			if err != nil {
				return paint.FontFile{}, err
			}
			data, number, err := fonts.For(r, folders.Fonts())
			return paint.FontFile{Data: data, Number: number}, err
		}, func(f paint.FontFile, err error) {
			d.finding = false
			if err == nil && f.Data != nil {
				err = d.fonts.Add(f)
				d.fontsChanged()
			}
			d.event("font for %q: %s", r, errorText(err)) // a name in boxes is no reason to interrupt
		})
	}
}

// fontRows let choose the fonts of text and of code.
func (d *Desktop) fontRows(row func(label, help string, control fyne.CanvasObject) fyne.CanvasObject) fyne.CanvasObject {
	choice := func(title string, name *string) fyne.CanvasObject {
		shown := d.text(nameOfFont(*name))
		change := button("Change…", false, func() {
			d.pickFont(title, func(to string) {
				*name = to
				shown.Set(nameOfFont(to), nil)
				d.remember()
				d.useFonts()
			})
		})
		return container.NewBorder(nil, nil, nil, change, shown)
	}
	return container.NewVBox(
		row("Font of text", "", choice("Font of text", &d.memory.TextFont)),
		row("Font of code and values", "", choice("Font of code and values", &d.memory.CodeFont)))
}

func nameOfFont(name string) string {
	if name == "" {
		return ownFont
	}
	return name
}

// pickFont asks for an installed font; do gets "" for our own.
func (d *Desktop) pickFont(title string, do func(name string)) {
	background(d, fonts.Installed, func(list []fonts.Family, err error) {
		if err != nil {
			d.fail("List the fonts", err)
			return
		}
		names := []string{ownFont}
		for _, f := range list {
			names = append(names, f.Name)
		}
		d.pick(title, "Fonts that are installed for every program", names, func(i int) {
			if i == 0 {
				do("")
			} else {
				do(names[i])
			}
		})
	})
}
