package files

import (
	"context"
	"fmt"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/transform"
)

// DeleteFile deletes one file.
var DeleteFile = action.Define[DeleteFileSettings](action.About{
	ID:       "DELETE_FILE",
	Name:     "Delete file",
	Category: action.CategoryFiles,
	Summary:  "Delete a file.",
	Targets:  []string{"filename"},
})

// DeleteFileSettings lists the settings in the order the form shows them.
type DeleteFileSettings struct {
	File   transform.Expr[string] `hop:"filename" form:"file" required:"true"`
	FailIf bool                   `hop:"fail_if_file_not_exists" label:"Fail if it does not exist"`
}

// Run implements action.Settings.
func (s *DeleteFileSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	name, err := named(env, s.File, "file")
	if err != nil {
		return err
	}
	info, ok, err := found(ctx, env, name)
	switch {
	case err != nil:
		return err
	case !ok && s.FailIf:
		return &engine.Error{Message: fmt.Sprintf("there is no file %s to delete", name)}
	case ok && info.Folder:
		return &engine.Error{Message: fmt.Sprintf("%s is a folder", name), Hint: "delete it with the Delete folders action"}
	case ok:
		if err := env.Files.Remove(ctx, name); err != nil {
			return fmt.Errorf("delete file %s: %w", name, err)
		}
	}
	r.Succeed()
	return nil
}

// DeleteFiles deletes files, or the files of folders that match. What is not
// there is no error; folders stay.
var DeleteFiles = action.Define[DeleteFilesSettings](action.About{
	ID:       "DELETE_FILES",
	Name:     "Delete files",
	Category: action.CategoryFiles,
	Summary:  "Delete files and the files of folders.",
	Targets:  []string{"fields>field>name"},
})

// DeleteFilesSettings lists the settings in the order the form shows them.
type DeleteFilesSettings struct {
	FromPrevious bool            `hop:"arg_from_previous" label:"Take files and masks from the result rows"`
	Subfolders   bool            `hop:"include_subfolders" label:"Include subfolders"`
	Files        []MaskedPattern `hop:"fields>field"`
}

// Run implements action.Settings.
func (s *DeleteFilesSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	list, err := maskedList(env, r, s.FromPrevious, s.Files)
	if err != nil {
		return err
	}
	t := &tally{env: env}
	for _, f := range list {
		s.delete(ctx, env, f[0], f[1], t)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	t.settle(r, noErrors, 0)
	return nil
}

// maskedList gives pairs of file or folder and mask, from the settings or from
// the result rows.
func maskedList(env *action.Env, r *action.Result, fromRowsOnly bool, list []MaskedPattern) ([][]string, error) {
	if fromRowsOnly {
		return fromRows(env, r, 2)
	}
	var out [][]string
	for _, f := range list {
		pair, err := texts(env, f.Name, f.Mask)
		if err != nil {
			return nil, err
		}
		out = append(out, pair)
	}
	return out, nil
}

func (s *DeleteFilesSettings) delete(ctx context.Context, env *action.Env, name, pattern string, t *tally) {
	match, err := newMatcher(pattern, "")
	if err != nil {
		t.fail("Could not delete files", name, err)
		return
	}
	info, ok, err := found(ctx, env, name)
	if err != nil {
		t.fail("Could not look for files to delete", name, err)
		return
	}
	if !ok {
		return
	}
	list, err := matching(ctx, env, info, match, s.Subfolders)
	if err != nil {
		t.fail("Could not list files to delete", name, err)
		return
	}
	for _, f := range list {
		if err := env.Files.Remove(ctx, f.Path); err != nil {
			t.fail("Could not delete file", f.Path, err)
			continue
		}
		t.done++
	}
}

// DeleteFolders deletes folders with all they hold. One that is not there is no
// error.
var DeleteFolders = action.Define[DeleteFoldersSettings](action.About{
	ID:       "DELETE_FOLDERS",
	Name:     "Delete folders",
	Category: action.CategoryFiles,
	Summary:  "Delete folders with all they hold.",
	Targets:  []string{"fields>field>name"},
})

// DeleteFoldersSettings lists the settings in the order the form shows them.
type DeleteFoldersSettings struct {
	FromPrevious bool                  `hop:"arg_from_previous" label:"Take folders from the result rows"`
	Folders      []FolderToDelete      `hop:"fields>field"`
	Condition    SuccessCondition      `hop:"success_condition" default:"success_if_no_errors" label:"Success when"`
	Limit        transform.Expr[int64] `hop:"limit_folders" default:"10" label:"Number of folders or errors"`
}

// FolderToDelete is one folder.
type FolderToDelete struct {
	Name transform.Expr[string] `hop:"name" form:"folder" required:"true"`
}

// Run implements action.Settings.
func (s *DeleteFoldersSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	limit, err := s.Limit.Or(env, 0)
	if err != nil {
		return err
	}
	list, err := s.list(env, r)
	if err != nil {
		return err
	}
	t := &tally{env: env}
	for _, name := range list {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		info, ok, err := found(ctx, env, name)
		switch {
		case err != nil:
			t.fail("Could not look for folder to delete", name, err)
		case ok && !info.Folder:
			t.fail("Could not delete folder", name, fmt.Errorf("it is a file"))
		case ok:
			if err := env.Files.RemoveAll(ctx, name); err != nil {
				t.fail("Could not delete folder", name, err)
				continue
			}
			t.done++
		default:
			t.done++
		}
	}
	t.settle(r, s.Condition, limit)
	return nil
}

func (s *DeleteFoldersSettings) list(env *action.Env, r *action.Result) ([]string, error) {
	var names []string
	if s.FromPrevious {
		rows, err := fromRows(env, r, 1)
		for _, row := range rows {
			names = append(names, row[0])
		}
		return names, err
	}
	for _, f := range s.Folders {
		name, err := named(env, f.Name, "folder")
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
