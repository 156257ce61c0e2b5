// Package filenames finds the files that an input reads, and names and opens the
// files that an output writes.
//
// An Entry is one line of an input's file table: a file, or a folder with a mask.
// Facts are the additional fields that describe the file a row came from. Stamp
// is the date part of an output's file name, Output a text file that is being
// written.
package filenames

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"sluice/engine/expr/javaregex"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// Entry is one line of a file table. With a mask the name is a folder whose
// files are taken when their base name matches the mask and not the exclude mask
// (Java regular expressions, whole match). Old files repeat the columns of all
// entries in one element: tag the slice "inline".
type Entry struct {
	Name       transform.Expr[string] `hop:"name" label:"File or folder" form:"file"`
	Mask       transform.Expr[string] `hop:"filemask" label:"Mask (RegExp)" help:"Regular expression for the names of the files in the folder"`
	Exclude    transform.Expr[string] `hop:"exclude_filemask" label:"Exclude mask (RegExp)"`
	Required   bool                   `hop:"file_required" help:"A file or folder that does not exist is an error"`
	Subfolders bool                   `hop:"include_subfolders" label:"Include subfolders"`
}

// Find lists the files of all entries, sorted by path. Entries without a name are
// left out, and so are files that are not there unless they are required.
func Find(ctx context.Context, store files.Store, r transform.Resolver, entries []Entry) ([]files.Info, error) {
	var list []files.Info
	for i := range entries {
		found, err := entries[i].find(ctx, store, r)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list, nil
}

func (e *Entry) find(ctx context.Context, store files.Store, r transform.Resolver) ([]files.Info, error) {
	name, err := e.Name.Eval(r)
	if err != nil || name == "" {
		return nil, err
	}
	name = Slashes(name)
	match, err := e.matcher(r)
	if err != nil {
		return nil, err
	}
	info, err := store.Stat(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if e.Required {
			return nil, fmt.Errorf("required file %s does not exist", name)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("file %s: %w", name, err)
	case !info.Readable && e.Required:
		return nil, fmt.Errorf("required file %s cannot be read: %w", name, fs.ErrPermission)
	case match == nil:
		return []files.Info{info}, nil
	case !info.Folder:
		return nil, nil // a mask selects from folders only
	}
	all, err := store.List(ctx, name, e.Subfolders)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", name, err)
	}
	var list []files.Info
	for _, f := range all {
		if !f.Folder && match(f.Name) {
			list = append(list, f)
		}
	}
	return list, nil
}

// matcher gives the test of base names, nil when the entry has no mask.
func (e *Entry) matcher(r transform.Resolver) (func(string) bool, error) {
	include, err := compile(e.Mask, r)
	if err != nil {
		return nil, fmt.Errorf("file mask: %w", err)
	}
	exclude, err := compile(e.Exclude, r)
	if err != nil {
		return nil, fmt.Errorf("exclude mask: %w", err)
	}
	if include == nil && exclude == nil {
		return nil, nil
	}
	return func(name string) bool {
		return (include == nil || include.MatchWholeString(name)) && (exclude == nil || !exclude.MatchWholeString(name))
	}, nil
}

func compile(mask transform.Expr[string], r transform.Resolver) (*javaregex.Regexp, error) {
	text, err := mask.Eval(r)
	if err != nil || text == "" {
		return nil, err
	}
	return javaregex.Compile(text, 0)
}

// Slashes gives a location with slashes for backslashes: files written on Windows
// have them, and Hop takes both on every system.
func Slashes(name string) string { return strings.ReplaceAll(name, `\`, "/") }

// Extension gives what follows the last dot of a base name, without the dot.
func Extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[i+1:]
	}
	return ""
}

// Folder gives the path of the folder that a file lies in.
func Folder(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	if strings.HasPrefix(path, "/") {
		return "/"
	}
	return ""
}
