//go:build !headless

package desktop

import (
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// TestUnderscoresOfValuesShow draws one at the sizes that are used.
func TestUnderscoresOfValuesShow(t *testing.T) {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(newLook(false, &chosenFonts{}))
	for _, size := range []float32{monoSize, textSize} {
		c := canvas.NewText("_", color.Black)
		c.TextSize, c.TextStyle = size, fyne.TextStyle{Monospace: true}
		w := test.NewTempWindow(t, c)
		w.SetPadded(false)
		w.Resize(c.MinSize())
		img := w.Canvas().Capture()
		dark := 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x9000 {
					dark++
				}
			}
		}
		if dark < 4 {
			t.Errorf("at %v pixels: %d dark ones", size, dark)
		}
	}
	if short := []byte("no font"); string(deeper(short, 2)) != "no font" {
		t.Error("what is no font is changed")
	}
	if len(monoFont().Content()) != len(theme.DefaultTheme().Font(fyne.TextStyle{Monospace: true}).Content()) {
		t.Error("the font has another length")
	}
}
