//go:build !headless

package desktop

import (
	"bytes"
	"encoding/json"
	"os"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/canvas"
	"sluice/canvas/scene"
)

// positionsPause is how often a test of the real window is told where things are.
const positionsPause = 100 * time.Millisecond

// Position tells where something that can be pointed at stands in the window.
type Position struct {
	Kind string  `json:"kind"` // button, check, field, words, node
	Name string  `json:"name"` // what a person reads there
	X    float32 `json:"x"`    // of the middle
	Y    float32 `json:"y"`
	W    float32 `json:"w"`
	H    float32 `json:"h"`
	Off  bool    `json:"off,omitempty"`  // cannot be used now
	Keys bool    `json:"keys,omitempty"` // has the keyboard
}

// Positions are what can be pointed at after so many lines of the event log.
type Positions struct {
	Events int        `json:"events"`
	Things []Position `json:"things"`
}

// tellPositions keeps a file up to date that says where things are, for tests of the
// real window: they point at what is there and not at pixels.
func (d *Desktop) tellPositions(path string) {
	var told []byte
	d.every(positionsPause, func() {
		data, err := json.Marshal(Positions{d.told, d.positions()})
		if err != nil || bytes.Equal(data, told) {
			return
		}
		told = data
		d.write(func() {
			if os.WriteFile(path+".new", data, 0o600) == nil {
				_ = os.Rename(path+".new", path) // the test waits in vain, and fails
			}
		})
	})
}

// positions lists what can be pointed at: of the uppermost dialog or menu, or of the
// window when there is none.
func (d *Desktop) positions() []Position {
	p := &pointer{d: d, focus: d.win.Canvas().Focused(), list: []Position{}}
	if top := d.win.Canvas().Overlays().Top(); top != nil {
		p.walk(top, d.win.Canvas().Size(), fyne.Position{})
	} else {
		p.walk(d.win.Canvas().Content(), d.win.Canvas().Size(), fyne.Position{})
	}
	return p.list
}

// pointer collects positions.
type pointer struct {
	d     *Desktop
	focus fyne.Focusable
	list  []Position
}

// walk looks at an object and what it holds; what a scroller hides, outside of the
// clip, is left out.
func (p *pointer) walk(o fyne.CanvasObject, clip fyne.Size, at fyne.Position) {
	if o == nil || !o.Visible() {
		return
	}
	switch x := o.(type) {
	case *fyne.Container:
		for _, c := range x.Objects {
			p.walk(c, clip, at)
		}
	case *container.Scroll:
		p.walk(x.Content, x.Size(), p.of(x))
	case *container.Split:
		p.walk(x.Leading, clip, at)
		p.walk(x.Trailing, clip, at)
	case *container.ThemeOverride:
		p.walk(x.Content, clip, at)
	case *widget.PopUp:
		p.walk(x.Content, clip, at)
	case *widget.Accordion:
		for _, i := range x.Items {
			p.walk(i.Detail, clip, at)
		}
	case *widget.Button:
		p.add(Position{Kind: "button", Name: x.Text, Off: x.Disabled()}, o, clip, at)
	case *widget.Check:
		p.add(Position{Kind: "check", Name: x.Text, Off: x.Disabled()}, o, clip, at)
		p.toBox(x)
	case *flat:
		name := x.caption
		if name == "" {
			name = x.tip
		}
		p.add(Position{Kind: "button", Name: name, Off: x.disabled}, o, clip, at)
	case *field:
		p.add(Position{Kind: "field", Name: x.Text, Off: x.Disabled(), Keys: p.focus == fyne.Focusable(x)}, o, clip, at)
	case *words:
		if x.full != "" {
			p.add(Position{Kind: "words", Name: x.full}, o, clip, at)
		}
	case *canvas.Graph:
		p.add(Position{Kind: "canvas", Keys: p.focus == fyne.Focusable(x)}, o, clip, at)
		p.nodes(x)
	}
}

// toBox points at the box of the check box added last: it does not feel a click
// behind its words.
func (p *pointer) toBox(c *widget.Check) {
	if n := len(p.list) - 1; n >= 0 && p.list[n].Kind == "check" && p.list[n].Name == c.Text {
		p.list[n].X -= p.list[n].W/2 - c.Size().Height/2
	}
}

func (p *pointer) nodes(g *canvas.Graph) {
	origin := p.of(g)
	s, view := g.Machine().Scene(), g.Machine().View()
	size := float32(scene.TileSize * view.Zoom)
	for i := range s.NodeCount() {
		n := s.NodeNumber(i)
		at := view.ToScreen(n.Pos)
		p.list = append(p.list, Position{Kind: "node", Name: n.Label, X: origin.X + float32(at.X), Y: origin.Y + float32(at.Y), W: size, H: size})
	}
}

func (p *pointer) of(o fyne.CanvasObject) fyne.Position {
	return p.d.app.Driver().AbsolutePositionForObject(o)
}

func (p *pointer) add(what Position, o fyne.CanvasObject, clip fyne.Size, from fyne.Position) {
	size, at := o.Size(), p.of(o)
	what.X, what.Y, what.W, what.H = at.X+size.Width/2, at.Y+size.Height/2, size.Width, size.Height
	if what.X < from.X || what.Y < from.Y || what.X > from.X+clip.Width || what.Y > from.Y+clip.Height {
		return
	}
	p.list = append(p.list, what)
}
