// Package licences knows the licences of what is linked into the desktop application.
package licences

import (
	_ "embed"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

//go:generate go run ./collect

//go:embed list.tsv
var list string

//go:embed texts.txt
var texts string

// Mark begins the line that names the module whose text follows.
const Mark = "=== "

// Licence is what one module may be used under.
type Licence struct {
	Module, Version string
	Kind            string // SPDX identifier
	text            string // the module at which its text stands
}

// All lists the licences by module.
func All() []Licence {
	var all []Licence
	for line := range strings.Lines(list) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 4 {
			all = append(all, Licence{f[0], f[1], f[2], f[3]})
		}
	}
	return all
}

// Text is what the licence says, with its copyright.
func (l Licence) Text() string {
	_, rest, ok := strings.Cut("\n"+texts, "\n"+Mark+l.text+"\n")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\n"+Mark)
	return strings.TrimSpace(text)
}

// Module is a module that is linked.
type Module struct{ Path, Version, Folder string }

// Linked asks the go command for the modules of the desktop application, whose source
// is in a folder. What a folder of the project stands in for is the project's own.
func Linked(folder string) ([]Module, error) {
	c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not (or .Main (and .Replace (not .Replace.Version)))}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
	c.Dir = folder
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := strings.Split(string(out), "\n")
	slices.Sort(lines)
	var modules []Module
	for _, line := range slices.Compact(lines) {
		if f := strings.Split(line, "\t"); len(f) == 3 {
			modules = append(modules, Module{f[0], f[1], f[2]})
		}
	}
	return modules, nil
}

// kinds are the licences that may be linked, by words that are in each. The first
// that fits counts.
var kinds = []struct {
	id    string
	words []string
}{
	{"OFL-1.1", []string{"sil open font license"}},
	{"Bitstream-Vera", []string{"bitstream vera"}},
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "name of"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "names of its contributors"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"MIT", []string{"permission is hereby granted, free of charge"}},
	{"ISC", []string{"permission to use, copy, modify, and"}},
	{"CC0-1.0", []string{"creative commons", "cc0 1.0"}},
	{"Unlicense", []string{"this is free and unencumbered software"}},
	{"Zlib", []string{"this software is provided 'as-is'"}},
	{"BSL-1.0", []string{"boost software license"}},
	{"FTL", []string{"freetype project license"}},
}

// forbidden are words of licences that may not be linked.
var forbidden = []string{"gnu general public license", "gnu affero general public", "gnu lesser general public", "server side public license", "business source license"}

// Kind tells which licence a text is, "" when it is none that may be linked.
func Kind(text string) string {
	low := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, k := range kinds {
		fits := true
		for _, w := range k.words {
			fits = fits && strings.Contains(low, w)
		}
		if fits {
			return k.id
		}
	}
	return ""
}

// Forbids names a licence in a text that may not be linked, "" when there is none.
func Forbids(text string) string {
	low := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, w := range forbidden {
		if strings.Contains(low, w) {
			return w
		}
	}
	return ""
}
