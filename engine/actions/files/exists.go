package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/transform"
)

// FileExists is a success when a file or folder is there and can be read.
var FileExists = action.Define[FileExistsSettings](action.About{
	ID:        "FILE_EXISTS",
	Name:      "File exists",
	Category:  action.CategoryFlow,
	Summary:   "Look whether a file is there.",
	ReadsOnly: true,
})

// FileExistsSettings lists the settings in the order the form shows them.
type FileExistsSettings struct {
	File transform.Expr[string] `hop:"filename" form:"file" required:"true"`
}

// Run implements action.Settings.
func (s *FileExistsSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	name, err := named(env, s.File, "file")
	if err != nil {
		return err
	}
	info, ok, err := found(ctx, env, name)
	if err != nil {
		return err
	}
	r.OK = ok && info.Readable
	env.Log.Info("Looked for file", "file", name, "exists", r.OK)
	return nil
}

// FilesExist is a success when all files are there; a folder with a mask needs at
// least one file that matches.
var FilesExist = action.Define[FilesExistSettings](action.About{
	ID:        "FILES_EXIST",
	Name:      "Files exist",
	Category:  action.CategoryFlow,
	Summary:   "Look whether several files are there.",
	ReadsOnly: true,
})

// FilesExistSettings lists the settings in the order the form shows them.
type FilesExistSettings struct {
	Legacy string          `hop:"filename" advanced:"true" help:"Of old versions; has no effect"`
	Files  []MaskedPattern `hop:"fields>field" required:"true"`
}

// MaskedPattern is a file, or a folder with a mask for the files in it.
type MaskedPattern struct {
	Name transform.Expr[string] `hop:"name" form:"file" required:"true" label:"File or folder"`
	Mask transform.Expr[string] `hop:"filemask" help:"Regular expression on the base name"`
}

// Run implements action.Settings.
func (s *FilesExistSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	missing, failed := 0, int64(0)
	for _, f := range s.Files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ok, name, err := f.exists(ctx, env)
		if err != nil {
			failed++
			env.Log.Error("Could not look for file", "file", name, "err", err)
		}
		if !ok {
			missing++
			env.Log.Info("File is missing", "file", name)
		}
	}
	r.OK, r.Errors = missing == 0, failed
	return nil
}

func (m *MaskedPattern) exists(ctx context.Context, env *action.Env) (bool, string, error) {
	text, err := texts(env, m.Name, m.Mask)
	if err != nil {
		return false, m.Name.Text, err
	}
	info, ok, err := found(ctx, env, text[0])
	if err != nil || !ok || !info.Folder || text[1] == "" {
		return ok, text[0], err
	}
	match, err := newMatcher(text[1], "")
	if err != nil {
		return false, text[0], err
	}
	list, err := matching(ctx, env, info, match, false)
	return len(list) > 0, text[0], err
}

// FileCompare is a success when two files have the same bytes. Both have to
// exist.
var FileCompare = action.Define[FileCompareSettings](action.About{
	ID:        "FILE_COMPARE",
	Name:      "File compare",
	Category:  action.CategoryFlow,
	Summary:   "Compare the content of two files.",
	ReadsOnly: true,
})

// FileCompareSettings lists the settings in the order the form shows them.
type FileCompareSettings struct {
	First     transform.Expr[string] `hop:"filename1" form:"file" required:"true" label:"File 1"`
	Second    transform.Expr[string] `hop:"filename2" form:"file" required:"true" label:"File 2"`
	AddResult bool                   `hop:"add_filename_result" label:"Add to the result files"`
}

// Run implements action.Settings.
func (s *FileCompareSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	names := [2]string{}
	for i, e := range [2]transform.Expr[string]{s.First, s.Second} {
		var err error
		if names[i], err = named(env, e, fmt.Sprintf("file %d", i+1)); err != nil {
			return err
		}
	}
	at, same, err := compare(ctx, env, names)
	if err != nil {
		return err
	}
	if !same {
		env.Log.Info("Files differ", "file1", names[0], "file2", names[1], "offset", at)
	}
	if s.AddResult {
		for _, n := range names {
			r.AddFile(env.ResultFile(n, action.FileGeneral))
		}
	}
	r.OK = same
	return nil
}

const compareBlock = 64 << 10

// compare gives the offset of the first difference.
func compare(ctx context.Context, env *action.Env, names [2]string) (int64, bool, error) {
	var in [2]io.ReadCloser
	for i, n := range names {
		info, ok, err := found(ctx, env, n)
		switch {
		case err != nil:
			return 0, false, err
		case !ok:
			return 0, false, &engine.Error{Message: fmt.Sprintf("there is no file %s to compare", n)}
		case info.Folder:
			return 0, false, &engine.Error{Message: fmt.Sprintf("%s is a folder, not a file", n)}
		}
		if in[i], err = env.Files.Open(ctx, n); err != nil {
			return 0, false, err
		}
		defer in[i].Close()
	}
	var blocks [2][compareBlock]byte
	for offset := int64(0); ; {
		if ctx.Err() != nil {
			return offset, false, context.Cause(ctx)
		}
		n, err := fill(in[0], blocks[0][:])
		m, err2 := fill(in[1], blocks[1][:])
		if err = errors.Join(err, err2); err != nil {
			return offset, false, err
		}
		a, b := blocks[0][:n], blocks[1][:m]
		if !bytes.Equal(a, b) {
			k := 0
			for k < min(n, m) && a[k] == b[k] {
				k++
			}
			return offset + int64(k), false, nil
		}
		if n < compareBlock {
			return 0, true, nil
		}
		offset += int64(n)
	}
}

// fill reads until the block is full or the file ends.
func fill(r io.Reader, block []byte) (int, error) {
	n, err := io.ReadFull(r, block)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// FolderIsEmpty is a success when a folder has no file, or none that matches.
// Folders in it do not count.
var FolderIsEmpty = action.Define[FolderIsEmptySettings](action.About{
	ID:        "FOLDER_IS_EMPTY",
	Name:      "Check if a folder is empty",
	Category:  action.CategoryFlow,
	Summary:   "Look whether a folder has files.",
	ReadsOnly: true,
})

// FolderIsEmptySettings lists the settings in the order the form shows them.
type FolderIsEmptySettings struct {
	Folder     transform.Expr[string] `hop:"foldername" form:"folder" required:"true"`
	Subfolders bool                   `hop:"include_subfolders" label:"Include subfolders"`
	UseMask    bool                   `hop:"specify_wildcard" label:"Count only files that match"`
	Mask       transform.Expr[string] `hop:"wildcard" help:"Regular expression on the base name"`
}

// Run implements action.Settings.
func (s *FolderIsEmptySettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	name, err := named(env, s.Folder, "folder")
	if err != nil {
		return err
	}
	pattern := ""
	if s.UseMask {
		if pattern, err = s.Mask.Eval(env); err != nil {
			return err
		}
	}
	match, err := newMatcher(pattern, "")
	if err != nil {
		return err
	}
	info, ok, err := found(ctx, env, name)
	switch {
	case err != nil:
		return err
	case !ok:
		return &engine.Error{Message: fmt.Sprintf("there is no folder %s", name)}
	case !info.Folder:
		return &engine.Error{Message: fmt.Sprintf("%s is a file, no folder", name)}
	}
	list, err := matching(ctx, env, info, match, s.Subfolders)
	if err != nil {
		return err
	}
	env.Log.Info("Counted files", "folder", name, "files", len(list))
	r.OK = len(list) == 0
	return nil
}
