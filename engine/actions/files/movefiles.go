package files

import (
	"context"
	"fmt"
	"slices"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// MoveFiles moves files and the files of folders. What happens when the target
// exists is a setting; nothing, when it is missing.
var MoveFiles = action.Define[MoveFilesSettings](action.About{
	ID:       "MOVE_FILES",
	Name:     "Move files",
	Category: action.CategoryFiles,
	Summary:  "Move files and folders.",
	Targets:  []string{"fields>field>destination_filefolder"},
})

// IfExists says what happens when the target exists.
type IfExists string

const (
	doNothing  IfExists = "do_nothing"
	overwrite  IfExists = "overwrite_file"
	uniqueName IfExists = "unique_name"
	deleteFile IfExists = "delete_file"
	moveAway   IfExists = "move_file"
	failIf     IfExists = "fail"
)

// Choices implements transform.Choices.
func (IfExists) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(doNothing), Label: "do nothing"},
		{Code: string(overwrite), Label: "overwrite it"},
		{Code: string(uniqueName), Label: "give the file another name"},
		{Code: string(deleteFile), Label: "delete the source"},
		{Code: string(moveAway), Label: "move the source to a folder"},
		{Code: string(failIf), Label: "fail"},
	}
}

// MoveFilesSettings lists the settings in the order the form shows them.
type MoveFilesSettings struct {
	FromPrevious      bool                   `hop:"arg_from_previous" label:"Take sources, targets and masks from the result rows"`
	Subfolders        bool                   `hop:"include_subfolders" label:"Include subfolders"`
	EmptyFolders      bool                   `hop:"move_empty_folders" label:"Move empty folders"`
	Simulate          bool                   `hop:"simulate" label:"Only tell what would be moved"`
	Files             []FileToCopy           `hop:"fields>field"`
	DestinationIsFile bool                   `hop:"destination_is_a_file" label:"The target is a file"`
	CreateFolder      bool                   `hop:"create_destination_folder" label:"Create the target folder"`
	Flat              bool                   `hop:"DoNotKeepFolderStructure" label:"Do not keep the folder structure"`
	AddDate           bool                   `hop:"add_date" label:"Add the date"`
	AddTime           bool                   `hop:"add_time" label:"Add the time"`
	UseFormat         bool                   `hop:"SpecifyFormat" label:"Add date and time by format"`
	Format            transform.Expr[string] `hop:"date_time_format" form:"mask"`
	BeforeExtension   bool                   `hop:"AddDateBeforeExtension" label:"Before the extension"`
	IfExists          IfExists               `hop:"iffileexists" default:"do_nothing" label:"If the target exists"`
	MoveTo            transform.Expr[string] `hop:"destinationFolder" form:"folder" label:"Folder to move to then"`
	CreateMoveTo      bool                   `hop:"create_move_to_folder" label:"Create that folder"`
	MovedAddDate      bool                   `hop:"add_moved_date" label:"Add the date there"`
	MovedAddTime      bool                   `hop:"add_moved_time" label:"Add the time there"`
	MovedUseFormat    bool                   `hop:"SpecifyMoveFormat" label:"Add date and time by format there"`
	MovedFormat       transform.Expr[string] `hop:"moved_date_time_format" form:"mask"`
	MovedBeforeExt    bool                   `hop:"AddMovedDateBeforeExtension" label:"Before the extension there"`
	IfMovedExists     IfExists               `hop:"ifmovedfileexists" default:"do_nothing" label:"If the file exists there"`
	AddResult         bool                   `hop:"add_result_filesname" label:"Add to the result files"`
	Condition         SuccessCondition       `hop:"success_condition" default:"success_if_no_errors" label:"Success when"`
	Limit             transform.Expr[int64]  `hop:"nr_errors_less_than" default:"10" label:"Number of files or errors"`
}

// moveRun is one run of the action.
type moveRun struct {
	s              *MoveFilesSettings
	env            *action.Env
	r              *action.Result
	t              *tally
	stamp, moved   stamp
	moveTo         string
	ifExists, then IfExists
}

// hourPattern is the time that the actions on several files add to names.
const hourPattern = "HHmmssSSS"

