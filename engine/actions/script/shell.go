package script

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Shell runs a command or a script of its own, once or for each result row. All
// variables are in its environment, what it prints goes to the log, and any exit
// status but 0 is a failure.
var Shell = action.Define[ShellSettings](action.About{
	ID:       "SHELL",
	Name:     "Shell",
	Category: action.CategoryScript,
	Summary:  "Run a command or a shell script.",
	Targets:  []string{"filename"},
})

// LogLevel is a level of the execution log.
type LogLevel string

// Choices implements transform.Choices.
func (LogLevel) Choices() []transform.Choice {
	var list []transform.Choice
	for _, code := range []string{"Nothing", "Error", "Minimal", "Basic", "Detailed", "Debug", "Rowlevel"} {
		list = append(list, transform.Choice{Code: code, Label: strings.ToLower(code)})
	}
	return list
}

// ShellSettings lists the settings in the order the form shows them.
type ShellSettings struct {
	Insert       bool                   `hop:"insertScript" label:"Run the script given here"`
	Script       transform.Expr[string] `hop:"script" form:"script"`
	File         transform.Expr[string] `hop:"filename" form:"file" label:"Command"`
	Directory    transform.Expr[string] `hop:"work_directory" form:"folder" label:"Working folder"`
	Arguments    []string               `hop:"arguments>argument"`
	FromPrevious bool                   `hop:"arg_from_previous" label:"Take arguments from the result rows"`
	PerRow       bool                   `hop:"exec_per_row" label:"Run once per result row"`
	SetLog       bool                   `hop:"set_logfile" label:"Write a log file"`
	LogFile      transform.Expr[string] `hop:"logfile" form:"file" label:"Log file, without extension"`
	LogExtension transform.Expr[string] `hop:"logext" default:"log"`
	LogDate      bool                   `hop:"add_date" label:"Add the date to its name"`
	LogTime      bool                   `hop:"add_time" label:"Add the time to its name"`
	LogAppend    bool                   `hop:"set_append_logfile" label:"Append to the log file"`
	LogLevel     LogLevel               `hop:"loglevel" default:"Basic" label:"Level of the log file"`
}

// shellRun is one run of the action.
type shellRun struct {
	s         *ShellSettings
	env       *action.Env
	log       *slog.Logger
	command   string
	directory string
}

// Run implements action.Settings.
func (s *ShellSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	c := &shellRun{s: s, env: env, log: env.Log}
	closeLog, err := c.openLog(ctx)
	if err != nil {
		return err
	}
	err = c.all(ctx, r)
	if cerr := closeLog(); err == nil && cerr != nil {
		err = fmt.Errorf("write the log file: %w", cerr)
	}
	return err
}

func (c *shellRun) all(ctx context.Context, r *action.Result) error {
	cleanup, err := c.prepare()
	if err != nil {
		return err
	}
	defer cleanup()
	calls, err := c.calls(r)
	if err != nil {
		return err
	}
	r.Succeed()
	for _, arguments := range calls {
		status, err := c.run(ctx, arguments)
		r.ExitStatus = status
		if err != nil {
			return err
		}
		if status != 0 {
			return &engine.Error{Message: fmt.Sprintf("the command ended with exit status %d", status), Hint: "the log has what it printed"}
		}
	}
	return nil
}

