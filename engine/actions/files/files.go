// Package files holds the actions that work on files and folders, of this machine
// or of a remote.
//
// Actions lists them. What is found below a folder is an entry: a file with its
// path relative to the folder. Masks are Java regular expressions on the base
// name, whole match.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch/mask"
	"sluice/engine/expr/javaregex"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// Actions is the family.
var Actions = []action.Definition{
	CreateFile,
	CreateFolder,
	WriteToFile,
	CopyFiles,
	MoveFiles,
	DeleteFile,
	DeleteFiles,
	DeleteFolders,
	ZipFile,
	Unzip,
	WaitForFile,
	FileExists,
	FilesExist,
	FileCompare,
	FolderIsEmpty,
	EvalFilesMetrics,
	AddResultFilenames,
	CopyMoveResultFilenames,
}

// matcher says whether a base name matches; nil patterns match everything.
type matcher struct{ include, exclude *javaregex.Regexp }

func newMatcher(include, exclude string) (matcher, error) {
	var m matcher
	var err error
	if include != "" {
		if m.include, err = javaregex.Compile(include, 0); err != nil {
			return m, fmt.Errorf("mask %q: %w", include, err)
		}
	}
	if exclude != "" {
		if m.exclude, err = javaregex.Compile(exclude, 0); err != nil {
			return m, fmt.Errorf("mask %q: %w", exclude, err)
		}
	}
	return m, nil
}

func (m matcher) matches(name string) bool {
	return (m.include == nil || m.include.MatchWholeString(name)) && (m.exclude == nil || !m.exclude.MatchWholeString(name))
}

// entry is a file or folder below a folder.
type entry struct {
	files.Info
	relative string // to the folder, with slashes
}

// entries lists what lies in a folder and, when deep, below it. Masks are not
// looked at.
func entries(ctx context.Context, env *action.Env, folder files.Info, deep bool) ([]entry, error) {
	list, err := env.Files.List(ctx, folder.Path, deep)
	if err != nil {
		return nil, err
	}
	out := make([]entry, len(list))
	for i, f := range list {
		rel := strings.TrimPrefix(filepath.ToSlash(f.Path), strings.TrimSuffix(filepath.ToSlash(folder.Path), "/"))
		out[i] = entry{f, strings.TrimPrefix(rel, "/")}
	}
	return out, nil
}

// matching gives a file itself, or the files of a folder that match.
func matching(ctx context.Context, env *action.Env, at files.Info, m matcher, deep bool) ([]entry, error) {
	if !at.Folder {
		return []entry{{at, at.Name}}, nil
	}
	all, err := entries(ctx, env, at, deep)
	if err != nil {
		return nil, err
	}
	found := all[:0]
	for _, e := range all {
		if !e.Folder && m.matches(e.Name) {
			found = append(found, e)
		}
	}
	return found, nil
}

