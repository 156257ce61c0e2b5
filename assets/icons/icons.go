// Package icons holds the application's own line icons as SVG sources.
//
// Every icon lives on a 24 unit grid (the application tile on 64), uses only
// path and circle elements and writes every attribute on the element itself.
// Colour is the word currentColor, which whoever draws the icon replaces by
// the colour of its role. Drawing is left to the caller.
package icons

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
)

//go:embed *.svg
var files embed.FS

// ErrUnknown means that no icon has the name that was asked for. Callers show
// a neutral icon instead: a missing picture must never stop a document.
var ErrUnknown = errors.New("unknown icon")

// SVG returns the source of the icon called name, without the ".svg" ending.
// The error wraps ErrUnknown. The slice is the caller's own.
func SVG(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".svg")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read icon %q: %w", name, err)
	}
	return data, nil
}

// Names lists every icon in alphabetical order, without the ".svg" ending.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("icons: embedded folder is unreadable: " + err.Error())
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".svg"))
	}
	sort.Strings(names)
	return names
}
