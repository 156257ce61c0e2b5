package reference

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Comments reads the doc comments of the definitions in the families below a
// folder: "var X = transform.Define[…](transform.About{ID: …})". The texts are
// Markdown, by type id; the variable's name at the start is the transform's.
func Comments(folder string) (map[string]string, error) {
	sources, err := filepath.Glob(filepath.Join(folder, "*", "*.go"))
	if err != nil {
		return nil, err
	}
	docs := map[string]string{}
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read doc comments: %w", err)
		}
		for _, decl := range f.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
				definitions(g, docs)
			}
		}
	}
	return docs, nil
}

func definitions(g *ast.GenDecl, docs map[string]string) {
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			continue
		}
		about := aboutOf(v.Values[0])
		text := v.Doc.Text()
		if text == "" {
			text = g.Doc.Text()
		}
		if id := about["ID"]; id != "" && text != "" {
			docs[id] = markdown(text, v.Names[0].Name, about["Name"])
		}
	}
}

// aboutOf gives the texts of the About literal in a call of transform.Define.
func aboutOf(value ast.Expr) map[string]string {
	about := map[string]string{}
	ast.Inspect(value, func(n ast.Node) bool {
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
			key, isName := kv.Key.(*ast.Ident)
			text, isText := kv.Value.(*ast.BasicLit)
			if !isName || !isText {
				continue
			}
			if s, err := strconv.Unquote(text.Value); err == nil {
				about[key.Name] = s
			}
		}
		return false
	})
	return about
}

// citation points to the format page by number, which readers of the pages do
// not have at hand.
var citation = regexp.MustCompile(` ?\((see )?reference [0-9][^)]*\)`)

func markdown(text, variable, name string) string {
	if rest, ok := strings.CutPrefix(text, variable+" "); ok && name != "" {
		text = name + " " + rest
	}
	text = citation.ReplaceAllString(text, "")
	var p comment.Parser
	pr := comment.Printer{HeadingLevel: 3, HeadingID: func(*comment.Heading) string { return "" }}
	return strings.TrimSpace(string(pr.Markdown(p.Parse(text))))
}
