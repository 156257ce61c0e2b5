package reference

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"sluice/engine/transform"
)

// Generated stands in every page, so that nobody edits one by hand.
const Generated = "<!-- Made by `make docs` from the source; edits are lost. -->\n"

// Page is the reference page of one transform in Markdown.
func Page(d transform.Definition, doc string) (string, error) {
	settings, err := d.Settings()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n# %s\n\n%s\n", Generated, d.Name, d.Summary)
	if doc != "" {
		fmt.Fprintf(&b, "\n%s\n", doc)
	}
	facts(&b, d)
	tables(&b, "Settings", settings)
	if _, ok := d.Default().(transform.AfterDecoder); ok {
		b.WriteString("\nFurther settings, or older ways to write these, are laid out in the file in ways that this table cannot show.\n")
	}
	return b.String(), nil
}

// facts is the short list of what the engine does with the transform.
func facts(b *strings.Builder, d transform.Definition) {
	fmt.Fprintf(b, "\n- **Type id:** `%s`", d.ID)
	for _, a := range d.Aliases {
		fmt.Fprintf(b, ", also `%s`", a)
	}
	fmt.Fprintf(b, "\n- **Category:** %s\n", d.Category)
	fmt.Fprintf(b, "- **Inputs and outputs:** %s\n", ports(d))
	if d.HandlesErrors {
		b.WriteString("- **Bad rows:** go to the error hop when one is drawn; without one the first of them ends the run\n")
	} else {
		b.WriteString("- **Bad rows:** end the run; there is no error hop\n")
	}
	if d.Sink {
		b.WriteString("- **Writes outside of the pipeline:** a preview leaves it out and says so\n")
	}
}

// ports tells what the transform reads and gives with its default settings.
func ports(d transform.Definition) string {
	p := transform.PortsOf(d.Default(), transform.Links{Transform: d.Name, Copies: 1})
	var in, out []string
	for _, i := range p.Inputs {
		word := i.Name
		if i.Info && i.Read == transform.First {
			word += " (read to its end first)"
		}
		in = append(in, word)
	}
	for _, o := range p.Outputs {
		out = append(out, cmp.Or(o.Label, string(o.ID)))
	}
	text := "reads " + listed(in) + ", gives " + listed(out)
	if refs := targets(d); len(refs) > 0 {
		text += "; further ones are named by " + strings.Join(refs, ", ")
	}
	return text
}

func listed(words []string) string {
	if len(words) == 0 {
		return "no rows"
	}
	return strings.Join(words, ", ")
}

// targets names the settings that hold the name of another transform.
func targets(d transform.Definition) []string {
	list, err := d.Settings()
	if err != nil {
		return nil
	}
	var names []string
	var walk func([]transform.Setting)
	walk = func(list []transform.Setting) {
		for i := range list {
			s := &list[i]
			if s.Form == "transform" || s.Form == "target" {
				names = append(names, "*"+s.Title()+"*")
			}
			walk(s.Items)
		}
	}
	walk(list)
	return names
}

// tables writes a table of the settings, one of the advanced ones, the choices,
// and the same for each table among the settings.
func tables(b *strings.Builder, title string, list []transform.Setting) {
	flat := flatten(list, "")
	var plain, advanced []row
	for _, r := range flat {
		if r.setting.Advanced {
			advanced = append(advanced, r)
		} else {
			plain = append(plain, r)
		}
	}
	if len(flat) == 0 {
		if title == "Settings" {
			b.WriteString("\nThere are no settings.\n")
		}
		return
	}
	if len(plain) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n", title)
		table(b, plain)
	}
	if len(advanced) > 0 {
		fmt.Fprintf(b, "\n## %s: advanced\n\n", title)
		table(b, advanced)
	}
	choices(b, flat)
	for _, r := range flat {
		if r.setting.Kind == transform.KindTable {
			tables(b, r.setting.Title(), r.setting.Items)
		}
	}
}

// row is one line of a settings table; path is where the value is in the file.
type row struct {
	setting *transform.Setting
	path    string
}

