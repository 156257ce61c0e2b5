package transforms_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/engine/transforms"
)

func TestEveryDefinitionIsComplete(t *testing.T) {
	for _, d := range transforms.Registry().All() {
		if d.ID == "" || d.Name == "" || d.Category == "" || d.Summary == "" {
			t.Errorf("%s: id, name, category and summary are needed: %+v", d.ID, d.About)
		}
		if !strings.HasSuffix(d.Summary, ".") {
			t.Errorf("%s: the summary is a sentence: %q", d.ID, d.Summary)
		}
		if _, err := d.Settings(); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
		if d.Default() == nil {
			t.Errorf("%s: no default settings", d.ID)
		}
	}
}

// Every "var X = transform.Define" of a family stands in a family's list.
func TestEveryDefinitionIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, d := range transforms.Registry().All() {
		listed[strings.ToLower(d.ID)] = true
	}
	families, err := filepath.Glob("*/*.go")
	if err != nil || len(families) == 0 {
		t.Fatalf("no families: %v", err)
	}
	defined := 0
	for _, file := range families {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, id := range definedIn(t, file) {
			defined++
			if !listed[strings.ToLower(id)] {
				t.Errorf("%s defines %s, which is in no list", file, id)
			}
		}
	}
	if defined == 0 {
		t.Error("no definition found; has Define been renamed?")
	}
}

func definedIn(t *testing.T, file string) []string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if sel, ok := lit.Type.(*ast.SelectorExpr); !ok || sel.Sel.Name != "About" {
			return true
		}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "ID" {
				if b, ok := kv.Value.(*ast.BasicLit); ok {
					ids = append(ids, strings.Trim(b.Value, `"`))
				}
			}
		}
		return true
	})
	return ids
}
