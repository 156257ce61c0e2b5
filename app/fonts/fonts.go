// Package fonts finds the fonts that are installed on the machine, for every program.
package fonts

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

// Family is a font family that is installed: its files by their style.
type Family struct {
	Name  string
	Files map[Style]string
}

// Style is how a font of a family looks.
type Style int

// The styles.
const (
	Regular Style = iota
	Bold
	Italic
	BoldItalic
)

// styles are the names of styles in font files.
var styles = map[string]Style{
	"regular": Regular, "book": Regular, "roman": Regular, "normal": Regular,
	"bold": Bold, "italic": Italic, "oblique": Italic, "bold italic": BoldItalic, "bold oblique": BoldItalic,
}

// quiet swallows what the scanner of fonts has to say of broken ones.
type quiet struct{}

// Printf implements fontscan.Logger.
func (quiet) Printf(string, ...any) {}

// Folders are where the system keeps fonts. Tests look elsewhere.
var Folders = func() ([]string, error) { return fontscan.DefaultFontDirectories(quiet{}) }

// Installed lists the families that have a regular font in a file of its own, by
// name. Files that cannot be read are left out.
func Installed() ([]Family, error) {
	folders, err := Folders()
	if err != nil {
		return nil, err
	}
	found := families{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && isFont(path) {
				found.add(path)
			}
			return nil // what cannot be read is left out
		})
		if err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(found, func(_ string, f Family) bool { return f.Files[Regular] == "" })
	list := slices.Collect(maps.Values(found))
	slices.SortFunc(list, func(a, b Family) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return list, nil
}

func isFont(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".ttf" || ext == ".otf"
}

// families are families by name.
type families map[string]Family

func (l families) add(path string) {
	name, style, ok := namesOf(path)
	if !ok {
		return
	}
	f := l[name]
	if f.Files == nil {
		f = Family{name, map[Style]string{}}
	}
	if f.Files[style] == "" {
		f.Files[style] = path
	}
	l[name] = f
}

// namesOf reads family and style from the names in a font file.
func namesOf(path string) (name string, style Style, ok bool) {
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
	style, ok = styles[strings.ToLower(styled)]
	return name, style, ok
}

// Set holds the files of a family; a style that it lacks is nil.
type Set map[Style][]byte

// maxBytes bounds what is read of a font file.
const maxBytes = 64 << 20

// Read reads the fonts of an installed family.
func Read(name string) (Set, error) {
	list, err := Installed()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(f Family) bool { return f.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("the font %s is not installed any more; choose another one in the settings", name)
	}
	set := Set{}
	for style, path := range list[at].Files {
		if set[style], err = read(path); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s has more than %d MiB", path, maxBytes>>20)
	}
	return data, err
}

// For finds an installed font that has a character, and its number in the data; nil:
// there is none. What it learns of the fonts it keeps in the folder cache, which it
// makes.
func For(r rune, cache string) (data []byte, number int, err error) {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, 0, err
	}
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
	data, err = read(at.File)
	return data, int(at.Index), err
}
