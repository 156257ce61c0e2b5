package files

import (
	"context"
	"fmt"
	"regexp"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// CopyFiles copies files and the files of folders. What exists at the target
// stays unless it is to be overwritten.
var CopyFiles = action.Define[CopyFilesSettings](action.About{
	ID:       "COPY_FILES",
	Name:     "Copy files",
	Category: action.CategoryFiles,
	Summary:  "Copy files and folders.",
	Targets:  []string{"fields>field>destination_filefolder"},
})

// CopyFilesSettings lists the settings in the order the form shows them.
type CopyFilesSettings struct {
	FromPrevious      bool         `hop:"arg_from_previous" label:"Take sources, targets and masks from the result rows"`
	Subfolders        bool         `hop:"include_subfolders" label:"Include subfolders"`
	EmptyFolders      bool         `hop:"copy_empty_folders" label:"Copy empty folders"`
	Overwrite         bool         `hop:"overwrite_files" label:"Overwrite files"`
	RemoveSource      bool         `hop:"remove_source_files" label:"Delete the sources afterwards"`
	DestinationIsFile bool         `hop:"destination_is_a_file" label:"The target is a file"`
	CreateFolder      bool         `hop:"create_destination_folder" label:"Create the target folder"`
	AddResult         bool         `hop:"add_result_filesname" label:"Add to the result files"`
	Files             []FileToCopy `hop:"fields>field"`
}

// FileToCopy is one source and its target.
type FileToCopy struct {
	Source            transform.Expr[string] `hop:"source_filefolder" form:"file" required:"true" label:"Source file or folder"`
	SourceConfig      string                 `hop:"source_configuration_name" advanced:"true" help:"Kind of location as Hop's form shows it; has no effect"`
	Destination       transform.Expr[string] `hop:"destination_filefolder" form:"file" required:"true" label:"Target file or folder"`
	DestinationConfig string                 `hop:"destination_configuration_name" advanced:"true" help:"Kind of location as Hop's form shows it; has no effect"`
	Mask              transform.Expr[string] `hop:"wildcard" help:"Regular expression on the base name"`
}

// locationPrefix is what Hop's form puts before a location.
var locationPrefix = regexp.MustCompile(`^EMPTY_(SOURCE|DEST)_URL-\d+-`)

func triples(env *action.Env, r *action.Result, fromPrevious bool, list []FileToCopy) ([][]string, error) {
	if fromPrevious {
		return fromRows(env, r, 3)
	}
	var out [][]string
	for _, f := range list {
		f.Source.Text = locationPrefix.ReplaceAllString(f.Source.Text, "")
		f.Destination.Text = locationPrefix.ReplaceAllString(f.Destination.Text, "")
		triple, err := texts(env, f.Source, f.Destination, f.Mask)
		if err != nil {
			return nil, err
		}
		if triple[0] == "" || triple[1] == "" {
			return nil, &engine.Error{Message: "a source or a target is empty", Hint: "give both; check the variables in them"}
		}
		out = append(out, triple)
	}
	return out, nil
}

// Run implements action.Settings.
func (s *CopyFilesSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	list, err := triples(env, r, s.FromPrevious, s.Files)
	if err != nil {
		return err
	}
	t := &tally{env: env}
	for _, f := range list {
		if err := s.copy(ctx, env, r, f[0], f[1], f[2], t); err != nil {
			t.fail("Could not copy", f[0], err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	t.settle(r, noErrors, 0)
	return nil
}

func (s *CopyFilesSettings) copy(ctx context.Context, env *action.Env, r *action.Result, from, to, pattern string, t *tally) error {
	match, err := newMatcher(pattern, "")
	if err != nil {
		return err
	}
	source, err := mustFind(ctx, env, from)
	if err != nil {
		return err
	}
	if s.DestinationIsFile && source.Folder {
		return fmt.Errorf("the source is a folder, but the target %s is to be a file", to)
	}
	folder := to
	if s.DestinationIsFile {
		folder = parent(to)
	}
	if err := targetFolder(ctx, env, folder, s.CreateFolder); err != nil {
		return err
	}
	switch {
	case s.DestinationIsFile:
		s.one(ctx, env, r, source, to, t)
	case !source.Folder:
		s.one(ctx, env, r, source, below(to, source.Name), t)
	default:
		return s.tree(ctx, env, r, source, to, match, t)
	}
	return nil
}

// mustFind looks for a source; the error says that it is not there.
func mustFind(ctx context.Context, env *action.Env, location string) (files.Info, error) {
	info, ok, err := found(ctx, env, location)
	if err == nil && !ok {
		err = fmt.Errorf("there is no file or folder %s", location)
	}
	return info, err
}

// targetFolder makes sure that a folder is there.
func targetFolder(ctx context.Context, env *action.Env, folder string, create bool) error {
	if folder == "" {
		return nil
	}
	info, ok, err := found(ctx, env, folder)
	switch {
	case err != nil:
		return err
	case ok && !info.Folder:
		return fmt.Errorf("the target %s is a file, no folder", folder)
	case ok:
		return nil
	case !create:
		return &engine.Error{Message: fmt.Sprintf("there is no target folder %s", folder), Hint: "let the action create it"}
	}
	return env.Files.MakeFolder(ctx, folder)
}

func (s *CopyFilesSettings) tree(ctx context.Context, env *action.Env, r *action.Result, source files.Info, to string, match matcher, t *tally) error {
	all, err := entries(ctx, env, source, s.Subfolders)
	if err != nil {
		return err
	}
	for _, e := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		target := below(to, e.relative)
		switch {
		case e.Folder:
			if s.Subfolders && s.EmptyFolders {
				if err := targetFolder(ctx, env, target, true); err != nil {
					t.fail("Could not create folder", target, err)
				}
			}
		case match.matches(e.Name):
			if s.Subfolders {
				if err := targetFolder(ctx, env, parent(target), true); err != nil {
					t.fail("Could not create folder", parent(target), err)
					continue
				}
			}
			s.one(ctx, env, r, e.Info, target, t)
		}
	}
	return nil
}

// one copies a file.
func (s *CopyFilesSettings) one(ctx context.Context, env *action.Env, r *action.Result, source files.Info, to string, t *tally) {
	existing, exists, err := found(ctx, env, to)
	switch {
	case err != nil:
		t.fail("Could not look for target", to, err)
		return
	case exists && existing.Folder:
		t.fail("Could not copy", source.Path, fmt.Errorf("the target %s is a folder", to))
		return
	case exists && existing.Path == source.Path:
		t.fail("Could not copy", source.Path, fmt.Errorf("source and target are the same file"))
		return
	case exists && !s.Overwrite:
		env.Log.Info("Target exists and stays as it is", "file", to)
		return
	}
	if err := copyFile(ctx, env, source.Path, to); err != nil {
		t.fail("Could not copy", source.Path, err)
		return
	}
	t.done++
	if s.RemoveSource {
		if err := env.Files.Remove(ctx, source.Path); err != nil {
			t.fail("Copied, but could not delete the source", source.Path, err)
		}
	}
	if s.AddResult {
		r.AddFile(env.ResultFile(to, action.FileGeneral))
	}
}
