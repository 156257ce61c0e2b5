package javascript

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/dop251/goja"

	"sluice/engine/files"
)

func onNumber(f func(float64) float64) helper {
	return func(_ *Runtime, a arguments) (any, error) {
		if err := a.need(1); err != nil || a.isNull(0) {
			return nil, err
		}
		return f(a.number(0)), nil
	}
}

var otherHelpers = map[string]helper{
	"ceil": onNumber(math.Ceil), "floor": onNumber(math.Floor), "abs": onNumber(math.Abs), "trunc": onNumber(math.Floor),
	"decode": func(_ *Runtime, a arguments) (any, error) {
		if err := a.need(2); err != nil {
			return nil, err
		}
		i := 1
		for ; i+1 < a.len(); i += 2 {
			if a.list[0].Equals(a.list[i]) || (!a.isNull(0) && a.text(0) == a.text(i)) {
				return a.list[i+1], nil
			}
		}
		if i < a.len() {
			return a.list[i], nil
		}
		return a.list[0], nil
	},
	"getVariable": func(r *Runtime, a arguments) (any, error) {
		if r.host.Variable != nil {
			if v, ok := r.host.Variable(a.text(0)); ok {
				return v, nil
			}
		}
		if a.len() > 1 {
			return a.list[1], nil
		}
		return "", a.need(1)
	},
	"getEnvironmentVar": func(r *Runtime, a arguments) (any, error) {
		if r.host.Variable != nil {
			if v, ok := r.host.Variable(a.text(0)); ok {
				return v, nil
			}
		}
		return "", a.need(1)
	},
	"setVariable": func(r *Runtime, a arguments) (any, error) {
		if err := a.need(3); err != nil {
			return nil, err
		}
		switch s := strings.ToLower(a.text(2)); s {
		case "s", "r", "p", "g":
			return goja.Undefined(), r.setVariable(a.text(0), a.text(1), s)
		}
		return nil, errors.New(`the level is not "s" (system), "r" (root), "p" (parent) or "g" (grand-parent)`)
	},
	"setEnvironmentVar": func(r *Runtime, a arguments) (any, error) {
		return goja.Undefined(), errors.Join(a.need(2), r.setVariable(a.text(0), a.text(1), "s"))
	},
	"writeToLog": func(r *Runtime, a arguments) (any, error) {
		if a.len() > 1 {
			r.log(strings.ToLower(a.text(0)), a.text(1))
		} else {
			r.log("d", a.text(0))
		}
		return goja.Undefined(), a.need(1)
	},
	"Alert":                 logLine,
	"print":                 logLine,
	"println":               logLine,
	"getPipelineName":       func(r *Runtime, _ arguments) (any, error) { return r.host.Pipeline, nil },
	"getTransformationName": func(r *Runtime, _ arguments) (any, error) { return r.host.Pipeline, nil },
	"getProcessCount": func(r *Runtime, a arguments) (any, error) {
		if r.host.Count == nil {
			return 0, nil
		}
		return r.host.Count(strings.ToLower(a.text(0))), nil
	},
	"LoadScriptFile": func(r *Runtime, a arguments) (any, error) {
		for i := range a.list {
			if err := r.load(a.text(i)); err != nil {
				return nil, err
			}
		}
		return goja.Undefined(), a.need(1)
	},
	"fileExists": about(func(_ files.Info, ok bool) any { return ok }),
	"isFile":     about(func(i files.Info, ok bool) any { return ok && !i.Folder }),
	"isFolder":   about(func(i files.Info, ok bool) any { return ok && i.Folder }),
	"getFileSize": about(func(i files.Info, ok bool) any {
		if !ok {
			return 0
		}
		return i.Size
	}),
	"getShortFilename":    textual(path.Base),
	"getFileExtension":    textual(func(s string) string { return strings.TrimPrefix(path.Ext(s), ".") }),
	"getParentFoldername": textual(path.Dir),
	"deleteFile": func(r *Runtime, a arguments) (any, error) {
		store, err := r.files()
		if err != nil {
			return nil, err
		}
		return goja.Undefined(), errors.Join(a.need(1), store.Remove(r.ctx, a.text(0)))
	},
	"createFolder": func(r *Runtime, a arguments) (any, error) {
		store, err := r.files()
		if err != nil {
			return nil, err
		}
		return goja.Undefined(), errors.Join(a.need(1), store.MakeFolder(r.ctx, a.text(0)))
	},
	"touch": func(r *Runtime, a arguments) (any, error) {
		store, err := r.files()
		if err != nil {
			return nil, err
		}
		w, err := store.Create(r.ctx, a.text(0), files.CreateOptions{Append: true})
		if err != nil {
			return nil, err
		}
		return goja.Undefined(), w.Commit()
	},
}

func logLine(r *Runtime, a arguments) (any, error) {
	parts := make([]string, a.len())
	for i := range parts {
		parts[i] = a.text(i)
	}
	r.log("m", strings.Join(parts, " "))
	return goja.Undefined(), nil
}

func (r *Runtime) log(level, message string) {
	if r.host.Log != nil {
		r.host.Log(level, message)
	}
}

func (r *Runtime) setVariable(name, value, scope string) error {
	if r.host.SetVariable == nil {
		return errors.New("variables cannot be set here")
	}
	return r.host.SetVariable(name, value, scope)
}

func (r *Runtime) files() (files.Store, error) {
	if r.host.Files == nil {
		return nil, errors.New("files cannot be reached here")
	}
	return r.host.Files, nil
}

// about makes a helper that looks at a file; ok is false for a missing one.
func about(f func(i files.Info, ok bool) any) helper {
	return func(r *Runtime, a arguments) (any, error) {
		store, err := r.files()
		if err != nil || a.isNull(0) {
			return nil, err
		}
		info, err := store.Stat(r.ctx, a.text(0))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return f(info, err == nil), nil
	}
}

// load runs a script file in the global scope.
func (r *Runtime) load(name string) (err error) {
	store, err := r.files()
	if err != nil {
		return err
	}
	f, err := store.Open(r.ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	source, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	s, err := Compile(name, string(source))
	if err != nil {
		return err
	}
	_, err = r.vm.RunProgram(s.program)
	return err
}