// flatten replaces groups by their settings.
func flatten(list []transform.Setting, above string) []row {
	var rows []row
	for i := range list {
		s := &list[i]
		path := above + s.Key()
		if s.Kind == transform.KindGroup {
			if path != "" {
				path += ">"
			}
			rows = append(rows, flatten(s.Items, path)...)
			continue
		}
		rows = append(rows, row{s, path})
	}
	return rows
}

func table(b *strings.Builder, rows []row) {
	b.WriteString("| Setting | Element | Value | Default | |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		s := r.setting
		fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s |\n", cell(s.Title()), r.path, value(s), standard(s), remark(s))
	}
}

// kinds says what the form words stand for.
var kinds = map[string]string{
	"field": "field", "file": "file", "folder": "folder", "connection": "connection", "transform": "transform", "target": "transform",
	"sql": "SQL", "script": "script", "mask": "mask", "regex": "regular expression", "pipeline": "pipeline file",
	"run-configuration": "run configuration", "schema-definition": "schema definition", "dataset": "data set",
}

func value(s *transform.Setting) string {
	text := cmp.Or(kinds[s.Form], holds(s))
	switch s.Kind {
	case transform.KindExpr:
		text += ", `${}`"
	case transform.KindList:
		text = "list: " + text
	}
	if s.Unit != "" {
		text += ", " + s.Unit
	}
	return cell(text)
}

func holds(s *transform.Setting) string {
	switch s.Kind {
	case transform.KindChoice:
		return "choice"
	case transform.KindType:
		return "type"
	case transform.KindSecret:
		return "password"
	case transform.KindTable:
		return "table, below"
	}
	switch s.Holds() {
	case reflect.Bool:
		return "yes or no"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	}
	return "text"
}

func standard(s *transform.Setting) string {
	switch {
	case !s.HasDef && s.Holds() == reflect.Bool && s.Kind != transform.KindTable:
		return "no"
	case s.Holds() == reflect.Bool && s.HasDef:
		if strings.EqualFold(s.Default, "true") || strings.EqualFold(s.Default, "Y") {
			return "yes"
		}
		return "no"
	case s.HasDef && s.Default != "":
		return cell(code(s.Default))
	}
	return ""
}

// remark is the help, the bounds and whether the setting is needed.
func remark(s *transform.Setting) string {
	var words []string
	if s.Required {
		words = append(words, "Required.")
	}
	if s.Help != "" {
		words = append(words, cell(strings.TrimSuffix(s.Help, ".")+"."))
	}
	if s.Min != "" {
		words = append(words, "At least "+s.Min+".")
	}
	if s.Max != "" {
		words = append(words, "At most "+s.Max+".")
	}
	var old []string
	for _, a := range s.Aliases {
		old = append(old, cell(code(strings.Join(a, ">"))))
	}
	if len(old) > 0 {
		words = append(words, "Older files: "+strings.Join(old, ", ")+".")
	}
	return strings.Join(words, " ")
}

// manyChoices is the number of choices from which on they share a paragraph when
// none of them is explained.
const manyChoices = 6

func choices(b *strings.Builder, rows []row) {
	for _, r := range rows {
		list := r.setting.Choices()
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n**%s**\n\n", r.setting.Title())
		if bare(list) && len(list) > manyChoices {
			var codes []string
			for _, c := range list {
				codes = append(codes, code(c.Code))
			}
			b.WriteString(strings.Join(codes, ", ") + "\n")
			continue
		}
		for _, c := range list {
			b.WriteString("- " + code(c.Code) + explained(c) + "\n")
		}
	}
}

func explained(c transform.Choice) string {
	text := ""
	if c.Label != "" && !strings.EqualFold(c.Label, c.Code) {
		text = " " + c.Label
	}
	if c.Help != "" {
		text += ": " + c.Help
	}
	return text
}

func bare(list []transform.Choice) bool {
	for _, c := range list {
		if explained(c) != "" {
			return false
		}
	}
	return true
}

// code sets a text in code type, also when it holds back quotes or nothing.
func code(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "(blank)"
	case strings.Contains(text, "`"):
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

var cellText = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", ">", "&gt;")

// cell makes text fit for a cell of a table; code keeps its angle brackets.
func cell(text string) string {
	if strings.HasPrefix(text, "`") {
		return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
	}
	return cellText.Replace(text)
}
