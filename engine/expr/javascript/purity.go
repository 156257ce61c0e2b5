package javascript

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// facts are what an examination of a script's tree finds.
type facts struct {
	always   map[string]bool // set by every run before anything reads it
	assigned map[string]bool // names that are assigned to
	names    map[string]bool // all identifiers
	impure   bool
	javaLine int
}

// javaRoots begin the names of Java classes.
var javaRoots = map[string]bool{"java": true, "javax": true, "Packages": true, "JavaImporter": true, "importPackage": true, "importClass": true, "JavaAdapter": true}

// impureNames reach beyond a single run.
var impureNames = map[string]bool{
	"pipeline_Status": true, "setVariable": true, "setEnvironmentVar": true, "putRow": true, "createRowCopy": true, "row": true, "eval": true,
	"Function": true, "globalThis": true, "writeToLog": true, "print": true, "println": true, "Alert": true, "_transform_": true, "getProcessCount": true,
	"LoadScriptFile": true, "LoadScriptFromTab": true, "deleteFile": true, "createFolder": true, "touch": true, "appendToFile": true, "Math_random": true,
	"prototype": true, "__proto__": true, "RegExp": true, "Object": true, "Array": true, "Reflect": true,
}

// pure says whether nothing stays from one run to the next: every name assigned
// to is a field, or is set anew by each run.
func (f *facts) pure(fields []string) bool {
	if f.impure || f.javaLine > 0 {
		return false
	}
	own := map[string]bool{}
	for _, n := range fields {
		own[n] = true
	}
	for n := range f.assigned {
		if !own[n] && !f.always[n] {
			return false
		}
	}
	return true
}

// examine looks at the statements in order: a top-level declaration with a value
// counts from there on, so a script that assigns earlier is not pure.
func examine(tree *ast.Program) facts {
	f := facts{always: map[string]bool{}, assigned: map[string]bool{}, names: map[string]bool{}}
	early := f.names
	for _, st := range tree.Body {
		declared := topLevel(st)
		walk(st, func(n any) bool { return f.visit(tree, n) })
		for name := range declared {
			if early[name] {
				f.impure = true // read or assigned before it is set: may hold the last row's value
			}
			f.always[name] = true
		}
		walk(st, func(n any) bool {
			if id, ok := n.(*ast.Identifier); ok {
				early[id.Name.String()] = true
			}
			return true
		})
	}
	return f
}

// topLevel lists the names that a statement always sets.
func topLevel(st ast.Statement) map[string]bool {
	names := map[string]bool{}
	switch st := st.(type) {
	case *ast.VariableStatement:
		for _, b := range st.List {
			if id, ok := b.Target.(*ast.Identifier); ok && b.Initializer != nil {
				names[id.Name.String()] = true
			}
		}
	case *ast.FunctionDeclaration:
		if st.Function.Name != nil {
			names[st.Function.Name.Name.String()] = true
		}
	}
	return names
}

// visit records what a node does; false keeps out of it.
func (f *facts) visit(tree *ast.Program, n any) bool {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		f.function(tree, n.ParameterList, n.Body)
		return false
	case *ast.ArrowFunctionLiteral:
		f.function(tree, n.ParameterList, n.Body)
		return false
	case *ast.Identifier:
		name := n.Name.String()
		if impureNames[name] {
			f.impure = true
		}
		if javaRoots[name] && f.javaLine == 0 {
			f.javaLine = tree.File.Position(int(n.Idx) - tree.File.Base()).Line
		}
	case *ast.DotExpression:
		if n.Identifier.Name == "random" || n.Identifier.Name == "prototype" {
			f.impure = true
		}
	case *ast.AssignExpression:
		f.assign(n.Left)
	case *ast.UnaryExpression:
		if n.Operator == token.INCREMENT || n.Operator == token.DECREMENT || n.Operator == token.DELETE {
			f.assign(n.Operand)
		}
	case *ast.Binding:
		if id, ok := n.Target.(*ast.Identifier); ok {
			f.assigned[id.Name.String()] = true
		} else {
			f.impure = true
		}
	case *ast.ThisExpression, *ast.WithStatement, *ast.ForInStatement, *ast.ForOfStatement:
		f.impure = true
	}
	return true
}

// function examines a function's body: what it declares itself is gone with the
// call, what else it assigns to counts.
func (f *facts) function(tree *ast.Program, parameters *ast.ParameterList, body any) {
	inner := facts{always: map[string]bool{}, assigned: map[string]bool{}}
	local := map[string]bool{}
	for _, part := range []any{parameters, body} {
		walk(part, func(n any) bool {
			if b, ok := n.(*ast.Binding); ok {
				if id, ok := b.Target.(*ast.Identifier); ok {
					local[id.Name.String()] = true
				}
			}
			return inner.visit(tree, n)
		})
	}
	f.impure = f.impure || inner.impure
	if f.javaLine == 0 {
		f.javaLine = inner.javaLine
	}
	for name := range inner.assigned {
		if !local[name] {
			f.assigned[name] = true
		}
	}
}

// assign records the root of what is assigned to.
func (f *facts) assign(target ast.Expression) {
	for {
		switch t := target.(type) {
		case *ast.Identifier:
			f.assigned[t.Name.String()] = true
			return
		case *ast.DotExpression:
			target = t.Left
		case *ast.BracketExpression:
			target = t.Left
		default:
			f.impure = true
			return
		}
	}
}

// walk visits the nodes below n, n included, in order; where visit answers false
// it goes no deeper.
func walk(n any, visit func(n any) bool) { walkValue(reflect.ValueOf(n), visit) }

func walkValue(v reflect.Value, visit func(n any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			walkValue(v.Elem(), visit)
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct || v.Type().Elem().PkgPath() != astPackage {
			return
		}
		if v.CanInterface() && !visit(v.Interface()) {
			return
		}
		walkFields(v.Elem(), visit)
	case reflect.Struct:
		if v.Type().PkgPath() == astPackage {
			walkFields(v, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkValue(v.Index(i), visit)
		}
	}
}

var astPackage = reflect.TypeFor[ast.Program]().PkgPath()

// walkFields visits a node's fields, but not the lists of declarations that the
// parser keeps beside the statements.
func walkFields(v reflect.Value, visit func(n any) bool) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
			walkValue(v.Field(i), visit)
		}
	}
}
