package json

import (
	"context"
	"fmt"
	"strconv"

	"sluice/engine"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
)

// target is the file, or the numbered files, that an output writes. Nothing is
// opened before open; a file appears under its name when complete is called.
type target struct {
	env         *transform.Env
	name        string
	extension   string
	verbatim    bool // the name is taken as it is
	stamp       filenames.Stamp
	numbered    bool
	numberFirst bool // the number stands before the copy
	copied      bool
	options     filenames.OutputOptions
	out         *filenames.Output
	made        int
}

// targetSettings are the settings of a target as two outputs spell them.
type targetSettings struct {
	name, extension, encoding transform.Expr[string]
}

func newTarget(env *transform.Env, s targetSettings) (*target, error) {
	t := &target{env: env}
	var err error
	if t.name, err = s.name.Eval(env); err == nil && t.name == "" {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("file name: %w", err)
	}
	if t.extension, err = s.extension.Eval(env); err != nil {
		return nil, fmt.Errorf("extension: %w", err)
	}
	charset, err := s.encoding.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	t.options.Encoding, err = filenames.Charset(charset)
	return t, err
}

// path names the next file.
func (t *target) path() (string, error) {
	if t.verbatim {
		return t.name, nil
	}
	path, err := t.stamp.Append(t.name, t.env.Now(), t.env.Semantics.Location)
	number := func() {
		if t.numbered {
			path += "_" + strconv.Itoa(t.made)
		}
	}
	if t.numberFirst {
		number()
	}
	if t.copied {
		path += "_" + strconv.Itoa(t.env.Copy)
	}
	if !t.numberFirst {
		number()
	}
	if t.extension != "" {
		path += "." + t.extension
	}
	return path, err
}

// open makes the next file, unless one is open.
func (t *target) open(ctx context.Context) error {
	if t == nil || t.out != nil {
		return nil
	}
	path, err := t.path()
	if err == nil {
		t.out, err = filenames.CreateOutput(ctx, t.env, path, t.options)
	}
	if err != nil {
		return &engine.Error{Transform: t.env.Transform, Message: "the JSON file cannot be made", Err: err}
	}
	t.made++
	return nil
}

// openFirst makes the first file, for outputs that have it from the start.
func (t *target) openFirst(ctx context.Context) error {
	if t == nil || t.made > 0 {
		return nil
	}
	return t.open(ctx)
}

// Write adds to the open file.
func (t *target) Write(p []byte) (int, error) { return t.out.Write(p) }

// complete ends the open file; it stays even if the execution fails later.
func (t *target) complete() error {
	if t == nil || t.out == nil {
		return nil
	}
	out := t.out
	t.out = nil
	return out.Commit()
}

func (t *target) abort() error {
	if t == nil || t.out == nil {
		return nil
	}
	return t.out.Abort()
}