// prepare finds the command, or writes the script to a temporary file.
func (c *shellRun) prepare() (cleanup func(), err error) {
	cleanup = func() {}
	if c.directory, err = c.s.Directory.Eval(c.env); err != nil {
		return cleanup, err
	}
	if c.directory, err = localFolder(c.directory); err != nil {
		return cleanup, err
	}
	if !c.s.Insert {
		if c.command, err = c.s.File.Eval(c.env); err != nil {
			return cleanup, err
		}
		if c.command == "" {
			return cleanup, &engine.Error{Message: "no command is named", Hint: "give its file, or a script"}
		}
		local, ok := project.LocalPath(c.command)
		if !ok {
			return cleanup, &engine.Error{Message: fmt.Sprintf("command %s is not on this machine", c.command)}
		}
		if strings.ContainsAny(c.command, `/\`) {
			c.command = local
		}
		return cleanup, nil
	}
	script, err := c.s.Script.Eval(c.env)
	if err != nil {
		return cleanup, err
	}
	c.command, err = scriptFile(script)
	return func() { _ = os.Remove(c.command) }, err
}

func localFolder(folder string) (string, error) {
	local, ok := project.LocalPath(folder)
	if !ok {
		return "", &engine.Error{Message: fmt.Sprintf("working folder %s is not on this machine", folder)}
	}
	return local, nil
}

const scriptMode = 0o700

// scriptFile writes a script that only this user can read and run.
func scriptFile(script string) (string, error) {
	pattern := "sluice-shell-*"
	if runtime.GOOS == "windows" {
		pattern += ".bat"
	} else {
		script = strings.ReplaceAll(script, "\r\n", "\n")
	}
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(script)
	if err == nil {
		err = f.Chmod(scriptMode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write the script: %w", err)
	}
	return f.Name(), nil
}

// calls gives the arguments of every run.
func (c *shellRun) calls(r *action.Result) ([][]string, error) {
	var fixed []string
	for _, a := range c.s.Arguments {
		text, err := c.env.Resolve(a)
		if err != nil {
			return nil, err
		}
		fixed = append(fixed, text)
	}
	if !c.s.FromPrevious && !c.s.PerRow {
		return [][]string{fixed}, nil
	}
	rows, err := rowTexts(c.env, r)
	if err != nil {
		return nil, err
	}
	if !c.s.PerRow {
		var all []string
		for _, row := range rows {
			all = append(all, row...)
		}
		return [][]string{all}, nil
	}
	if !c.s.FromPrevious {
		for i := range rows {
			rows[i] = fixed
		}
	}
	return rows, nil
}

func rowTexts(env *action.Env, r *action.Result) ([][]string, error) {
	var out [][]string
	for _, b := range r.Rows {
		codecs, err := env.Semantics.Codecs(b.Schema)
		if err != nil {
			return nil, err
		}
		for i := range b.All() {
			row, err := rowText(b, i, codecs)
			if err != nil {
				return nil, err
			}
			out = append(out, row)
		}
	}
	return out, nil
}

func rowText(b *batch.Batch, i int, codecs []*batch.Codec) ([]string, error) {
	row := make([]string, len(codecs))
	for k := range row {
		col, err := b.Col(k, codecs[k])
		if err != nil {
			return nil, err
		}
		if !col.IsNull(i) {
			row[k] = string(codecs[k].AppendCompatible(nil, col.Value(i)))
		}
	}
	return row, nil
}

// afterKill is how long the output of a command is read after it was stopped.
const afterKill = 5 * time.Second

// run runs the command once; the error is for one that could not be run.
func (c *shellRun) run(ctx context.Context, arguments []string) (int, error) {
	err := c.once(ctx, c.command, arguments)
	if errors.Is(err, syscall.ENOEXEC) { // no #! line: a shell runs it, as in Java
		err = c.once(ctx, "/bin/sh", append([]string{c.command}, arguments...))
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	case err != nil:
		return 0, fmt.Errorf("run %s: %w", filepath.Base(c.command), err)
	}
	return 0, nil
}

func (c *shellRun) once(ctx context.Context, command string, arguments []string) error {
	cmd := exec.CommandContext(ctx, command, arguments...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.directory, c.environment(), afterKill
	out := c.printer(ctx, engine.LevelBasic, "(stdout) ")
	errs := c.printer(ctx, engine.LevelError, "(stderr) ")
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	out.close()
	errs.close()
	return err
}

// environment is that of the process and all variables.
func (c *shellRun) environment() []string {
	list := os.Environ()
	for name, value := range c.env.Vars.All() {
		if name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00") {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// printer logs what a command prints, line by line.
type printer struct {
	*io.PipeWriter
	done sync.WaitGroup
}

const longestLine = 1 << 20

func (c *shellRun) printer(ctx context.Context, level slog.Level, mark string) *printer {
	r, w := io.Pipe()
	p := &printer{PipeWriter: w}
	p.done.Go(func() {
		lines := bufio.NewReaderSize(r, longestLine)
		for {
			line, _, err := lines.ReadLine()
			if err != nil {
				return
			}
			c.log.Log(ctx, level, mark+string(line)) //nolint:sloglint // the line is the command's, as in Hop
		}
	})
	return p
}

func (p *printer) close() {
	_ = p.Close() // of a pipe: never an error
	p.done.Wait()
}

func (c *shellRun) openLog(ctx context.Context) (func() error, error) {
	none := func() error { return nil }
	if !c.s.SetLog {
		return none, nil
	}
	name, err := c.s.LogFile.Eval(c.env)
	if err != nil {
		return none, err
	}
	if name == "" {
		return none, &engine.Error{Message: "no log file is named", Hint: "give its name, or do not write one"}
	}
	now := c.env.Now().In(c.env.Location)
	if c.s.LogDate {
		name += now.Format("_20060102")
	}
	if c.s.LogTime {
		name += now.Format("_150405")
	}
	extension, err := c.s.LogExtension.Eval(c.env)
	if err != nil {
		return none, err
	}
	if extension != "" {
		name += "." + extension
	}
	level, err := engine.ParseLogLevel(string(c.s.LogLevel))
	if err != nil {
		return none, err
	}
	log, closeLog, err := action.OpenLogFile(ctx, c.env, name, action.LogFile{Append: c.s.LogAppend, Level: level})
	if err == nil {
		c.log = log
	}
	return closeLog, err
}

// WritesTo implements action.Targeted: nobody knows what a command does twice.
func (s *ShellSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: transform.Resolved(r, s.File.Text), How: "command"}
}
