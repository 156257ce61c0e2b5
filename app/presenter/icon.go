package presenter

import (
	"strings"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// categoryIcons are the icons of the categories of transforms and actions; those that
// share a name share the icon.
var categoryIcons = map[string]string{
	string(transform.CategoryInput): "cat-input", string(transform.CategoryOutput): "cat-output", string(transform.Reshape): "cat-transform",
	string(transform.CategoryFlow): "cat-flow", string(transform.CategoryJoin): "cat-join", string(transform.CategoryLookup): "cat-lookup",
	string(transform.CategoryAggregate): "cat-aggregate", string(transform.CategoryScript): "cat-script", string(transform.CategoryDatabase): "cat-database",
	string(transform.CategoryWeb): "cat-web", string(transform.CategoryStream): "cat-stream",
	string(action.CategoryGeneral): "workflow", string(action.CategoryFlow): "check-file", string(action.CategoryFiles): "folder",
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
func CategoryIcon(c string) string {
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
	return CategoryIcon(string(d.Category))
}

// outside tells whether a transform touches the outside world.
func outside(d transform.Definition) bool {
	switch d.Category {
	case transform.CategoryInput, transform.CategoryOutput, transform.CategoryDatabase, transform.CategoryWeb, transform.CategoryStream:
		return true
	}
	return d.Sink
}

// actionIcons are the icons of actions that have one of their own, by id in lower case.
var actionIcons = map[string]string{
	"special": "t-start", "success": "check-ok", "abort": "check-block", "dummy": "arrow-right", "join": "cat-join",
	"pipeline": "pipeline", "workflow": "workflow", "repeat": "refresh", "endrepeat": "stop", "delay": "clock",
	"set_variables": "variable", "write_to_log": "t-message", "simple_eval": "t-filter", "eval": "cat-script", "shell": "terminal",
	"sql": "cat-database", "mail": "t-mail", "http": "cat-web", "runpipelinetests": "check-file",
	"wait_for_file": "clock", "eval_files_metrics": "metrics", "copy_files": "copy", "move_files": "cut", "zip_file": "snapshot", "unzip": "snapshot",
	"delete_file": "delete", "delete_files": "delete", "delete_folders": "delete", "file_compare": "diff", "create_file": "new", "create_folder": "folder",
	"write_to_file": "t-file", "file_exists": "check-file", "files_exist": "check-file", "folder_is_empty": "folder",
	"add_result_filenames": "add", "copy_move_result_filenames": "copy",
}

// actionLook is icon and tint of an action: what it writes or sends is outside.
func actionLook(d action.Definition) (icon string, outside bool) {
	icon = CategoryIcon(string(d.Category))
	if own, ok := actionIcons[strings.ToLower(d.ID)]; ok {
		icon = own
	}
	switch d.Category {
	case action.CategoryFiles, action.CategorySQL, action.CategoryWeb:
		return icon, true
	}
	return icon, !d.ReadsOnly && (d.Category == action.CategoryScript)
}
