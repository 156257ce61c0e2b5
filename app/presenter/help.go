package presenter

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"sluice/assets/docs"
)

// HelpPage is one page of help.
type HelpPage struct {
	ID    string // such as "help/gates" or "transforms/FilterRows"
	Title string
	Group string
	text  string // Markdown, without the title
}

// helpOrder are the pages about the program, as they are listed.
var helpOrder = []string{"designer", "running", "gates", "replay", "executions", "metadata", "commands"}

// The groups of pages.
const (
	groupProgram    = "Sluice"
	groupTransforms = "Transforms"
)

// HelpPages lists all pages: those about the program, then the transforms by name.
func HelpPages() []HelpPage {
	var list []HelpPage
	for _, name := range helpOrder {
		if p, ok := helpPage("help/"+name, groupProgram); ok {
			list = append(list, p)
		}
	}
	names, err := fs.Glob(docs.Pages, "transforms/*.md")
	if err != nil {
		return list
	}
	var transforms []HelpPage
	for _, name := range names {
		id := strings.TrimSuffix(name, ".md")
		if p, ok := helpPage(id, groupTransforms); ok && path.Base(id) != "README" {
			transforms = append(transforms, p)
		}
	}
	slices.SortFunc(transforms, func(a, b HelpPage) int { return strings.Compare(lower(a.Title), lower(b.Title)) })
	return append(list, transforms...)
}

func helpPage(id, group string) (HelpPage, bool) {
	data, err := fs.ReadFile(docs.Pages, id+".md")
	if err != nil {
		return HelpPage{}, false
	}
	p := HelpPage{ID: id, Group: group, Title: path.Base(id)}
	var body []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "<!--"):
		case strings.HasPrefix(line, "# ") && len(body) == 0:
			p.Title = strings.TrimPrefix(line, "# ")
		case line == "" && len(body) == 0:
		default:
			body = append(body, line)
		}
	}
	p.text = strings.Join(body, "\n")
	return p, true
}

// HelpOfTransform is the page of a type of transform, "" when there is none.
func HelpOfTransform(kind string) string {
	if _, err := fs.Stat(docs.Pages, "transforms/"+kind+".md"); err != nil {
		return ""
	}
	return "transforms/" + kind
}

// SearchHelp gives the pages with all words of a text, those with a fitting title
// first.
func SearchHelp(pages []HelpPage, text string) []HelpPage {
	words := strings.Fields(lower(text))
	var titled, rest []HelpPage
	for _, p := range pages {
		inTitle, inText := true, true
		title, body := lower(p.Title), lower(p.Title+"\n"+p.text)
		for _, w := range words {
			inTitle = inTitle && strings.Contains(title, w)
			inText = inText && strings.Contains(body, w)
		}
		switch {
		case inTitle:
			titled = append(titled, p)
		case inText:
			rest = append(rest, p)
		}
	}
	return append(titled, rest...)
}

// Markdown is the page in the Markdown that a window can show: its tables are lists.
func (p HelpPage) Markdown() string {
	var out []string
	var head []string
	for line := range strings.Lines(p.text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "|") {
			head = nil
			out = append(out, line)
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case head == nil:
			head = cells
		case strings.Trim(line, "|-: ") == "":
		default:
			out = append(out, tableRow(head, cells))
		}
	}
	return strings.Join(out, "\n")
}

// tableRow writes a row of a table as an item of a list.
func tableRow(head, cells []string) string {
	parts := []string{"- **" + cells[0] + "**"}
	for i, c := range cells[1:] {
		switch {
		case c == "":
		case i+1 < len(head) && head[i+1] != "":
			parts = append(parts, ", ", lower(head[i+1]), " ", c)
		default:
			parts = append(parts, ": ", c)
		}
	}
	return strings.Join(parts, "")
}