// below gives the location of a relative path in a folder.
func below(folder, relative string) string {
	return strings.TrimRight(folder, `/\`) + "/" + relative
}

// parent gives the folder that holds a location; empty when it names none.
func parent(location string) string {
	at := strings.LastIndexAny(strings.TrimRight(location, `/\`), `/\`)
	switch {
	case at > 0:
		return location[:at]
	case at == 0:
		return location[:1]
	}
	if remote, _, ok := strings.Cut(location, ":"); ok && files.IsRemote(location) {
		return remote + ":"
	}
	return ""
}

// found looks for a location; ok is false when there is nothing.
func found(ctx context.Context, env *action.Env, location string) (files.Info, bool, error) {
	info, err := env.Files.Stat(ctx, location)
	if errors.Is(err, fs.ErrNotExist) {
		return info, false, nil
	}
	return info, err == nil, err
}

// copyFile copies one file, whole or not at all.
func copyFile(ctx context.Context, env *action.Env, from, to string) error {
	in, err := env.Files.Open(ctx, from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeFile(ctx, env, to, files.CreateOptions{}, in)
}

func writeFile(ctx context.Context, env *action.Env, to string, o files.CreateOptions, from io.Reader) error {
	w, err := env.Files.Create(ctx, to, o)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, reader{ctx, from}); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}

// reader ends when its context does.
type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.from.Read(p)
}

// moveFile moves one file; where the storage cannot, it copies and removes.
func moveFile(ctx context.Context, env *action.Env, from, to string) error {
	err := env.Files.Move(ctx, from, to)
	if !errors.Is(err, files.ErrNotSupported) {
		return err
	}
	if err := copyFile(ctx, env, from, to); err != nil {
		return err
	}
	return env.Files.Remove(ctx, from)
}

// texts resolves settings in order.
func texts(env *action.Env, list ...transform.Expr[string]) ([]string, error) {
	out := make([]string, len(list))
	for i, e := range list {
		var err error
		if out[i], err = e.Eval(env); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// named resolves the one location an action needs.
func named(env *action.Env, e transform.Expr[string], what string) (string, error) {
	text, err := e.Eval(env)
	if err == nil && text == "" {
		err = &engine.Error{Message: "no " + what + " is named", Hint: "give its path; check the variables in it"}
	}
	return text, err
}

// fromRows gives the first n fields of every result row as texts, resolved.
func fromRows(env *action.Env, r *action.Result, n int) ([][]string, error) {
	var out [][]string
	for _, b := range r.Rows {
		if b.Schema.Len() < n {
			return nil, &engine.Error{
				Message: fmt.Sprintf("the result rows have %d fields, %d are needed", b.Schema.Len(), n),
				Hint:    "hand on rows with file or folder first, then the mask or the target",
			}
		}
		codecs, err := env.Semantics.Codecs(b.Schema)
		if err != nil {
			return nil, err
		}
		for i := range b.All() {
			row := make([]string, n)
			for k := range row {
				col, err := b.Col(k, codecs[k])
				if err != nil {
					return nil, err
				}
				if !col.IsNull(i) {
					row[k] = string(codecs[k].AppendCompatible(nil, col.Value(i)))
				}
				if row[k], err = env.Resolve(row[k]); err != nil {
					return nil, err
				}
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// SuccessCondition says when an action on several files is a success.
type SuccessCondition string

const (
	noErrors    SuccessCondition = "success_if_no_errors"
	atLeast     SuccessCondition = "success_when_at_least"
	fewerErrors SuccessCondition = "success_if_errors_less"
)

// Choices implements transform.Choices.
func (SuccessCondition) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(noErrors), Label: "no error occurs"},
		{Code: string(atLeast), Label: "at least so many succeed"},
		{Code: string(fewerErrors), Label: "fewer errors occur than"},
		{Code: "success_when_x_files_moved", Label: "at least so many are moved (old)"},
		{Code: "success_is_all_files_copied", Label: "all are copied (old)"},
	}
}

// tally counts what an action on several files has done.
type tally struct {
	env          *action.Env
	done, failed int64
}

// fail counts and logs an error about a file.
func (t *tally) fail(message, file string, err error) {
	t.failed++
	t.env.Log.Error(message, "file", file, "err", err) //nolint:sloglint // the callers' messages are constant
}

// settle gives the result its outcome. ok tells of the condition; errors stay
// counted, so a workflow that ends here is a failure all the same, as in Hop.
func (t *tally) settle(r *action.Result, c SuccessCondition, limit int64) {
	r.Errors = t.failed
	switch c {
	case atLeast, "success_when_x_files_moved":
		r.OK = t.done >= limit
	case fewerErrors:
		r.OK = t.failed < limit
	default:
		r.OK = t.failed == 0
	}
}

// stamped adds date and time to a file name.
type stamp struct {
	date, time, format bool
	pattern            string
	beforeExtension    bool
	timePattern        string // of the Java form
}

func (s stamp) apply(name string, now time.Time, env *action.Env) (string, error) {
	base, extension := name, ""
	if s.beforeExtension {
		if at := strings.LastIndexByte(name, '.'); at >= 0 {
			base, extension = name[:at], name[at:]
		}
	}
	format := func(prefix, pattern string) error {
		m, err := mask.CompileDate(pattern, mask.DateOptions{Location: env.Location})
		if err != nil {
			return fmt.Errorf("date format %q: %w", pattern, err)
		}
		base += prefix + string(m.AppendMillis(nil, now.UnixMilli()))
		return nil
	}
	var err error
	if s.format && s.pattern != "" {
		err = format("", s.pattern)
	} else {
		if s.date {
			err = format("_", "yyyyMMdd")
		}
		if s.time && err == nil {
			err = format("_", s.timePattern)
		}
	}
	return base + extension, err
}

// unique gives a name that nothing has yet, by the time, then by a number.
func unique(ctx context.Context, env *action.Env, location string) (string, error) {
	extension := ""
	if at := strings.LastIndexByte(location, '.'); at > strings.LastIndexAny(location, `/\`) {
		location, extension = location[:at], location[at:]
	}
	base := location + env.Now().In(env.Location).Format("_20060102_150405.000")
	base = base[:len(base)-4] + base[len(base)-3:]
	for n := 1; ; n++ {
		name := base + extension
		if n > 1 {
			name = fmt.Sprintf("%s_%d%s", base, n, extension)
		}
		exists, err := files.Exists(ctx, env.Files, name)
		if err != nil || !exists {
			return name, err
		}
	}
}
