// Package sql holds the actions that work on databases.
//
// Actions lists them.
package sql

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/database"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// Actions is the family.
var Actions = []action.Definition{
	SQL,
}

// SQL runs a script on a database, statement by statement; each is committed by
// itself. Queries are run and their rows counted.
var SQL = action.Define[SQLSettings](action.About{
	ID:       "SQL",
	Name:     "SQL",
	Category: action.CategorySQL,
	Summary:  "Run SQL statements.",
	Targets:  []string{"connection"},
})

// SQLSettings lists the settings in the order the form shows them.
type SQLSettings struct {
	Connection transform.Expr[string] `hop:"connection" form:"connection" required:"true"`
	FromFile   bool                   `hop:"sqlfromfile" label:"Read the script from a file"`
	File       transform.Expr[string] `hop:"sqlfilename" form:"file" label:"Script file"`
	Encoding   transform.Expr[string] `hop:"sqlfilename_encoding" default:"UTF-8" label:"Encoding of the file"`
	Script     string                 `hop:"sql" label:"Script" form:"sql"`
	Variables  bool                   `hop:"useVariableSubstitution" label:"Substitute variables"`
	Single     bool                   `hop:"sendOneStatement" label:"Send as one statement"`
}

// Check implements action.Checker.
func (s *SQLSettings) Check(d action.Design) iter.Seq[transform.Problem] {
	return func(yield func(transform.Problem) bool) {
		name, err := s.Connection.Eval(d)
		if err == nil && name != "" && !d.Connection(name) {
			p := transform.Errorf("connection", "the project has no connection %q", name)
			if !yield(p) {
				return
			}
		}
		if !s.FromFile && strings.TrimSpace(s.Script) == "" {
			yield(transform.Warnf("sql", "there is no statement to run"))
		}
	}
}

// Run implements action.Settings.
func (s *SQLSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	script, err := s.script(ctx, env)
	if err != nil {
		return err
	}
	name, err := s.Connection.Eval(env)
	if err != nil {
		return err
	}
	if name == "" {
		return &engine.Error{Message: "no connection is named", Hint: "choose the database connection"}
	}
	db, _, err := env.Databases.DB(ctx, name)
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connection %s: %w", name, err)
	}
	defer conn.Close()
	list := []string{script}
	if !s.Single {
		list = database.Split(script)
	}
	for i, statement := range list {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := run(ctx, env, conn, statement); err != nil {
			return &engine.Error{Message: fmt.Sprintf("statement %d of %d failed: %s", i+1, len(list), shorten(statement)), Err: err}
		}
	}
	r.Succeed()
	return nil
}

// script gives the text to run.
func (s *SQLSettings) script(ctx context.Context, env *action.Env) (string, error) {
	script := s.Script
	if s.FromFile {
		name, err := s.File.Eval(env)
		if err != nil {
			return "", err
		}
		if name == "" {
			return "", &engine.Error{Message: "no script file is named"}
		}
		data, err := files.ReadAll(ctx, env.Files, name)
		if err != nil {
			return "", fmt.Errorf("script file %s: %w", name, err)
		}
		if script, err = s.decoded(env, data); err != nil {
			return "", fmt.Errorf("script file %s: %w", name, err)
		}
	}
	if s.Variables {
		return env.Resolve(script)
	}
	return script, nil
}

func (s *SQLSettings) decoded(env *action.Env, data []byte) (string, error) {
	name, err := s.Encoding.Or(env, "UTF-8")
	if err != nil {
		return "", err
	}
	e, err := htmlindex.Get(strings.ToLower(name))
	if err != nil {
		return "", &engine.Error{Message: fmt.Sprintf("encoding %q is not known", name), Hint: "use a name such as UTF-8 or ISO-8859-1"}
	}
	text, err := e.NewDecoder().Bytes(data)
	return strings.TrimPrefix(string(text), "\uFEFF"), err
}

func run(ctx context.Context, env *action.Env, conn *sql.Conn, statement string) error {
	if !database.ReturnsRows(statement) {
		done, err := conn.ExecContext(ctx, statement)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err == nil {
			env.Log.Log(ctx, engine.LevelDetailed, "Statement ran", "statement", shorten(statement), "rows", n)
		}
		return nil
	}
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	env.Log.Info("Query ran", "statement", shorten(statement), "rows", n)
	return nil
}

const shownStatement = 120

// shorten gives the beginning of a statement on one line.
func shorten(statement string) string {
	text := []rune(strings.Join(strings.Fields(statement), " "))
	if len(text) > shownStatement {
		return string(text[:shownStatement]) + "…"
	}
	return string(text)
}

// WritesTo implements action.Targeted: nobody knows what a script does twice.
func (s *SQLSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: "connection " + transform.Resolved(r, s.Connection.Text), How: "SQL script"}
}
