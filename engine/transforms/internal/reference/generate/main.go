// Command generate writes the reference pages of the transforms:
//
//	generate FAMILIES PAGES
//
// FAMILIES is the folder of the families' source, PAGES the folder for the pages;
// pages of transforms that are no more are removed.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sluice/engine/transforms"
	"sluice/engine/transforms/internal/reference"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("give the families' folder and the pages' folder")
	}
	families, folder := args[0], args[1]
	docs, err := reference.Comments(families)
	if err != nil {
		return err
	}
	pages, err := reference.Pages(transforms.Registry().All(), docs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return removeOthers(folder, pages)
}

func removeOthers(folder string, pages map[string]string) error {
	old, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, keep := pages[filepath.Base(path)]; keep {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
