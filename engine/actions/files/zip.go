package files

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// ZipFile puts files into a zip archive.
var ZipFile = action.Define[ZipFileSettings](action.About{
	ID:       "ZIP_FILE",
	Name:     "Zip file",
	Category: action.CategoryFiles,
	Summary:  "Put files into a zip archive.",
	Targets:  []string{"zipfilename"},
})

// Compression is how hard the archive is compressed.
type Compression string

// Choices implements transform.Choices.
func (Compression) Choices() []transform.Choice {
	return []transform.Choice{{Code: "0", Label: "not at all"}, {Code: "1", Label: "default"}, {Code: "2", Label: "best"}, {Code: "3", Label: "fastest"}}
}

var compressionLevels = map[Compression]int{"0": flate.NoCompression, "1": flate.DefaultCompression, "2": flate.BestCompression, "3": flate.BestSpeed}

// IfZipExists says what happens when the archive exists.
type IfZipExists string

const (
	zipUnique  IfZipExists = "0"
	zipAppend  IfZipExists = "1"
	zipNothing IfZipExists = "2"
	zipFail    IfZipExists = "3"
)

// Choices implements transform.Choices.
func (IfZipExists) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(zipUnique), Label: "make one with another name"},
		{Code: string(zipAppend), Label: "add to it"},
		{Code: string(zipNothing), Label: "do nothing"},
		{Code: string(zipFail), Label: "fail"},
	}
}

// AfterArchive says what happens to the files afterwards.
type AfterArchive string

const (
	afterDelete AfterArchive = "1"
	afterMove   AfterArchive = "2"
)

// Choices implements transform.Choices.
func (AfterArchive) Choices() []transform.Choice {
	return []transform.Choice{{Code: "0", Label: "nothing"}, {Code: string(afterDelete), Label: "delete"}, {Code: string(afterMove), Label: "move"}}
}

// ZipFileSettings lists the settings in the order the form shows them.
type ZipFileSettings struct {
	FromPrevious bool                   `hop:"isfromprevious" label:"Take source, masks and archive from the result rows"`
	Source       transform.Expr[string] `hop:"sourcedirectory" form:"folder" label:"Source file or folder"`
	Include      transform.Expr[string] `hop:"wildcard" label:"Mask" help:"Regular expression"`
	Exclude      transform.Expr[string] `hop:"wildcardexclude" label:"Mask of files to leave out"`
	Subfolders   bool                   `hop:"include_subfolders" label:"Include subfolders"`
	Archive      transform.Expr[string] `hop:"zipfilename" form:"file" label:"Archive"`
	CreateParent bool                   `hop:"createparentfolder" label:"Create its folder"`
	AddDate      bool                   `hop:"adddate" label:"Add the date"`
	AddTime      bool                   `hop:"addtime" label:"Add the time"`
	UseFormat    bool                   `hop:"SpecifyFormat" label:"Add date and time by format"`
	Format       transform.Expr[string] `hop:"date_time_format" form:"mask"`
	Compression  Compression            `hop:"compressionrate" default:"1"`
	IfExists     IfZipExists            `hop:"ifzipfileexists" default:"2" label:"If the archive exists"`
	After        AfterArchive           `hop:"afterzip" default:"0" label:"Then, the sources"`
	MoveTo       transform.Expr[string] `hop:"movetodirectory" form:"folder" label:"Folder to move them to"`
	CreateMoveTo bool                   `hop:"createMoveToDirectory" label:"Create that folder"`
	Depth        transform.Expr[int]    `hop:"stored_source_path_depth" default:"1" min:"0" label:"Folders kept of the path" help:"0 keeps the whole path, 1 only the name"`
	AddResult    bool                   `hop:"addfiletoresult" label:"Add to the result files"`
}

// zipJob is one archive to make.
type zipJob struct{ source, include, exclude, archive string }

// Run implements action.Settings.
func (s *ZipFileSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	moveTo, err := s.MoveTo.Eval(env)
	if err != nil {
		return err
	}
	if s.After == afterMove {
		if moveTo == "" {
			return &engine.Error{Message: "no folder is named to move the files to"}
		}
		if err := targetFolder(ctx, env, moveTo, s.CreateMoveTo); err != nil {
			return err
		}
	}
	jobs, err := s.jobs(env, r)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if err := s.zip(ctx, env, r, j, moveTo); err != nil {
			return fmt.Errorf("archive %s: %w", j.archive, err)
		}
	}
	r.Succeed()
	return nil
}

func (s *ZipFileSettings) jobs(env *action.Env, r *action.Result) ([]zipJob, error) {
	if s.FromPrevious {
		rows, err := fromRows(env, r, 4)
		var jobs []zipJob
		for _, row := range rows {
			jobs = append(jobs, zipJob{row[0], row[1], row[2], row[3]})
		}
		return jobs, err
	}
	text, err := texts(env, s.Source, s.Include, s.Exclude, s.Archive)
	if err != nil {
		return nil, err
	}
	if text[0] == "" || text[3] == "" {
		return nil, &engine.Error{Message: "the source or the archive is empty", Hint: "give both; check the variables in them"}
	}
	return []zipJob{{text[0], text[1], text[2], text[3]}}, nil
}