// Run implements action.Settings.
func (s *MoveFilesSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	limit, err := s.Limit.Or(env, 0)
	if err != nil {
		return err
	}
	list, err := triples(env, r, s.FromPrevious, s.Files)
	if err != nil {
		return err
	}
	text, err := texts(env, s.Format, s.MovedFormat, s.MoveTo)
	if err != nil {
		return err
	}
	m := &moveRun{
		s: s, env: env, r: r, t: &tally{env: env}, moveTo: text[2], ifExists: s.IfExists, then: s.IfMovedExists,
		stamp: stamp{date: s.AddDate, time: s.AddTime, format: s.UseFormat, pattern: text[0], beforeExtension: s.BeforeExtension, timePattern: hourPattern},
		moved: stamp{date: s.MovedAddDate, time: s.MovedAddTime, format: s.MovedUseFormat, pattern: text[1], beforeExtension: s.MovedBeforeExt, timePattern: hourPattern},
	}
	if m.ifExists == moveAway {
		if m.moveTo == "" {
			return fmt.Errorf("no folder is named to move files to that exist at their target")
		}
		if err := targetFolder(ctx, env, m.moveTo, s.CreateMoveTo); err != nil {
			return err
		}
	}
	for _, f := range list {
		if err := m.move(ctx, f[0], f[1], f[2]); err != nil {
			m.t.fail("Could not move", f[0], err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	m.t.settle(r, s.Condition, limit)
	return nil
}

func (m *moveRun) move(ctx context.Context, from, to, pattern string) error {
	match, err := newMatcher(pattern, "")
	if err != nil {
		return err
	}
	source, err := mustFind(ctx, m.env, from)
	if err != nil {
		return err
	}
	if m.s.DestinationIsFile {
		if source.Folder {
			return fmt.Errorf("the source is a folder, but the target %s is to be a file", to)
		}
		if err := targetFolder(ctx, m.env, parent(to), m.s.CreateFolder); err != nil {
			return err
		}
		m.one(ctx, source, to)
		return nil
	}
	if err := targetFolder(ctx, m.env, to, m.s.CreateFolder); err != nil {
		return err
	}
	if !source.Folder {
		return m.into(ctx, source, to, source.Name)
	}
	return m.tree(ctx, source, to, match)
}

// into moves a file to a name in a folder, with date and time added to it.
func (m *moveRun) into(ctx context.Context, source files.Info, folder, relative string) error {
	name, err := m.stamp.apply(relative, m.env.Now().In(m.env.Location), m.env)
	if err != nil {
		return err
	}
	m.one(ctx, source, below(folder, name))
	return nil
}

func (m *moveRun) tree(ctx context.Context, source files.Info, to string, match matcher) error {
	all, err := entries(ctx, m.env, source, m.s.Subfolders)
	if err != nil {
		return err
	}
	var folders []entry
	for _, e := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.Folder {
			folders = append(folders, e)
			continue
		}
		if !match.matches(e.Name) {
			continue
		}
		relative := e.relative
		if m.s.Flat {
			relative = e.Name
		}
		if folder := parent(below(to, relative)); folder != to && !m.s.Simulate {
			if err := targetFolder(ctx, m.env, folder, true); err != nil {
				m.t.fail("Could not create folder", folder, err)
				continue
			}
		}
		if err := m.into(ctx, e.Info, to, relative); err != nil {
			return err
		}
	}
	if m.s.Subfolders && m.s.EmptyFolders && !m.s.Simulate {
		m.emptyFolders(ctx, folders, to)
	}
	return nil
}

// emptyFolders moves the folders that are empty now, the deepest first.
func (m *moveRun) emptyFolders(ctx context.Context, folders []entry, to string) {
	for _, f := range slices.Backward(folders) {
		rest, err := m.env.Files.List(ctx, f.Path, false)
		if err != nil || len(rest) > 0 {
			continue
		}
		if !m.s.Flat {
			if err := targetFolder(ctx, m.env, below(to, f.relative), true); err != nil {
				m.t.fail("Could not create folder", below(to, f.relative), err)
				continue
			}
		}
		if err := m.env.Files.Remove(ctx, f.Path); err != nil {
			m.t.fail("Could not remove folder", f.Path, err)
		}
	}
}

// one moves a file, or does what is to be done when the target exists.
func (m *moveRun) one(ctx context.Context, source files.Info, to string) {
	existing, exists, err := found(ctx, m.env, to)
	switch {
	case err != nil:
		m.t.fail("Could not look for target", to, err)
		return
	case exists && existing.Path == source.Path:
		m.t.fail("Could not move", source.Path, fmt.Errorf("source and target are the same file"))
		return
	case exists && existing.Folder:
		m.t.fail("Could not move", source.Path, fmt.Errorf("the target %s is a folder", to))
		return
	case !exists:
		m.to(ctx, source, to)
		return
	}
	switch m.ifExists {
	case overwrite:
		m.to(ctx, source, to)
	case uniqueName:
		m.renamed(ctx, source, to)
	case deleteFile:
		m.remove(ctx, source)
	case moveAway:
		m.away(ctx, source)
	case failIf:
		m.t.fail("Could not move", source.Path, fmt.Errorf("the target %s exists", to))
	default:
		m.env.Log.Info("Target exists, the file stays", "file", source.Path, "target", to)
	}
}

func (m *moveRun) renamed(ctx context.Context, source files.Info, to string) {
	name, err := unique(ctx, m.env, to)
	if err != nil {
		m.t.fail("Could not find a name", to, err)
		return
	}
	m.to(ctx, source, name)
}

func (m *moveRun) remove(ctx context.Context, source files.Info) {
	m.env.Log.Info("Target exists, the source is deleted", "file", source.Path, "simulated", m.s.Simulate)
	if m.s.Simulate {
		return
	}
	if err := m.env.Files.Remove(ctx, source.Path); err != nil {
		m.t.fail("Could not delete", source.Path, err)
		return
	}
	m.t.done++
}

// away moves a file, whose target exists, to the folder for such files.
func (m *moveRun) away(ctx context.Context, source files.Info) {
	name, err := m.moved.apply(source.Name, m.env.Now().In(m.env.Location), m.env)
	if err != nil {
		m.t.fail("Could not find a name", source.Path, err)
		return
	}
	to := below(m.moveTo, name)
	_, exists, err := found(ctx, m.env, to)
	switch {
	case err != nil:
		m.t.fail("Could not look for target", to, err)
	case !exists, m.then == overwrite:
		m.to(ctx, source, to)
	case m.then == uniqueName:
		m.renamed(ctx, source, to)
	case m.then == failIf:
		m.t.fail("Could not move", source.Path, fmt.Errorf("%s exists too", to))
	default:
		m.env.Log.Info("Target exists, the file stays", "file", source.Path, "target", to)
	}
}

func (m *moveRun) to(ctx context.Context, source files.Info, to string) {
	m.env.Log.Log(ctx, engine.LevelDetailed, "Moving file", "file", source.Path, "target", to, "simulated", m.s.Simulate)
	if !m.s.Simulate {
		if err := moveFile(ctx, m.env, source.Path, to); err != nil {
			m.t.fail("Could not move", source.Path, err)
			return
		}
		if m.s.AddResult {
			m.r.AddFile(m.env.ResultFile(to, action.FileGeneral))
		}
	}
	m.t.done++
}
