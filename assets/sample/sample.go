// Package sample holds the sample project: the turnover of a small shop, with its
// pipeline, its database and its metadata. A program unpacks a copy of it for a
// first look; `make demo` runs it in place.
package sample

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed project-config.json environment.json *.hpl *.hwf customers.csv orders.sql orders.db metadata
var files embed.FS

// Main is the file to open first, relative to the project.
const Main = "main.hpl"

// Files is the project as a file system.
func Files() fs.FS { return files }

// Unpack writes the project into a folder, which is made when it is not there.
// Nothing is overwritten: a file that exists is an error that wraps
// fs.ErrExist, and what was written before it stays.
func Unpack(folder string) error {
	return fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(folder, filepath.FromSlash(name))
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		if err := write(target, data); err != nil {
			return fmt.Errorf("unpack the sample project: %w", err)
		}
		return nil
	})
}

func write(target string, data []byte) error {
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
