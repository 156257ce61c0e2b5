package files

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// Unzip unpacks a zip archive, or all archives of a folder that match.
var Unzip = action.Define[UnzipSettings](action.About{
	ID:       "UNZIP",
	Name:     "Unzip file",
	Category: action.CategoryFiles,
	Summary:  "Unpack zip archives.",
	Targets:  []string{"targetdirectory"},
})

// IfUnpacked says what happens when a file exists.
type IfUnpacked string

// Choices implements transform.Choices.
func (IfUnpacked) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "0", Label: "skip it"},
		{Code: "1", Label: "overwrite it"},
		{Code: "2", Label: "give the new one another name"},
		{Code: "3", Label: "fail"},
		{Code: "4", Label: "overwrite if the size differs"},
		{Code: "5", Label: "overwrite if the size is equal"},
		{Code: "6", Label: "overwrite if the new one is larger"},
		{Code: "7", Label: "overwrite if the new one is larger or equal"},
		{Code: "8", Label: "overwrite if the new one is smaller"},
		{Code: "9", Label: "overwrite if the new one is smaller or equal"},
	}
}

const (
	unpackUnique IfUnpacked = "2"
	unpackFail   IfUnpacked = "3"
)

// replaces says whether an existing file is overwritten.
func (c IfUnpacked) replaces(fresh, existing int64) bool {
	switch c {
	case "1":
		return true
	case "4":
		return fresh != existing
	case "5":
		return fresh == existing
	case "6":
		return fresh > existing
	case "7":
		return fresh >= existing
	case "8":
		return fresh < existing
	case "9":
		return fresh <= existing
	}
	return false
}

// UnzipSettings lists the settings in the order the form shows them.
type UnzipSettings struct {
	FromPrevious bool                   `hop:"isfromprevious" label:"Take archives from the result rows"`
	Archive      transform.Expr[string] `hop:"zipfilename" form:"file" label:"Archive or folder of archives"`
	SourceMask   transform.Expr[string] `hop:"wildcardSource" label:"Mask of the archives" help:"Regular expression on the base name"`
	RootFolder   bool                   `hop:"rootzip" label:"Unpack each archive into a folder of its name"`
	Target       transform.Expr[string] `hop:"targetdirectory" form:"folder" label:"Target folder"`
	CreateTarget bool                   `hop:"createfolder" label:"Create the target folder"`
	Include      transform.Expr[string] `hop:"wildcard" label:"Mask of the files" help:"Regular expression"`
	Exclude      transform.Expr[string] `hop:"wildcardexclude" label:"Mask of files to leave out"`
	AddDate      bool                   `hop:"adddate" label:"Add the date"`
	AddTime      bool                   `hop:"addtime" label:"Add the time"`
	UseFormat    bool                   `hop:"SpecifyFormat" label:"Add date and time by format"`
	Format       transform.Expr[string] `hop:"date_time_format" form:"mask"`
	AddOriginal  bool                   `hop:"addOriginalTimestamp" label:"Add the file's own time"`
	KeepTime     bool                   `hop:"setOriginalModificationDate" advanced:"true" label:"Keep the file's own time" help:"Has no effect here"`
	IfExists     IfUnpacked             `hop:"iffileexists" default:"1" label:"If a file exists"`
	After        AfterArchive           `hop:"afterunzip" default:"0" label:"Then, the archive"`
	MoveTo       transform.Expr[string] `hop:"movetodirectory" form:"folder" label:"Folder to move it to"`
	CreateMoveTo bool                   `hop:"create_move_to_directory" label:"Create that folder"`
	AddResult    bool                   `hop:"addfiletoresult" label:"Add to the result files"`
	Condition    SuccessCondition       `hop:"success_condition" default:"success_if_no_errors" label:"Success when"`
	Limit        transform.Expr[int64]  `hop:"nr_limit" default:"10" label:"Number of files or errors"`
}

// unzipRun is one run of the action.
type unzipRun struct {
	s              *UnzipSettings
	env            *action.Env
	r              *action.Result
	t              *tally
	target, moveTo string
	match          matcher
	stamp          stamp
}

