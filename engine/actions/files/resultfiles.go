package files

import (
	"context"
	"fmt"
	"slices"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// AddResultFilenames adds files, or the files of folders that match, to the
// result files.
var AddResultFilenames = action.Define[AddResultFilenamesSettings](action.About{
	ID:        "ADD_RESULT_FILENAMES",
	Name:      "Add filenames to result",
	Category:  action.CategoryFiles,
	Summary:   "Add files to the result files.",
	ReadsOnly: true,
})

// AddResultFilenamesSettings lists the settings in the order the form shows them.
type AddResultFilenamesSettings struct {
	FromPrevious bool            `hop:"arg_from_previous" label:"Take files and masks from the result rows"`
	Subfolders   bool            `hop:"include_subfolders" label:"Include subfolders"`
	Clear        bool            `hop:"delete_all_before" label:"Clear the result files before"`
	Files        []MaskedPattern `hop:"fields>field"`
}

// Run implements action.Settings.
func (s *AddResultFilenamesSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	list, err := maskedList(env, r, s.FromPrevious, s.Files)
	if err != nil {
		return err
	}
	if s.Clear {
		r.ResultFiles = nil
	}
	t := &tally{env: env}
	for _, f := range list {
		if err := s.add(ctx, env, r, f[0], f[1]); err != nil {
			t.fail("Could not add file", f[0], err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	t.settle(r, noErrors, 0)
	return nil
}

func (s *AddResultFilenamesSettings) add(ctx context.Context, env *action.Env, r *action.Result, name, pattern string) error {
	match, err := newMatcher(pattern, "")
	if err != nil {
		return err
	}
	info, err := mustFind(ctx, env, name)
	if err != nil {
		return err
	}
	list, err := matching(ctx, env, info, match, s.Subfolders)
	for _, f := range list {
		r.AddFile(env.ResultFile(f.Path, action.FileGeneral))
	}
	return err
}

// CopyMoveResultFilenames copies, moves or deletes the result files.
var CopyMoveResultFilenames = action.Define[CopyMoveResultFilenamesSettings](action.About{
	ID:       "COPY_MOVE_RESULT_FILENAMES",
	Name:     "Process result filenames",
	Category: action.CategoryFiles,
	Summary:  "Copy, move or delete the result files.",
	Targets:  []string{"destination_folder"},
})

// FileOperation is what is done with result files.
type FileOperation string

// Choices implements transform.Choices.
func (FileOperation) Choices() []transform.Choice {
	return []transform.Choice{{Code: "copy", Label: "copy"}, {Code: "move", Label: "move"}, {Code: "delete", Label: "delete"}}
}

// CopyMoveResultFilenamesSettings lists the settings in the order the form shows
// them.
type CopyMoveResultFilenamesSettings struct {
	Operation       FileOperation          `hop:"action" default:"copy" label:"Action"`
	LegacyFolder    string                 `hop:"foldername" advanced:"true" help:"Of old versions; has no effect"`
	Destination     transform.Expr[string] `hop:"destination_folder" form:"folder" label:"Target folder"`
	CreateFolder    bool                   `hop:"CreateDestinationFolder" label:"Create the target folder"`
	Overwrite       bool                   `hop:"OverwriteFile" label:"Overwrite files"`
	RemoveName      bool                   `hop:"RemovedSourceFilename" label:"Take the sources out of the result files"`
	AddName         bool                   `hop:"AddDestinationFilename" label:"Add the targets to the result files"`
	UseMask         bool                   `hop:"specify_wildcard" label:"Only files that match"`
	Include         transform.Expr[string] `hop:"wildcard" label:"Mask" help:"Regular expression on the base name"`
	Exclude         transform.Expr[string] `hop:"wildcardexclude" label:"Mask of files to leave out"`
	AddDate         bool                   `hop:"add_date" label:"Add the date"`
	AddTime         bool                   `hop:"add_time" label:"Add the time"`
	UseFormat       bool                   `hop:"SpecifyFormat" label:"Add date and time by format"`
	Format          transform.Expr[string] `hop:"date_time_format" form:"mask"`
	BeforeExtension bool                   `hop:"AddDateBeforeExtension" label:"Before the extension"`
	Condition       SuccessCondition       `hop:"success_condition" default:"success_if_no_errors" label:"Success when"`
	Limit           transform.Expr[int64]  `hop:"nr_errors_less_than" default:"10" label:"Number of files or errors"`
}

// Run implements action.Settings.
func (s *CopyMoveResultFilenamesSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	limit, err := s.Limit.Or(env, 0)
	if err != nil {
		return err
	}
	text, err := texts(env, s.Include, s.Exclude, s.Format, s.Destination)
	if err != nil {
		return err
	}
	if !s.UseMask {
		text[0], text[1] = "", ""
	}
	match, err := newMatcher(text[0], text[1])
	if err != nil {
		return err
	}
	if s.Operation != "delete" {
		if text[3], err = named(env, s.Destination, "target folder"); err != nil {
			return err
		}
		if err := targetFolder(ctx, env, text[3], s.CreateFolder); err != nil {
			return err
		}
	}
	t := &tally{env: env}
	st := stamp{date: s.AddDate, time: s.AddTime, format: s.UseFormat, pattern: text[2], beforeExtension: s.BeforeExtension, timePattern: hourPattern}
	for _, f := range slices.Clone(r.ResultFiles) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.process(ctx, env, r, f.Path, text[3], match, st, t); err != nil {
			t.fail("Could not "+string(s.Operation)+" result file", f.Path, err)
		}
	}
	t.settle(r, s.Condition, limit)
	return nil
}

func (s *CopyMoveResultFilenamesSettings) process(ctx context.Context, env *action.Env, r *action.Result, path, folder string, match matcher, st stamp, t *tally) error {
	source, err := mustFind(ctx, env, path)
	if err != nil {
		return err
	}
	if !match.matches(source.Name) {
		return nil
	}
	forget := func() {
		if s.RemoveName {
			r.ResultFiles = slices.DeleteFunc(r.ResultFiles, func(f transform.ResultFile) bool { return f.Path == path })
		}
	}
	if s.Operation == "delete" {
		if err := env.Files.Remove(ctx, path); err != nil {
			return err
		}
		t.done++
		forget()
		return nil
	}
	name, err := st.apply(source.Name, env.Now().In(env.Location), env)
	if err != nil {
		return err
	}
	to := below(folder, name)
	existing, exists, err := found(ctx, env, to)
	switch {
	case err != nil:
		return err
	case exists && existing.Path == source.Path:
		return fmt.Errorf("source and target are the same file")
	case exists && !s.Overwrite:
		env.Log.Info("Target exists and stays as it is", "file", to)
		return nil
	case s.Operation == "move":
		err = moveFile(ctx, env, path, to)
	default:
		err = copyFile(ctx, env, path, to)
	}
	if err != nil {
		return err
	}
	t.done++
	forget()
	if s.AddName {
		r.AddFile(env.ResultFile(to, action.FileGeneral))
	}
	return nil
}
