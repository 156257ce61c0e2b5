//go:build !headless

package desktop

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"sluice/canvas/paint"
)

// look is the Fyne theme over the colours of package paint.
type look struct {
	*paint.Theme
	fonts *chosenFonts
}

var _ fyne.Theme = (*look)(nil)

func newLook(dark bool, fonts *chosenFonts) *look {
	if dark {
		return &look{paint.Dark(), fonts}
	}
	return &look{paint.Light(), fonts}
}

// Color implements fyne.Theme. The variant of the system is ignored: light and dark
// are a setting.
func (l *look) Color(name fyne.ThemeColorName, _ fyne.ThemeVariant) color.Color {
	switch name {
	case theme.ColorNameBackground:
		return l.Background
	case theme.ColorNameOverlayBackground, theme.ColorNameMenuBackground:
		return l.Surface
	case theme.ColorNameHeaderBackground:
		return l.Head
	case theme.ColorNameInputBackground:
		return l.Input
	case theme.ColorNameButton, theme.ColorNameDisabledButton:
		return l.Button
	case theme.ColorNameHover, theme.ColorNamePressed:
		return l.Hover
	case theme.ColorNameSeparator:
		return l.Line
	case theme.ColorNameInputBorder, theme.ColorNameScrollBar:
		return l.LineStrong
	case theme.ColorNameScrollBarBackground:
		return color.Transparent
	case theme.ColorNameForeground:
		return l.Text
	case theme.ColorNamePlaceHolder:
		return l.TextSoft
	case theme.ColorNameDisabled:
		return l.TextOff
	case theme.ColorNamePrimary, theme.ColorNameHyperlink:
		return l.Primary
	case theme.ColorNameForegroundOnPrimary:
		return l.OnPrimary
	case theme.ColorNameFocus:
		return color.NRGBA{l.Primary.R, l.Primary.G, l.Primary.B, 0x46}
	case theme.ColorNameSelection:
		return l.Selection
	case theme.ColorNameShadow:
		return l.Dim
	}
	return l.state(name)
}

func (l *look) state(name fyne.ThemeColorName) color.Color {
	switch name {
	case theme.ColorNameError:
		return l.Tone(toneError).Ink
	case theme.ColorNameWarning:
		return l.Tone(toneWarn).Ink
	case theme.ColorNameSuccess:
		return l.Tone(toneOK).Ink
	case theme.ColorNameForegroundOnError, theme.ColorNameForegroundOnWarning, theme.ColorNameForegroundOnSuccess:
		return l.OnPrimary
	}
	variant := theme.VariantLight
	if l.Dark {
		variant = theme.VariantDark
	}
	return theme.DefaultTheme().Color(name, variant)
}

// Font implements fyne.Theme: Fyne carries Noto Sans and DejaVu Sans Mono itself, for
// when no other font was chosen.
func (l *look) Font(s fyne.TextStyle) fyne.Resource {
	if f := l.fonts.of(s); f != nil {
		return f
	}
	if s.Monospace {
		return monoFont()
	}
	return theme.DefaultTheme().Font(s)
}

// Icon implements fyne.Theme.
func (l *look) Icon(n fyne.ThemeIconName) fyne.Resource {
	own := map[fyne.ThemeIconName]string{theme.IconNameMoveDown: "chevron-down", theme.IconNameNavigateNext: "chevron-right"} // of trees
	if name := own[n]; name != "" {
		return &iconResource{name: name, ink: inkSoft, of: func() *paint.Theme { return l.Theme }}
	}
	return theme.DefaultTheme().Icon(n)
}

// Size implements fyne.Theme.
func (l *look) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNamePadding:
		return 4
	case theme.SizeNameInnerPadding:
		return 7
	case theme.SizeNameText:
		return textSize
	case theme.SizeNameCaptionText:
		return captionSize
	case theme.SizeNameSubHeadingText:
		return 16
	case theme.SizeNameHeadingText:
		return 22
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius:
		return 4
	case theme.SizeNameInlineIcon:
		return 16
	case theme.SizeNameSeparatorThickness, theme.SizeNameInputBorder:
		return 1
	case theme.SizeNameScrollBar:
		return 12
	}
	return theme.DefaultTheme().Size(name)
}

// Sizes of the design.
const (
	textSize    = 13
	captionSize = 11
)

// flatLook is the look of the window's content: what Fyne draws in the colour of
// shadows there are the bars between panes.
type flatLook struct{ d *Desktop }

// Color implements fyne.Theme.
func (l flatLook) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	if name == theme.ColorNameShadow {
		return l.d.look.Line
	}
	return l.d.look.Color(name, variant)
}

// Font implements fyne.Theme.
func (l flatLook) Font(s fyne.TextStyle) fyne.Resource { return l.d.look.Font(s) }

// Icon implements fyne.Theme.
func (l flatLook) Icon(n fyne.ThemeIconName) fyne.Resource { return l.d.look.Icon(n) }

// Size implements fyne.Theme.
func (l flatLook) Size(name fyne.ThemeSizeName) float32 { return l.d.look.Size(name) }
