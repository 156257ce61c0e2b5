package javascript

import (
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// CompileJava compiles a Java expression over fields, such as
// `id > 5 && name.startsWith("a")`, as far as it means the same in JavaScript:
// comparisons, logic, arithmetic without division, and the methods of texts,
// numbers and dates. The error is an *Error that says what cannot be run.
func CompileJava(name, source string) (*Script, error) {
	tree, err := parse(name, source)
	if err != nil {
		return nil, err
	}
	const hint = "use Filter rows or JavaScript instead"
	if len(tree.Body) != 1 {
		return nil, &Error{Script: name, Line: 1, Message: "it is not one Java expression", Hint: hint}
	}
	if _, ok := tree.Body[0].(*ast.ExpressionStatement); !ok {
		return nil, &Error{Script: name, Line: 1, Message: "it is not a Java expression", Hint: hint}
	}
	tree, err = parse(name, rewrite(source, tree))
	if err != nil {
		return nil, err
	}
	bad := ""
	walk(tree, func(n any) bool {
		switch n := n.(type) {
		case *ast.BinaryExpression:
			switch n.Operator {
			case token.SLASH:
				bad = "a division, which drops the fraction of integers in Java"
			case token.STRICT_EQUAL, token.STRICT_NOT_EQUAL, token.IN:
				bad = "an operator that Java does not have"
			}
		case *ast.AssignExpression:
			bad = "an assignment"
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.NewExpression:
			bad = "a function or a new object"
		}
		return bad == ""
	})
	f := examine(tree)
	if f.javaLine > 0 {
		bad = "a Java class"
	}
	if bad != "" {
		return nil, &Error{Script: name, Line: max(1, f.javaLine), Message: "the expression has " + bad + ", which cannot be run here", Hint: hint}
	}
	s := &Script{name: name, source: source, facts: f}
	if s.program, err = goja.CompileAST(tree, false); err != nil {
		return nil, compileError(name, err)
	}
	return s, nil
}
