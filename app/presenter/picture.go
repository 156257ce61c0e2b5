package presenter

import (
	"io"
	"slices"

	"sluice/app/fonts"
	"sluice/app/workspace"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

// Picture is a file as it stood when it was taken, to be drawn anywhere: no window is
// needed.
type Picture struct {
	graph scene.Graph
	title string
}

// Picture takes the whole file, with its gates as they stood when they were looked at
// last, and with what a run shows on it; run may be nil.
func (f *File) Picture(run *RunView) *Picture { return &Picture{f.Scene(run), f.Title()} }

// Write draws a PNG at a scale of 100 %.
func (p *Picture) Write(w io.Writer, dark bool, scale float64) error {
	fonts, err := p.fonts()
	if err != nil {
		return err
	}
	theme := paint.Light()
	if dark {
		theme = paint.Dark()
	}
	painter := paint.New(fonts)
	return painter.WritePNG(w, scene.New(p.graph, fonts, scene.Options{}), theme, scale, paint.Notice{Icon: "pipeline", Title: p.title + " is empty"})
}

// fonts are our own, and those of the system for what they lack.
func (p *Picture) fonts() (*paint.Fonts, error) {
	own, err := paint.NewFonts()
	if err != nil {
		return nil, err
	}
	var lacking []rune
	own.Missing = func(r rune) { lacking = append(lacking, r) }
	for _, n := range p.graph.Nodes {
		own.Width(n.Label, 1, true)
	}
	for _, n := range p.graph.Notes {
		own.Width(n.Text, 1, false)
	}
	own.Missing = nil
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil, err
	}
	const most = 4 // scripts in one picture
	for tried := 0; len(lacking) > 0 && tried < most; tried++ {
		// Names in boxes are better than no picture.
		if data, number, err := fonts.For(lacking[0], folders.Fonts()); err == nil && data != nil {
			_ = own.Add(paint.FontFile{Data: data, Number: number})
		}
		lacking = slices.DeleteFunc(lacking[1:], own.Has)
	}
	return own, nil
}

// Save draws a PNG to a file that appears when it is whole. It writes the disk.
func (p *Picture) Save(path string, dark bool, scale float64) error {
	return streamWhole(path, func(w io.Writer) error { return p.Write(w, dark, scale) })
}
