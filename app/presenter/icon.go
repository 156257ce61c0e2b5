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

// transformIcons are the icons of transforms that have one of their own, by id in
// lower case.
var transformIcons = map[string]string{
	"abort": "check-block", "addxml": "cat-script", "analyticquery": "metrics", "blockingtransform": "pause", "blockuntiltransformsfinish": "clock",
	"calculator": "t-calculator", "checksum": "key", "clonerow": "copy", "coalesce": "filter-list", "concatfields": "link", "constant": "edit",
	"csvinput": "t-file", "datagrid": "t-table", "datasetinput": "snapshot", "delay": "clock", "detectemptystream": "preview", "detectlastrow": "preview",
	"dummy": "arrow-right", "excelinput": "t-table", "fake": "user", "fieldsplitter": "cut", "fieldschangesequence": "sparkline", "fileexists": "check-file",
	"filterrows": "t-filter", "flattener": "layout", "denormaliser": "layout", "normaliser": "layout", "formula": "t-calculator",
	"getfilenames": "folder", "getvariable": "variable", "getxmldata": "t-file", "groupby": "t-group", "ifnull": "eraser", "javafilter": "t-filter",
	"jsoninput": "t-file", "jsonnormalizeinput": "t-file", "jsonoutput": "cat-script", "enhancedjsonoutput": "cat-script",
	"memorygroupby": "t-group", "nullif": "eraser", "numberrange": "align", "parquetfileinput": "t-file", "parquetfileoutput": "t-file",
	"pipelineexecutor": "pipeline", "randomvalue": "sparkline", "regexeval": "search", "repeatfields": "copy", "replacestring": "t-clean",
	"reservoirsampling": "sniff", "rowgenerator": "add", "rowsfromresult": "parent", "rowstoresult": "drill", "samplerows": "sniff",
	"selectvalues": "pick-fields", "sequence": "metrics", "setvaluefield": "edit", "setvalueconstant": "edit", "setvariable": "variable", "sortrows": "t-sort",
	"splitfieldtorows3": "cut", "streamschema": "diff", "stringcut": "cut", "stringoperations": "t-clean", "systeminfo": "info",
	"tableinput": "cat-database", "tableoutput": "cat-database", "textfileinput2": "t-file", "textfileoutput": "t-file", "transformmetastructure": "info",
	"typeexitexcelwritertransform": "t-table", "unique": "filter-list", "uniquerowsbyhashset": "filter-list", "valuemapper": "diff",
	"workflowexecutor": "workflow", "writetolog": "t-message", "xmlinputstream": "t-file", "xmloutput": "t-file",
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
