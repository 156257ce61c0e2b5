package presenter

import (
	"reflect"
	"strconv"
	"strings"

	"sluice/engine/expr"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Form is the settings of one transform or action while they are edited. What is typed goes
// into Name and Entries (and Condition); nothing reaches the file before OK.
type Form struct {
	Kind         *Kind
	Name         string
	Description  string
	Entries      []transform.Entry
	Condition    *expr.Condition // of a transform that HasCondition
	HasCondition bool

	node      Node
	original  []transform.Entry
	condition *expr.Condition
	file      *File
}

// Form opens the settings of a node; false when its type has no form.
func (f *File) Form(id hopxml.ID) (*Form, bool) {
	n, ok := f.Node(id)
	d := f.decode(n)
	if !ok || d.kind == nil {
		return nil, false
	}
	original, err := d.kind.entries(d.settings)
	if err != nil {
		return nil, false
	}
	fm := &Form{
		Kind: d.kind, Name: n.Name, Description: n.Description,
		Entries: transform.CloneEntries(original), node: n, original: original, file: f,
	}
	fm.condition, fm.HasCondition = conditionOf(d.settings)
	fm.Condition = cloneCondition(fm.condition)
	return fm, true
}

var conditionType = reflect.TypeFor[*expr.Condition]()

// conditionOf gives the condition of settings that have one.
func conditionOf(s any) (*expr.Condition, bool) {
	v := reflect.ValueOf(s).Elem().FieldByName("Condition")
	if !v.IsValid() || v.Type() != conditionType {
		return nil, false
	}
	c, _ := reflect.TypeAssert[*expr.Condition](v)
	return c, true
}

func cloneCondition(c *expr.Condition) *expr.Condition {
	if c == nil {
		return nil
	}
	d := *c
	if c.Constant != nil {
		k := *c.Constant
		d.Constant = &k
	}
	d.Children = nil
	for _, child := range c.Children {
		d.Children = append(d.Children, cloneCondition(child))
	}
	return &d
}

// Changed tells whether anything differs from the file.
func (fm *Form) Changed() bool { return len(fm.Edits()) > 0 }

// Edits are what OK does: the name, the description, the changed settings.
func (fm *Form) Edits() []hopxml.Edit {
	edits := transform.EncodeEntries(fm.node.Element, fm.original, fm.Entries)
	if fm.HasCondition && !reflect.DeepEqual(fm.condition, fm.Condition) {
		edits = append(edits, conditionEdit(fm.node.Element, fm.Condition))
	}
	if fm.Description != fm.node.Description {
		edits = append(edits, hopxml.SetChild(fm.node.ID, "description", fm.Description, hopxml.Canonical()))
	}
	if name := fm.name(); name != fm.node.Name && name != "" {
		edits = append(edits, fm.file.rename(fm.node, name))
	}
	return edits
}

// name is the name as it will be: without blanks around what was typed, but one that
// was not touched keeps those it has.
func (fm *Form) name() string {
	if fm.Name == fm.node.Name {
		return fm.Name
	}
	return strings.TrimSpace(fm.Name)
}

// Apply makes one step of undo of the form.
func (fm *Form) Apply() error { return fm.file.Do("edit "+fm.node.Name, fm.Edits()...) }

// Problems lists what is wrong with what the form holds: a setting that cannot be
// read, is missing or out of its range. Problems of the name have no setting path
// but "name".
func (fm *Form) Problems() []transform.Problem {
	var list []transform.Problem
	name := fm.name()
	if name == "" {
		list = append(list, transform.Problem{Severity: transform.Err, Setting: NameSetting, Message: "The name is empty", Hint: "give the " + fm.file.Noun() + " a name"})
	} else if other, ok := fm.file.NodeNamed(name); ok && other.ID != fm.node.ID {
		list = append(list, transform.Problem{Severity: transform.Err, Setting: NameSetting, Message: "Another " + fm.file.Noun() + " has this name", Hint: "choose a name that is free, such as " + fm.file.uniqueName(name, nil)})
	}
	doc, err := fm.file.doc.Apply(transform.EncodeEntries(fm.node.Element, fm.original, fm.Entries)...)
	if err != nil {
		return append(list, transform.Errorf("", "%v", err))
	}
	s, problems := fm.Kind.decode(doc.Element(fm.node.ID))
	list = append(list, problems...)
	missing, err := fm.Kind.missing(s)
	if err != nil {
		return append(list, transform.Errorf("", "%v", err))
	}
	return append(list, missing...)
}

// NameSetting stands for the name of the node in problems of a form.
const NameSetting = "transform name"

// Resolved shows what a text with variables comes to; "" when it has none.
func Resolved(text string, vars *project.Variables) string {
	if vars == nil || len(project.References(text)) == 0 {
		return ""
	}
	value, err := vars.Resolve(text)
	if err != nil {
		return err.Error()
	}
	if value == text {
		return "no value yet: " + strings.Join(project.References(text), ", ")
	}
	return "= " + value
}

// RowPath is the path of a cell in problems: "fields>field[2]>name".
func RowPath(table *transform.Setting, row int, column *transform.Setting) string {
	p := table.Key() + "[" + strconv.Itoa(row+1) + "]"
	if column == nil || column == table {
		return p
	}
	return p + ">" + column.Key()
}

// AddRow adds a row behind row at, at the end when at is no row, and returns its
// number.
func AddRow(e *transform.Entry, at int) int {
	row := e.Setting.NewRow()
	if at < 0 || at >= len(e.Rows) {
		e.Rows = append(e.Rows, row)
		return len(e.Rows) - 1
	}
	e.Rows = append(e.Rows[:at+1], append([][]transform.Entry{row}, e.Rows[at+1:]...)...)
	return at + 1
}

// RemoveRow takes a row out and returns the row to select then; -1 for none.
func RemoveRow(e *transform.Entry, at int) int {
	if at < 0 || at >= len(e.Rows) {
		return -1
	}
	e.Rows = append(e.Rows[:at], e.Rows[at+1:]...)
	return min(at, len(e.Rows)-1)
}

// MoveRow moves a row up (-1) or down (1) and returns where it is then.
func MoveRow(e *transform.Entry, at, by int) int {
	to := at + by
	if at < 0 || at >= len(e.Rows) || to < 0 || to >= len(e.Rows) {
		return at
	}
	e.Rows[at], e.Rows[to] = e.Rows[to], e.Rows[at]
	return to
}

// FillFields adds a row for each field that no row names yet, in the column that
// holds field names; it returns how many. Type, length and precision columns take
// those of the field.
func FillFields(e *transform.Entry, fields []Field) int {
	column := FieldColumn(e.Setting)
	if column < 0 {
		return 0
	}
	have := map[string]bool{}
	for _, r := range e.Rows {
		have[lower(r[column].Text)] = true
	}
	n := 0
	for _, f := range fields {
		if have[lower(f.Name)] {
			continue
		}
		row := e.Setting.NewRow()
		row[column].Text = f.Name
		for i := range row {
			switch {
			case row[i].Setting.Kind == transform.KindType:
				row[i].Text = f.Type
			case row[i].Setting.Kind == transform.KindNumber && row[i].Setting.Name == "Length":
				row[i].Text = strconv.Itoa(f.Length)
			case row[i].Setting.Kind == transform.KindNumber && row[i].Setting.Name == "Precision":
				row[i].Text = strconv.Itoa(f.Precision)
			}
		}
		e.Rows = append(e.Rows, row)
		n++
	}
	return n
}

// FieldColumn is the column of a table that names fields of the input; -1 for none.
func FieldColumn(table *transform.Setting) int {
	if table.Kind == transform.KindList && table.Form == "field" {
		return 0
	}
	for i := range table.Items {
		if table.Items[i].Form == "field" {
			return i
		}
	}
	return -1
}

// MetadataTypes are the types of metadata that a setting of a form may name, for a
// node of a type.
func MetadataTypes(form, node string) []string {
	switch form {
	case "connection":
		return []string{project.TypeRDBMS}
	case "dataset":
		return []string{project.TypeDataset}
	case "schema-definition":
		return []string{project.TypeSchemaDefinition}
	case "unit-test":
		return []string{project.TypeUnitTest}
	case "run-configuration":
		switch strings.ToUpper(node) {
		case "WORKFLOW", "WORKFLOWEXECUTOR":
			return []string{project.TypeWorkflowRunConfiguration}
		case "REPEAT":
			return []string{project.TypePipelineRunConfiguration, project.TypeWorkflowRunConfiguration}
		}
		return []string{project.TypePipelineRunConfiguration}
	}
	return nil
}
