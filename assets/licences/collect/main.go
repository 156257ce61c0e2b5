// Command collect writes the licences of all modules that are linked into the desktop
// application: list.tsv with a line for each, texts.txt with what they say. It reads
// the module cache; run it by `make licences` after a change of go.mod.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sluice/assets/licences"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
		os.Exit(1)
	}
}

// fileName are the names of files with a licence, or with what has to go with it.
var fileName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|unlicense|notice)`)

func run(to string) error {
	modules, err := licences.Linked("../..")
	if err != nil {
		return err
	}
	fonts, err := filepath.Glob("../../canvas/paint/fonts/LICENSE-*.txt")
	if err != nil {
		return err
	}
	var list, texts bytes.Buffer
	for _, name := range fonts {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		font := "font " + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "LICENSE-"), ".txt")
		text := tidy(data)
		fmt.Fprintf(&texts, "%s%s\n%s\n", licences.Mark, font, text)
		fmt.Fprintf(&list, "%s\t\t%s\t%s\n", font, licences.Kind(text), font)
	}
	said := map[string]string{} // text -> the module that it stands at
	for _, m := range modules {
		text, main, err := textOf(m.Folder)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		if bad := licences.Forbids(main); bad != "" && licences.Kind(main) != "MPL-2.0" { // which names the others in its text
			return fmt.Errorf("%s: %s; it may not be linked", m.Path, bad)
		}
		kind := licences.Kind(main)
		if kind == "" {
			return fmt.Errorf("%s: its licence is none that is known; look at %s", m.Path, m.Folder)
		}
		at := said[text]
		if at == "" {
			at = m.Path
			said[text] = at
			fmt.Fprintf(&texts, "%s%s\n%s\n", licences.Mark, at, text)
		}
		fmt.Fprintf(&list, "%s\t%s\t%s\t%s\n", m.Path, m.Version, kind, at)
	}
	return errors.Join(os.WriteFile(filepath.Join(to, "list.tsv"), list.Bytes(), 0o644), os.WriteFile(filepath.Join(to, "texts.txt"), texts.Bytes(), 0o644))
}

// textOf joins the licence files of a folder; main is the one that governs: the one
// with the shortest name.
func textOf(folder string) (all, main string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", "", err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && fileName.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
			names = append(names, e.Name())
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		notice := func(s string) bool { return strings.HasPrefix(strings.ToLower(s), "notice") }
		if notice(a) != notice(b) {
			if notice(a) {
				return 1
			}
			return -1
		}
		return len(a) - len(b)
	})
	var parts []string
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "", "", err
		}
		parts = append(parts, tidy(data))
	}
	if len(parts) == 0 {
		return "", "", errors.New("it has no licence file")
	}
	main = parts[0]
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "\n\n"), main, nil
}

// tidy takes white space off the ends of lines.
func tidy(data []byte) string {
	var b strings.Builder
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		b.WriteString(strings.TrimRight(s.Text(), " \t\r\f"))
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}
