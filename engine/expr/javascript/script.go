// Package javascript runs the JavaScript of pipelines and workflows.
//
// A Script is compiled once. A Runtime is one interpreter with the functions and
// objects that Hop gives to scripts; it keeps what scripts leave in it and is
// owned by one goroutine. Java classes (java.…, Packages.…) do not exist; a
// script that uses one gets an error that names the line.
package javascript

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// Script is a compiled script. It is immutable and safe for many goroutines.
type Script struct {
	name    string
	source  string
	program *goja.Program
	facts   facts
}

// Error is a script's failure. Line counts from 1; 0 when it is not known.
type Error struct {
	Script  string
	Line    int
	Message string
	Hint    string
	Err     error
}

// Error names the script and the line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "script %q", e.Script)
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	b.WriteString(": " + e.Message)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Compile reads a script. Declarations with let and const at its top become var,
// because a script runs once per row in the same scope; a call of length() reads
// the length of a text as in Java. The error is an *Error with the line.
func Compile(name, source string) (*Script, error) {
	tree, err := parse(name, source)
	if err != nil {
		return nil, err
	}
	rewritten := rewrite(source, tree)
	if rewritten != source {
		if tree, err = parse(name, rewritten); err != nil {
			return nil, err
		}
	}
	s := &Script{name: name, source: source, facts: examine(tree)}
	if s.program, err = goja.CompileAST(tree, false); err != nil {
		return nil, compileError(name, err)
	}
	return s, nil
}

func parse(name, source string) (*ast.Program, error) {
	tree, err := parser.ParseFile(nil, name, source, 0, parser.WithDisableSourceMaps)
	if err != nil {
		var list parser.ErrorList
		if errors.As(err, &list) && len(list) > 0 {
			return nil, &Error{Script: name, Line: list[0].Position.Line, Message: list[0].Message, Err: err}
		}
		return nil, &Error{Script: name, Message: err.Error(), Err: err}
	}
	return tree, nil
}

func compileError(name string, err error) error {
	var s *goja.CompilerSyntaxError
	if errors.As(err, &s) && s.File != nil {
		return &Error{Script: name, Line: s.File.Position(s.Offset).Line, Message: s.Message, Err: err}
	}
	return &Error{Script: name, Message: err.Error(), Err: err}
}

// rewrite changes the source in place, so that lines and columns stay.
func rewrite(source string, tree *ast.Program) string {
	out := []byte(source)
	at := func(i file.Idx) int { return int(i) - tree.File.Base() }
	for _, st := range tree.Body {
		d, ok := st.(*ast.LexicalDeclaration)
		if !ok {
			continue
		}
		i := at(d.Idx)
		word := d.Token.String()
		if i >= 0 && strings.HasPrefix(source[i:], word) {
			copy(out[i:], "var"+strings.Repeat(" ", len(word)-len("var")))
		}
	}
	walk(tree, func(n any) bool {
		call, ok := n.(*ast.CallExpression)
		if !ok || len(call.ArgumentList) > 0 {
			return true
		}
		dot, ok := call.Callee.(*ast.DotExpression)
		if !ok || dot.Identifier.Name != "length" {
			return true
		}
		for _, i := range []int{at(call.LeftParenthesis), at(call.RightParenthesis)} {
			if i >= 0 && i < len(out) {
				out[i] = ' '
			}
		}
		return true
	})
	return string(out)
}

// Name is the script's name.
func (s *Script) Name() string { return s.name }

// Mentions says whether a word occurs in the script, which is how Hop decides
// which fields a script sees.
func (s *Script) Mentions(word string) bool { return strings.Contains(s.source, word) }

// Uses says whether the script has an identifier of that name.
func (s *Script) Uses(identifier string) bool { return s.facts.names[identifier] }

// UsesJava gives the line of the first use of a Java class, 0 when there is none.
func (s *Script) UsesJava() int { return s.facts.javaLine }

// IsPure says that a run of the script depends only on the given fields and leaves
// nothing behind that a later run could see, so that rows may run in any order
// and in several runtimes.
func (s *Script) IsPure(fields []string) bool { return s.facts.pure(fields) }
