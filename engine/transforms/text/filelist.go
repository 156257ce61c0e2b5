package text

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/expr/javaregex"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// FileItem is one line of a list of files: a file, or a folder and masks. Masks
// are Java regular expressions for the whole base name.
type FileItem struct {
	Name       string `hop:"name" form:"file"`
	Mask       string `hop:"filemask" form:"regex"`
	Exclude    string `hop:"exclude_filemask" form:"regex"`
	Required   bool   `hop:"file_required" help:"What does not exist is an error"`
	Subfolders bool   `hop:"include_subfolders"`
}

// fileKind says what a list takes of a folder.
type fileKind int

const (
	filesOnly fileKind = iota
	foldersOnly
	filesAndFolders
)

func (k fileKind) takes(i *files.Info) bool {
	return k == filesAndFolders || i.Folder == (k == foldersOnly)
}

// find gives what the item stands for, sorted by path. What does not exist is
// left out; missing gets its name when it is required.
func (f *FileItem) find(ctx context.Context, env *transform.Env, kind fileKind, missing *[]string) ([]files.Info, error) {
	name, err := env.Resolve(f.Name)
	if err != nil {
		return nil, fmt.Errorf("file name: %w", err)
	}
	if name == "" {
		return nil, nil
	}
	match, err := f.matcher(env)
	if err != nil {
		return nil, err
	}
	info, err := env.Files.Stat(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		if missing != nil && f.Required {
			*missing = append(*missing, name)
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	if !info.Folder {
		return []files.Info{info}, nil
	}
	list, err := env.Files.List(ctx, name, f.Subfolders)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", name, err)
	}
	var found []files.Info
	for i := range list {
		if kind.takes(&list[i]) && match(list[i].Name) {
			found = append(found, list[i])
		}
	}
	return found, nil
}

// matcher compiles the masks.
func (f *FileItem) matcher(env *transform.Env) (func(name string) bool, error) {
	include, err := compileMask(env, f.Mask)
	if err != nil {
		return nil, err
	}
	exclude, err := compileMask(env, f.Exclude)
	if err != nil {
		return nil, err
	}
	return func(name string) bool {
		return (include == nil || include.MatchWholeString(name)) && (exclude == nil || !exclude.MatchWholeString(name))
	}, nil
}

// compileMask gives nil for an empty mask.
func compileMask(env *transform.Env, mask string) (*javaregex.Regexp, error) {
	mask, err := env.Resolve(mask)
	if err != nil || mask == "" {
		return nil, err
	}
	re, err := javaregex.Compile(mask, 0)
	if err != nil {
		return nil, fmt.Errorf("file mask: %w", err)
	}
	return re, nil
}

// findAll joins what the items stand for.
func findAll(ctx context.Context, env *transform.Env, items []FileItem, kind fileKind) ([]files.Info, error) {
	var all []files.Info
	var missing []string
	for i := range items {
		found, err := items[i].find(ctx, env, kind, &missing)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(missing) > 0 {
		return nil, &engine.Error{
			Message: "required files do not exist: " + strings.Join(missing, ", "),
			Hint:    "correct the names, or make them not required", Err: fs.ErrNotExist,
		}
	}
	return all, nil
}

// sortByPath orders a list as Hop's file list is ordered.
func sortByPath(list []files.Info) {
	slices.SortStableFunc(list, func(a, b files.Info) int { return strings.Compare(a.Path, b.Path) })
}

// extension is what follows the last dot of a file name, without the dot.
func extension(name string) string { return strings.TrimPrefix(path.Ext(name), ".") }

// folderOf gives the folder of a path.
func folderOf(p string) string {
	i := strings.LastIndexAny(p, `/\`)
	switch {
	case i > 0:
		return p[:i]
	case i == 0:
		return p[:1]
	}
	return ""
}

// rootOf gives the root of a URI: file:/// of file:///a/b, s3://bucket/ of
// s3://bucket/key.
func rootOf(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + "/"
}
