package hopxml

import (
	"strconv"
	"strings"
)

// Color is red, green and blue, 0 to 255 each.
type Color struct{ Red, Green, Blue int }

// Note is a note on the canvas. Positions and sizes are canvas pixels.
type Note struct {
	ID      ID
	Element *Element

	Text     string
	Markdown bool
	Type     string // GENERAL, INFORMATION, IMPORTANT, WARNING; "" when absent
	FontName string
	FontSize int // -1 when absent
	Bold     bool
	Italic   bool

	Font, Background, Border *Color // nil when the file names none: the theme decides

	X, Y, Width, Height int
}

// noteColors are the elements of a colour, without red, green and blue.
const (
	fontColor       = "fontcolor"
	backgroundColor = "backgroundcolor"
	borderColor     = "bordercolor"
)

func (e *Element) integer(name string, absent int) int {
	n, err := strconv.Atoi(strings.TrimSpace(e.Child(name).Text()))
	if err != nil {
		return absent
	}
	return n
}

func readNotes(notepads *Element) []Note {
	var notes []Note
	for _, e := range notepads.All("notepad") {
		notes = append(notes, Note{
			ID: e.id, Element: e,
			Text:     e.Child("note").Text(),
			Markdown: e.Child("markdown").Flag(),
			Type:     e.Child("notetype").Text(),
			FontName: e.Child("fontname").Text(),
			FontSize: e.integer("fontsize", -1),
			Bold:     e.Child("fontbold").Flag(),
			Italic:   e.Child("fontitalic").Flag(),
			Font:     e.color(fontColor), Background: e.color(backgroundColor), Border: e.color(borderColor),
			X: e.integer("xloc", 0), Y: e.integer("yloc", 0),
			Width: e.integer("width", 0), Height: e.integer("height", 0),
		})
	}
	return notes
}

func (e *Element) color(prefix string) *Color {
	if e.Child(prefix+"red") == nil {
		return nil
	}
	return &Color{e.integer(prefix+"red", 0), e.integer(prefix+"green", 0), e.integer(prefix+"blue", 0)}
}

// AddNote adds a note; ID and Element of n are not used.
func AddNote(n Note) Edit {
	return func(d *Document) (*Document, error) {
		d, notepads, err := d.ensure(d.root.id, "notepads")
		if err != nil {
			return nil, err
		}
		return Insert(notepads.id, AtEnd(), n.draft())(d)
	}
}

func (n Note) draft() Draft {
	t := Branch("notepad", Leaf("note", n.Text))
	add := func(name, text string) { t.Children = append(t.Children, Leaf(name, text)) }
	if n.Markdown {
		add("markdown", flagText(true))
	}
	if n.Type != "" {
		add("notetype", n.Type)
	}
	add("fontname", n.FontName)
	if n.FontSize == 0 {
		n.FontSize = -1
	}
	add("fontsize", strconv.Itoa(n.FontSize))
	add("fontbold", flagText(n.Bold))
	add("fontitalic", flagText(n.Italic))
	for prefix, c := range n.colors {
		if c != nil {
			add(prefix+"red", strconv.Itoa(c.Red))
			add(prefix+"green", strconv.Itoa(c.Green))
			add(prefix+"blue", strconv.Itoa(c.Blue))
		}
	}
	for _, p := range n.integers() {
		add(p.name, strconv.Itoa(p.value))
	}
	return t
}

// colors yields the three colours in the order of the file.
func (n Note) colors(yield func(prefix string, c *Color) bool) {
	_ = yield(fontColor, n.Font) && yield(backgroundColor, n.Background) && yield(borderColor, n.Border)
}

type namedInteger struct {
	name  string
	value int
}

func (n Note) integers() []namedInteger {
	return []namedInteger{{"xloc", n.X}, {"yloc", n.Y}, {"width", n.Width}, {"height", n.Height}}
}

// SetNote gives the note n.ID the values of n; what has its value already is
// not touched. A colour of nil stays as it is in the file.
func SetNote(n Note) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(n.ID)
		if err != nil {
			return nil, err
		}
		e := path[len(path)-1].elem
		var edits []Edit
		text := func(name, value string) {
			if e.Child(name).Text() != clean(value) {
				edits = append(edits, SetChild(n.ID, name, value, Canonical()))
			}
		}
		number := func(name string, value, absent int) {
			if e.integer(name, absent) != value {
				edits = append(edits, SetChild(n.ID, name, strconv.Itoa(value), Canonical()))
			}
		}
		text("note", n.Text)
		text("notetype", n.Type)
		text("fontname", n.FontName)
		edits = append(edits, SetFlag(n.ID, "markdown", n.Markdown), SetFlag(n.ID, "fontbold", n.Bold), SetFlag(n.ID, "fontitalic", n.Italic))
		number("fontsize", n.FontSize, -1)
		for prefix, c := range n.colors {
			if c != nil {
				number(prefix+"red", c.Red, -1)
				number(prefix+"green", c.Green, -1)
				number(prefix+"blue", c.Blue, -1)
			}
		}
		for _, p := range n.integers() {
			number(p.name, p.value, 0)
		}
		return d.Apply(edits...)
	}
}
