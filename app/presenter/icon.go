package presenter

import (
	"strings"

	"sluice/engine/transform"
)

var categoryIcons = map[transform.Category]string{
	transform.CategoryInput: "cat-input", transform.CategoryOutput: "cat-output", transform.Reshape: "cat-transform",
	transform.CategoryFlow: "cat-flow", transform.CategoryJoin: "cat-join", transform.CategoryLookup: "cat-lookup",
	transform.CategoryAggregate: "cat-aggregate", transform.CategoryScript: "cat-script", transform.CategoryDatabase: "cat-database",
	transform.CategoryWeb: "cat-web", transform.CategoryStream: "cat-stream",
}

var transformIcons = map[string]string{
	"calculator": "t-calculator", "formula": "t-calculator", "filterrows": "t-filter", "javafilter": "t-filter",
	"sortrows": "t-sort", "groupby": "t-group", "memorygroupby": "t-group", "mail": "t-mail", "tableinput": "t-table",
	"tableoutput": "t-table", "writetolog": "t-message", "textfileinput2": "t-file", "textfileoutput": "t-file", "csvinput": "t-file",
	"stringoperations": "t-clean", "replacestring": "t-clean",
}

// CategoryIcon names the icon of a category.
func CategoryIcon(c transform.Category) string {
	if icon, ok := categoryIcons[c]; ok {
		return icon
	}
	return "cat-transform"
}

// IconOf names the icon of a transform: its own, else that of its category.
func IconOf(d transform.Definition) string {
	if icon, ok := transformIcons[strings.ToLower(d.ID)]; ok {
		return icon
	}
	return CategoryIcon(d.Category)
}

// outside tells whether a transform touches the outside world.
func outside(d transform.Definition) bool {
	switch d.Category {
	case transform.CategoryInput, transform.CategoryOutput, transform.CategoryDatabase, transform.CategoryWeb, transform.CategoryStream:
		return true
	}
	return d.Sink
}

// actionLook is icon and tint of an action.
func actionLook(kind string) (icon string, outside bool) {
	switch strings.ToUpper(kind) {
	case "SPECIAL":
		return "t-start", false
	case "SUCCESS":
		return "check-ok", false
	case "ABORT":
		return "check-block", false
	case "PIPELINE":
		return "pipeline", false
	case "WORKFLOW":
		return "workflow", false
	case "MAIL":
		return "t-mail", true
	case "SQL":
		return "cat-database", true
	case "SHELL":
		return "terminal", true
	case "WRITE_TO_LOG":
		return "t-message", false
	}
	if strings.Contains(strings.ToUpper(kind), "FILE") || strings.Contains(strings.ToUpper(kind), "FOLDER") {
		return "t-file", true
	}
	return "settings", false
}
