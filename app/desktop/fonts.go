//go:build !headless

package desktop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-text/typesetting/fontscan"
	"golang.org/x/image/font/sfnt"
)

// family is a font family that is installed: its files by their style.
type family struct {
	name  string
	files map[fontStyle]string
}

// fontStyle is how a font of a family looks.
type fontStyle int

const (
	fontRegular fontStyle = iota
	fontBold
	fontItalic
	fontBoldItalic
)

// fontStyles are the names of styles in font files.
var fontStyles = map[string]fontStyle{
	"regular": fontRegular, "book": fontRegular, "roman": fontRegular, "normal": fontRegular,
	"bold": fontBold, "italic": fontItalic, "oblique": fontItalic, "bold italic": fontBoldItalic, "bold oblique": fontBoldItalic,
}

// quiet swallows what the scanner of fonts has to say of broken ones.
type quiet struct{}

// Printf implements fontscan.Logger.
func (quiet) Printf(string, ...any) {}

// fontFolders are where the system keeps fonts.
var fontFolders = func() ([]string, error) { return fontscan.DefaultFontDirectories(quiet{}) }

// installedFonts lists the families that have a regular font in a file of its own, by
// name. Files that cannot be read are left out.
func installedFonts() ([]family, error) {
	folders, err := fontFolders()
	if err != nil {
		return nil, err
	}
	found := families{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && isFontFile(path) {
				found.add(path)
			}
			return nil // what cannot be read is left out
		})
		if err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(found, func(_ string, f family) bool { return f.files[fontRegular] == "" })
	list := slices.Collect(maps.Values(found))
	slices.SortFunc(list, func(a, b family) int { return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return list, nil
}

func isFontFile(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".ttf" || ext == ".otf"
}

// families are families by name.
type families map[string]family

func (l families) add(path string) {
	name, style, ok := fontNames(path)
	if !ok {
		return
	}
	f := l[name]
	if f.files == nil {
		f = family{name, map[fontStyle]string{}}
	}
	if f.files[style] == "" {
		f.files[style] = path
	}
	l[name] = f
}

// fontNames reads family and style from the names in a font file.
func fontNames(path string) (name string, style fontStyle, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, false
	}
	defer func() { _ = file.Close() }()
	font, err := sfnt.ParseReaderAt(file)
	if err != nil {
		return "", 0, false
	}
	name, err = font.Name(nil, sfnt.NameIDFamily)
	styled, err2 := font.Name(nil, sfnt.NameIDSubfamily)
	if errors.Join(err, err2) != nil || name == "" {
		return "", 0, false
	}
	style, ok = fontStyles[strings.ToLower(styled)]
	return name, style, ok
}

// fontSet holds the files of a family; a style that it lacks is nil.
type fontSet map[fontStyle][]byte

// maxFontBytes bounds what is read of a font file.
const maxFontBytes = 64 << 20

// readFamily reads the fonts of an installed family.
func readFamily(name string) (fontSet, error) {
	list, err := installedFonts()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(f family) bool { return f.name == name })
	if at < 0 {
		return nil, fmt.Errorf("the font %s is not installed any more; choose another one in the settings", name)
	}
	set := fontSet{}
	for style, path := range list[at].files {
		if set[style], err = readFont(path); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func readFont(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxFontBytes+1))
	if err == nil && len(data) > maxFontBytes {
		err = fmt.Errorf("%s has more than %d MiB", path, maxFontBytes>>20)
	}
	return data, err
}

// fontFor finds an installed font that has a character; nil: there is none.
func fontFor(r rune, cache string) (data []byte, number int, err error) {
	m := fontscan.NewFontMap(quiet{})
	if err := m.UseSystemFonts(cache); err != nil {
		return nil, 0, err
	}
	m.SetQuery(fontscan.Query{Families: []string{fontscan.SansSerif}})
	face := m.ResolveFace(r) // any font, where none has it
	if face == nil {
		return nil, 0, nil
	}
	if _, ok := face.NominalGlyph(r); !ok {
		return nil, 0, nil
	}
	at := m.FontLocation(face.Font)
	data, err = readFont(at.File)
	return data, int(at.Index), err
}
