package files

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// CreateFile makes an empty file; one that is there already stays as it is.
var CreateFile = action.Define[CreateFileSettings](action.About{
	ID:       "CREATE_FILE",
	Name:     "Create file",
	Category: action.CategoryFiles,
	Summary:  "Make an empty file.",
	Targets:  []string{"filename"},
})

// CreateFileSettings lists the settings in the order the form shows them.
type CreateFileSettings struct {
	File      transform.Expr[string] `hop:"filename" form:"file" required:"true"`
	FailIf    bool                   `hop:"fail_if_file_exists" label:"Fail if it exists"`
	AddResult bool                   `hop:"add_filename_result" label:"Add to the result files"`
}

// Run implements action.Settings.
func (s *CreateFileSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	name, err := named(env, s.File, "file")
	if err != nil {
		return err
	}
	_, exists, err := found(ctx, env, name)
	switch {
	case err != nil:
		return err
	case exists && s.FailIf:
		return &engine.Error{Message: fmt.Sprintf("file %s exists already", name)}
	case !exists:
		if err := writeFile(ctx, env, name, files.CreateOptions{Parents: true}, strings.NewReader("")); err != nil {
			return fmt.Errorf("create file %s: %w", name, err)
		}
	}
	if s.AddResult {
		r.AddFile(env.ResultFile(name, action.FileGeneral))
	}
	r.Succeed()
	return nil
}

// CreateFolder makes a folder and those above it.
var CreateFolder = action.Define[CreateFolderSettings](action.About{
	ID:       "CREATE_FOLDER",
	Name:     "Create a folder",
	Category: action.CategoryFiles,
	Summary:  "Make a folder.",
	Targets:  []string{"foldername"},
})

// CreateFolderSettings lists the settings in the order the form shows them.
type CreateFolderSettings struct {
	Folder transform.Expr[string] `hop:"foldername" form:"folder" required:"true"`
	FailIf bool                   `hop:"fail_of_folder_exists" label:"Fail if it exists"`
}

// Run implements action.Settings.
func (s *CreateFolderSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	name, err := named(env, s.Folder, "folder")
	if err != nil {
		return err
	}
	info, exists, err := found(ctx, env, name)
	switch {
	case err != nil:
		return err
	case exists && !info.Folder:
		return &engine.Error{Message: fmt.Sprintf("%s is a file, no folder", name)}
	case exists && s.FailIf:
		return &engine.Error{Message: fmt.Sprintf("folder %s exists already", name)}
	case !exists:
		if err := env.Files.MakeFolder(ctx, name); err != nil {
			return fmt.Errorf("create folder %s: %w", name, err)
		}
	}
	r.Succeed()
	return nil
}

// WriteToFile writes a text to a file.
var WriteToFile = action.Define[WriteToFileSettings](action.About{
	ID:       "WRITE_TO_FILE",
	Name:     "Write to file",
	Category: action.CategoryFiles,
	Summary:  "Write a text to a file.",
	Targets:  []string{"filename"},
})

// WriteToFileSettings lists the settings in the order the form shows them.
type WriteToFileSettings struct {
	File     transform.Expr[string] `hop:"filename" form:"file" required:"true"`
	Parent   bool                   `hop:"createParentFolder" label:"Create its folder"`
	Append   bool                   `hop:"appendFile" label:"Append to it"`
	Content  transform.Expr[string] `hop:"content" form:"multiline"`
	Encoding transform.Expr[string] `hop:"encoding" default:"UTF-8"`
}

// Run implements action.Settings.
func (s *WriteToFileSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	name, err := named(env, s.File, "file")
	if err != nil {
		return err
	}
	text, err := texts(env, s.Content, s.Encoding)
	if err != nil {
		return err
	}
	content, err := encoded(text[0], text[1])
	if err != nil {
		return err
	}
	if err := writeFile(ctx, env, name, files.CreateOptions{Append: s.Append, Parents: s.Parent}, strings.NewReader(content)); err != nil {
		return fmt.Errorf("write file %s: %w", name, err)
	}
	r.Succeed()
	return nil
}

// encoded gives a text in an encoding; characters that it lacks become "?", as in
// Java.
func encoded(text, name string) (string, error) {
	if name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") {
		return text, nil
	}
	e, err := htmlindex.Get(strings.ToLower(name))
	if err != nil {
		return "", &engine.Error{Message: fmt.Sprintf("encoding %q is not known", name), Hint: "use a name such as UTF-8 or ISO-8859-1"}
	}
	encoder := encoding.ReplaceUnsupported(e.NewEncoder())
	out, err := encoder.String(text)
	return strings.ReplaceAll(out, "\x1a", "?"), err
}
