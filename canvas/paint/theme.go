package paint

import (
	"image/color"

	"sluice/canvas/scene"
)

// Pair is one state role: Ink for strokes and text, Soft for the ground of
// chips, banners and tiles.
type Pair struct{ Ink, Soft color.RGBA }

// Theme holds every colour of the application. It is the only place that names
// one; the desktop's theme takes its values from here. All are opaque except
// Dim. Text reaches a contrast of 4.5:1 on its ground, graphics 3:1.
type Theme struct {
	Dark bool

	Background, Surface, Head, Canvas, Input color.RGBA
	Button, Hover                            color.RGBA
	Line, LineStrong                         color.RGBA
	Text, TextSoft, TextOff                  color.RGBA
	Primary, OnPrimary                       color.RGBA
	Selection                                color.RGBA
	Tile, TileLine, Hop                      color.RGBA
	Outside, OutsideLine                     color.RGBA
	Note, NoteLine                           color.RGBA
	Dim                                      color.NRGBA // behind dialogs

	WarnFill color.RGBA // filled stale badge
	tones    [scene.ToneReuse + 1]Pair
}

// Tone is the pair of colours of a state role.
func (t *Theme) Tone(tone scene.Tone) Pair { return t.tones[tone] }

// fill is the colour of a filled gate badge and its bars.
func (t *Theme) fill(tone scene.Tone) color.RGBA {
	if tone == scene.ToneWarn {
		return t.WarnFill
	}
	return t.tones[tone].Ink
}

func rgb(v uint32) color.RGBA {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

// Light is the theme for bright rooms.
func Light() *Theme {
	return &Theme{
		Background: rgb(0xF4F6F8), Surface: rgb(0xFFFFFF), Head: rgb(0xEAEEF2), Canvas: rgb(0xFAFBFC), Input: rgb(0xFFFFFF),
		Button: rgb(0xE6EBF0), Hover: rgb(0xE3E9EE),
		Line: rgb(0xD3DAE1), LineStrong: rgb(0x7C8A98),
		Text: rgb(0x1B2733), TextSoft: rgb(0x4E5D6C), TextOff: rgb(0x8793A0),
		Primary: rgb(0x0F6A80), OnPrimary: rgb(0xFFFFFF), Selection: rgb(0xCDE7ED),
		Tile: rgb(0xFFFFFF), TileLine: rgb(0x7F8C99), Hop: rgb(0x7C8A98),
		Outside: rgb(0xE3F1F4), OutsideLine: rgb(0x0F6A80),
		Note: rgb(0xFFF8DC), NoteLine: rgb(0xD9C98A),
		Dim:      color.NRGBA{0x14, 0x1E, 0x28, 107},
		WarnFill: rgb(0xC77700),
		tones: [...]Pair{
			scene.ToneNeutral:     {rgb(0x55636F), rgb(0xE8ECF0)},
			scene.ToneRun:         {rgb(0x1D5FD1), rgb(0xE2EBFB)},
			scene.ToneOK:          {rgb(0x176D34), rgb(0xDFF2E5)},
			scene.ToneWarn:        {rgb(0x8F5400), rgb(0xFCEFD6)},
			scene.ToneError:       {rgb(0xBE2B2B), rgb(0xFBE3E2)},
			scene.ToneInterrupted: {rgb(0x7A3DB0), rgb(0xEFE4F8)},
			scene.ToneReuse:       {rgb(0x0F6A80), rgb(0xDCEFF3)},
		},
	}
}

// Dark is the theme for dark rooms.
func Dark() *Theme {
	return &Theme{
		Dark:       true,
		Background: rgb(0x14181D), Surface: rgb(0x1B2127), Head: rgb(0x232A32), Canvas: rgb(0x111519), Input: rgb(0x11161B),
		Button: rgb(0x2A323B), Hover: rgb(0x2B343D),
		Line: rgb(0x37414C), LineStrong: rgb(0x76848F),
		Text: rgb(0xE6EBF0), TextSoft: rgb(0xA8B4C0), TextOff: rgb(0x6E7B87),
		Primary: rgb(0x55BBD0), OnPrimary: rgb(0x06222A), Selection: rgb(0x123A48),
		Tile: rgb(0x1F262E), TileLine: rgb(0x6E7B87), Hop: rgb(0x8794A1),
		Outside: rgb(0x12323B), OutsideLine: rgb(0x55BBD0),
		Note: rgb(0x38321C), NoteLine: rgb(0x6B6032),
		Dim:      color.NRGBA{0, 0, 0, 140},
		WarnFill: rgb(0xE8B458),
		tones: [...]Pair{
			scene.ToneNeutral:     {rgb(0xA8B4C0), rgb(0x2A323B)},
			scene.ToneRun:         {rgb(0x7DA9F9), rgb(0x1B2E50)},
			scene.ToneOK:          {rgb(0x62C487), rgb(0x163726)},
			scene.ToneWarn:        {rgb(0xE8B458), rgb(0x3D2E12)},
			scene.ToneError:       {rgb(0xF4857F), rgb(0x451F1F)},
			scene.ToneInterrupted: {rgb(0xC49BF0), rgb(0x35254D)},
			scene.ToneReuse:       {rgb(0x55BBD0), rgb(0x123843)},
		},
	}
}
