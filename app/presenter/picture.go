package presenter

import (
	"io"

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
	fonts, err := paint.NewFonts()
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

// Save draws a PNG to a file that appears when it is whole. It writes the disk.
func (p *Picture) Save(path string, dark bool, scale float64) error {
	return streamWhole(path, func(w io.Writer) error { return p.Write(w, dark, scale) })
}