func (s *ZipFileSettings) zip(ctx context.Context, env *action.Env, r *action.Result, j zipJob, moveTo string) error {
	match, err := newMatcher(j.include, j.exclude)
	if err != nil {
		return err
	}
	source, err := mustFind(ctx, env, j.source)
	if err != nil {
		return err
	}
	if j.archive, err = s.name(env, j.archive); err != nil {
		return err
	}
	_, exists, err := found(ctx, env, j.archive)
	switch {
	case err != nil:
		return err
	case exists && s.IfExists == zipFail:
		return errors.New("it exists already")
	case exists && s.IfExists == zipUnique:
		if j.archive, err = unique(ctx, env, j.archive); err != nil {
			return err
		}
	case exists && s.IfExists == zipNothing:
		if s.AddResult {
			r.AddFile(env.ResultFile(j.archive, action.FileGeneral))
		}
		return nil
	}
	list, err := s.list(ctx, env, source, match, j.archive)
	if err != nil {
		return err
	}
	if err := s.write(ctx, env, j.archive, list, exists && s.IfExists == zipAppend); err != nil {
		return err
	}
	if s.AddResult {
		r.AddFile(env.ResultFile(j.archive, action.FileGeneral))
	}
	return s.afterwards(ctx, env, list, moveTo)
}

func (s *ZipFileSettings) name(env *action.Env, archive string) (string, error) {
	format, err := s.Format.Eval(env)
	if err != nil {
		return "", err
	}
	st := stamp{date: s.AddDate, time: s.AddTime, format: s.UseFormat, pattern: format, beforeExtension: true, timePattern: hourPattern}
	name, err := st.apply(path.Base(filepath.ToSlash(archive)), env.Now().In(env.Location), env)
	if folder := parent(archive); folder != "" {
		name = below(folder, name)
	}
	return name, err
}

// list gives the files to pack with their names in the archive.
func (s *ZipFileSettings) list(ctx context.Context, env *action.Env, source files.Info, match matcher, archive string) ([]entry, error) {
	if !source.Folder {
		depth, err := s.Depth.Or(env, 1)
		if err != nil {
			return nil, err
		}
		name := source.Name
		if s.FromPrevious {
			name = lastParts(filepath.ToSlash(source.Path), depth)
		}
		return []entry{{source, name}}, nil
	}
	all, err := entries(ctx, env, source, s.Subfolders)
	if err != nil {
		return nil, err
	}
	own, _, err := found(ctx, env, archive)
	if err != nil {
		return nil, err
	}
	list := all[:0]
	for _, e := range all {
		if e.Folder || e.Path == own.Path {
			continue
		}
		// With subfolders Hop matches the whole path.
		if match.matches(e.Name) || s.Subfolders && match.matches(filepath.ToSlash(e.Path)) {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no file to pack in %s", source.Path)
	}
	return list, nil
}

// lastParts keeps the last parts of a path; 0 keeps all.
func lastParts(p string, depth int) string {
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	if depth <= 0 || depth >= len(parts) {
		return strings.Join(parts, "/")
	}
	return strings.Join(parts[len(parts)-depth:], "/")
}

func (s *ZipFileSettings) write(ctx context.Context, env *action.Env, archive string, list []entry, add bool) (err error) {
	w, err := env.Files.Create(ctx, archive, files.CreateOptions{Parents: s.CreateParent})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abort())
			return
		}
		err = w.Commit()
	}()
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, compressionLevels[s.Compression])
	})
	if add {
		if err := keepOld(ctx, env, z, archive, list); err != nil {
			return err
		}
	}
	for _, e := range list {
		if err := pack(ctx, env, z, e); err != nil {
			return fmt.Errorf("pack %s: %w", e.Path, err)
		}
	}
	return z.Close()
}

// keepOld copies the entries of an archive that no new file replaces.
func keepOld(ctx context.Context, env *action.Env, z *zip.Writer, archive string, list []entry) error {
	fresh := map[string]bool{}
	for _, e := range list {
		fresh[e.relative] = true
	}
	old, err := openArchive(ctx, env, archive)
	if err != nil {
		return err
	}
	defer old.close()
	for _, f := range old.File {
		if !fresh[f.Name] {
			if err := z.Copy(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func pack(ctx context.Context, env *action.Env, z *zip.Writer, e entry) error {
	in, err := env.Files.Open(ctx, e.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := z.CreateHeader(&zip.FileHeader{Name: e.relative, Method: zip.Deflate, Modified: e.ModTime})
	if err != nil {
		return err
	}
	_, err = io.Copy(out, reader{ctx, in})
	return err
}

func (s *ZipFileSettings) afterwards(ctx context.Context, env *action.Env, list []entry, moveTo string) error {
	var errs []error
	for _, e := range list {
		switch s.After {
		case afterDelete:
			errs = append(errs, env.Files.Remove(ctx, e.Path))
		case afterMove:
			errs = append(errs, moveFile(ctx, env, e.Path, below(moveTo, e.Name)))
		}
	}
	return errors.Join(errs...)
}

// archive is an opened zip file.
type archive struct {
	*zip.Reader
	close func()
}

// openArchive opens a zip file; one that cannot be read at random is copied to a
// temporary file first.
func openArchive(ctx context.Context, env *action.Env, location string) (*archive, error) {
	in, err := env.Files.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	f, ok := in.(*os.File)
	closing := func() { _ = in.Close() }
	if !ok {
		if f, err = os.CreateTemp("", "sluice-zip-*"); err != nil {
			return nil, errors.Join(err, in.Close())
		}
		closing = func() {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
		_, err = io.Copy(f, reader{ctx, in})
		_ = in.Close()
	}
	var st os.FileInfo
	if err == nil {
		st, err = f.Stat()
	}
	var z *zip.Reader
	if err == nil {
		z, err = zip.NewReader(f, st.Size())
	}
	if err != nil {
		closing()
		return nil, err
	}
	return &archive{z, closing}, nil
}
