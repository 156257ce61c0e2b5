package presenter

import (
	"path/filepath"
	"slices"
	"strings"

	"sluice/engine/project"
)

// Completion is what stands in for the beginning of a variable that somebody types.
type Completion struct {
	From  int      // where "${" begins, in runes; the cursor when there is none
	Names []string // of the variables that fit, in order
}

// Complete finds the variables that fit what stands before the cursor. Without an
// open "${" all do.
func Complete(text string, cursor int, vars *project.Variables) Completion {
	if vars == nil {
		return Completion{From: cursor}
	}
	before := []rune(text)
	cursor = min(max(cursor, 0), len(before))
	c, begun := Completion{From: cursor}, ""
	if head := string(before[:cursor]); strings.Contains(head, "${") {
		at := strings.LastIndex(head, "${")
		if rest := head[at+2:]; !strings.Contains(rest, "}") {
			begun, c.From = strings.ToLower(rest), len([]rune(head[:at]))
		}
	}
	for _, name := range vars.Names() {
		if strings.HasPrefix(strings.ToLower(name), begun) {
			c.Names = append(c.Names, name)
		}
	}
	slices.Sort(c.Names)
	return c
}

// Insert gives the text and the cursor after a variable was chosen.
func (c Completion) Insert(text string, cursor int, name string) (string, int) {
	runes := []rune(text)
	cursor = min(max(cursor, 0), len(runes))
	put := []rune("${" + name + "}")
	return string(runes[:c.From]) + string(put) + string(runes[cursor:]), c.From + len(put)
}

// PortablePath gives a path inside a project as files of the project should name it.
func PortablePath(home, path string) string {
	rel, err := filepath.Rel(home, path)
	if home == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	if rel == "." {
		return "${PROJECT_HOME}"
	}
	return "${PROJECT_HOME}/" + filepath.ToSlash(rel)
}
