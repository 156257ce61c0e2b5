package scenario_test

import "strings"

func transformOf(name, kind, settings string) string {
	return "  <transform>\n    <name>" + name + "</name>\n    <type>" + kind + "</type>\n    <description/>\n    <distribute>N</distribute>\n    <copies>1</copies>\n" +
		settings + "\n    <GUI>\n      <xloc>100</xloc>\n      <yloc>100</yloc>\n    </GUI>\n  </transform>\n"
}

// pipelineOf writes a pipeline; hops are "a>b".
func pipelineOf(name, hops string, transforms ...string) string {
	var b strings.Builder
	b.WriteString("<pipeline>\n  <info>\n    <name>" + name + "</name>\n  </info>\n  <notepads>\n  </notepads>\n  <order>\n")
	for h := range strings.FieldsSeq(hops) {
		from, to, _ := strings.Cut(h, ">")
		b.WriteString("    <hop>\n      <from>" + from + "</from>\n      <to>" + to + "</to>\n      <enabled>Y</enabled>\n    </hop>\n")
	}
	b.WriteString("  </order>\n" + strings.Join(transforms, "") + "  <attributes/>\n</pipeline>\n")
	return b.String()
}

var (
	orders = transformOf("orders", "TableInput", "    <connection>source</connection>\n    <sql>SELECT id, status, amount FROM orders WHERE status = '${STATUS}' ORDER BY id</sql>\n    <limit>0</limit>\n    <variables_active>Y</variables_active>")
	keep   = transformOf("keep", "SelectValues", "    <fields>\n      <field>\n        <name>id</name>\n      </field>\n      <field>\n        <name>amount</name>\n      </field>\n    </fields>")
	target = transformOf("target", "TableOutput", "    <connection>target</connection>\n    <table>loaded</table>\n    <commit>2</commit>\n    <use_batch>N</use_batch>")
)

// load extracts the open orders through the gate "orders" into the target.
var load = pipelineOf("load", "orders>keep keep>target", orders, keep, target)

func actionOf(name, kind, settings string) string {
	return "    <action>\n      <name>" + name + "</name>\n      <type>" + kind + "</type>\n" + settings + "      <parallel>N</parallel>\n      <xloc>100</xloc>\n      <yloc>100</yloc>\n    </action>\n"
}

// workflowOf writes a workflow; hops are "a>b" always, "a+b" on success, "a-b" on
// failure.
func workflowOf(hops string, actions ...string) string {
	var b strings.Builder
	b.WriteString("<workflow>\n  <name>night</name>\n  <parameters>\n  </parameters>\n  <actions>\n" + actionOf("Start", "SPECIAL", "") + strings.Join(actions, "") + "  </actions>\n  <hops>\n")
	for h := range strings.FieldsSeq(hops) {
		at := strings.IndexAny(h, ">+-")
		always, evaluation := "N", "Y"
		switch h[at] {
		case '>':
			always = "Y"
		case '-':
			evaluation = "N"
		}
		b.WriteString("    <hop>\n      <from>" + h[:at] + "</from>\n      <to>" + h[at+1:] + "</to>\n      <enabled>Y</enabled>\n      <evaluation>" + evaluation + "</evaluation>\n      <unconditional>" + always + "</unconditional>\n    </hop>\n")
	}
	return b.String() + "  </hops>\n  <notepads>\n  </notepads>\n  <attributes/>\n</workflow>\n"
}

func runs(name, file string) string {
	return actionOf(name, "PIPELINE", "      <filename>${PROJECT_HOME}/"+file+"</filename>\n      <run_configuration>local</run_configuration>\n      <wait_until_finished>Y</wait_until_finished>\n")
}

func sets(name, variable, value string) string {
	return actionOf(name, "SET_VARIABLES", "      <replacevars>Y</replacevars>\n      <fields>\n        <field>\n          <variable_name>"+variable+"</variable_name>\n          <variable_value>"+value+"</variable_value>\n          <variable_type>CURRENT_WORKFLOW</variable_type>\n        </field>\n      </fields>\n")
}

func writes(name, file, text string) string {
	return actionOf(name, "WRITE_TO_FILE", "      <filename>${PROJECT_HOME}/"+file+"</filename>\n      <createParentFolder>Y</createParentFolder>\n      <appendFile>N</appendFile>\n      <content>"+text+"</content>\n")
}