// Run implements action.Settings.
func (s *UnzipSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	limit, err := s.Limit.Or(env, 0)
	if err != nil {
		return err
	}
	text, err := texts(env, s.Include, s.Exclude, s.Format, s.MoveTo, s.Target, s.SourceMask)
	if err != nil {
		return err
	}
	u := &unzipRun{s: s, env: env, r: r, t: &tally{env: env}, target: text[4], moveTo: text[3]}
	u.stamp = stamp{date: s.AddDate, time: s.AddTime, format: s.UseFormat, pattern: text[2], beforeExtension: true, timePattern: hourPattern}
	if u.match, err = newMatcher(text[0], text[1]); err != nil {
		return err
	}
	if s.After == afterMove {
		if u.moveTo == "" {
			return &engine.Error{Message: "no folder is named to move the archives to"}
		}
		if err := targetFolder(ctx, env, u.moveTo, s.CreateMoveTo); err != nil {
			return err
		}
	}
	archives, err := u.archives(ctx, text[5])
	if err != nil {
		return err
	}
	for _, a := range archives {
		if err := u.unpack(ctx, a); err != nil {
			u.t.fail("Could not unpack", a.Path, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	u.t.settle(r, s.Condition, limit)
	return nil
}

func (u *unzipRun) archives(ctx context.Context, sourceMask string) ([]files.Info, error) {
	names := [][]string{}
	if u.s.FromPrevious {
		rows, err := fromRows(u.env, u.r, 2)
		if err != nil {
			return nil, err
		}
		names = rows
	} else {
		name, err := named(u.env, u.s.Archive, "archive")
		if err != nil {
			return nil, err
		}
		names = append(names, []string{name, sourceMask})
	}
	var list []files.Info
	for _, n := range names {
		match, err := newMatcher(n[1], "")
		if err != nil {
			return nil, err
		}
		info, err := mustFind(ctx, u.env, n[0])
		if err != nil {
			return nil, err
		}
		found, err := matching(ctx, u.env, info, match, false)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			list = append(list, f.Info)
		}
	}
	return list, nil
}

func (u *unzipRun) unpack(ctx context.Context, source files.Info) error {
	folder := u.target
	if folder == "" {
		folder = parent(source.Path)
	}
	if u.s.RootFolder {
		folder = below(folder, strings.TrimSuffix(source.Name, path.Ext(source.Name)))
	}
	if err := targetFolder(ctx, u.env, folder, u.s.CreateTarget || u.s.RootFolder); err != nil {
		return err
	}
	a, err := openArchive(ctx, u.env, source.Path)
	if err != nil {
		return err
	}
	failed, stopped := u.t.failed, false
	for _, f := range a.File {
		if stopped = ctx.Err() != nil; stopped {
			break
		}
		if err := u.file(ctx, f, folder); err != nil {
			u.t.fail("Could not unpack", f.Name, err)
		}
	}
	a.close()
	if u.t.failed > failed || stopped {
		return nil // the archive stays where it is
	}
	switch u.s.After {
	case afterDelete:
		return u.env.Files.Remove(ctx, source.Path)
	case afterMove:
		return moveFile(ctx, u.env, source.Path, below(u.moveTo, source.Name))
	}
	return nil
}

// file unpacks one entry. A name that would lead out of the folder is refused.
func (u *unzipRun) file(ctx context.Context, f *zip.File, folder string) error {
	name := path.Clean("/" + strings.ReplaceAll(f.Name, `\`, "/"))[1:]
	if strings.Contains("/"+strings.ReplaceAll(f.Name, `\`, "/")+"/", "/../") {
		return errors.New("its name leads out of the target folder")
	}
	if name == "" {
		return nil
	}
	if f.FileInfo().IsDir() {
		return targetFolder(ctx, u.env, below(folder, name), true)
	}
	if !u.match.matches(path.Base(name)) && !u.match.matches(name) {
		return nil
	}
	to, write, err := u.place(ctx, f, folder, name)
	if err != nil || !write {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := writeFile(ctx, u.env, to, files.CreateOptions{Parents: true}, in); err != nil {
		return err
	}
	u.t.done++
	if u.s.AddResult {
		u.r.AddFile(u.env.ResultFile(to, action.FileGeneral))
	}
	return nil
}

// place gives where an entry goes, and whether it is written.
func (u *unzipRun) place(ctx context.Context, f *zip.File, folder, name string) (string, bool, error) {
	st, now := u.stamp, u.env.Now().In(u.env.Location)
	if u.s.AddOriginal {
		st = stamp{date: true, time: true, beforeExtension: true, timePattern: "HHmmss"}
		now = f.Modified
	}
	name, err := st.apply(name, now, u.env)
	if err != nil {
		return "", false, err
	}
	to := below(folder, name)
	existing, exists, err := found(ctx, u.env, to)
	switch {
	case err != nil || !exists:
		return to, err == nil, err
	case existing.Folder:
		return to, false, fmt.Errorf("%s is a folder", to)
	case u.s.IfExists == unpackFail:
		return to, false, fmt.Errorf("%s exists already", to)
	case u.s.IfExists == unpackUnique:
		to, err = unique(ctx, u.env, to)
		return to, err == nil, err
	}
	return to, u.s.IfExists.replaces(int64(f.UncompressedSize64), existing.Size), nil
}
