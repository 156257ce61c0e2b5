package scenario_test

import (
	"os"
	"strings"
	"testing"
)

// csvOf reads a file with the columns id, status and amount.
func csvOf(name, file string) string {
	fields := ""
	for _, f := range []string{"id Integer", "status String", "amount Integer"} {
		column, kind, _ := strings.Cut(f, " ")
		fields += "      <field>\n        <name>" + column + "</name>\n        <type>" + kind + "</type>\n        <length>-1</length>\n        <precision>-1</precision>\n        <trim_type>none</trim_type>\n      </field>\n"
	}
	return transformOf(name, "CSVInput", "    <filename>${PROJECT_HOME}/"+file+"</filename>\n    <separator>,</separator>\n    <enclosure>\"</enclosure>\n    <header>Y</header>\n    <lazy_conversion>N</lazy_conversion>\n    <fields>\n"+fields+"    </fields>")
}

// withFile is a load whose second source is a file beside the gate.
func withFile(s *shop) {
	s.t.Helper()
	s.write("extra.csv", "id,status,amount\n7,open,70\n8,open,80\n")
	s.write("load.hpl", pipelineOf("load", "orders>all extra>all all>keep keep>target",
		orders, csvOf("extra", "extra.csv"), transformOf("all", "Append", "    <head_name>orders</head_name>\n    <tail_name>extra</tail_name>"), keep, target))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
}

// TestOneSourceIsReusedAndAnotherReadAgain: a file beside the gate, which has the
// time of the rows only while it is the same file.
func TestOneSourceIsReusedAndAnotherReadAgain(t *testing.T) {
	both := append(append([]string{}, original...), "7:70", "8:80")
	t.Run("the same file", func(t *testing.T) {
		s := newShop(t)
		withFile(s)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		p := s.preflight(ready, id)
		p.wantSteps(t, "orders=REUSE", "extra=RUN", "all=RUN", "target=RUN")
		s.sluice("replay", id).want(ready)
		s.wantLoaded(both)
	})
	t.Run("the file changed", func(t *testing.T) {
		s := newShop(t)
		withFile(s)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		s.write("extra.csv", "id,status,amount\n7,open,71\n8,open,80\n")
		s.preflight(blocked, id).wantCheck(t, "mixed-time", "BLOCK", "extra", "orders", "20")
		s.sluice("replay", id).want(blocked)
		s.wantLoaded(nil)
		s.sluice("replay", id, "--override", "mixed-time", "--reason", "the file was corrected").want(ready)
		s.wantLoaded(append(append([]string{}, original...), "7:71", "8:80"))
		s.sluice("executions", "list", "--limit", "1", "--json").want(ready, "the file was corrected")
	})
	t.Run("constants", func(t *testing.T) {
		s := newShop(t)
		s.write("load.hpl", pipelineOf("load", "orders>all extra>all all>keep keep>target", orders,
			transformOf("extra", "DataGrid", "    <fields>\n      <field>\n        <name>id</name>\n        <type>Integer</type>\n        <length>-1</length>\n        <precision>-1</precision>\n        <set_empty_string>N</set_empty_string>\n      </field>\n      <field>\n        <name>status</name>\n        <type>String</type>\n        <length>-1</length>\n        <precision>-1</precision>\n        <set_empty_string>N</set_empty_string>\n      </field>\n      <field>\n        <name>amount</name>\n        <type>Integer</type>\n        <length>-1</length>\n        <precision>-1</precision>\n        <set_empty_string>N</set_empty_string>\n      </field>\n    </fields>\n    <data>\n      <line>\n        <item>7</item>\n        <item>open</item>\n        <item>70</item>\n      </line>\n      <line>\n        <item>8</item>\n        <item>open</item>\n        <item>80</item>\n      </line>\n    </data>"),
			transformOf("all", "Append", "    <head_name>orders</head_name>\n    <tail_name>extra</tail_name>"), keep, target))
		s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		s.preflight(ready, id)
		s.sluice("replay", id).want(ready)
		s.wantLoaded(both)
	})
}

// TestTwoSealedSourcesAreBothReused: both gates were sealed; neither source is
// opened.
func TestTwoSealedSourcesAreBothReused(t *testing.T) {
	s := newShop(t)
	withFile(s)
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "extra").want(ready)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	if err := os.Remove(s.path("extra.csv")); err != nil {
		t.Fatal(err)
	}
	s.warehouseUp()
	s.preflight(ready, id).wantSteps(t, "orders=REUSE", "extra=REUSE", "all=RUN", "target=RUN")
	s.sluice("replay", id).want(ready)
	s.wantLoaded(append(append([]string{}, original...), "7:70", "8:80"))
}

// TestARotatedPasswordOfTheSource: the password of the connection above the gate is
// another one by now. The rows are the same.
func TestARotatedPasswordOfTheSource(t *testing.T) {
	rotate := func(s *shop, then, now string) string {
		s.t.Helper()
		s.edit("metadata/rdbms/source.json", `"password": "Encrypted "`, `"password": "`+then+`"`)
		a := s.sluice("run", s.path("load.hpl"), "--var", "SHOP_PASSWORD=first-secret", "--json", "--log-level", "error").want(failed)
		s.edit("metadata/rdbms/source.json", `"password": "`+then+`"`, `"password": "`+now+`"`)
		s.sourceGone()
		s.warehouseUp()
		return between(a.out, `"execution_id": "`, `"`)
	}
	t.Run("in the connection", func(t *testing.T) {
		s := newShop(t)
		id := rotate(s, "first-secret", "second-secret")
		s.preflight(needsAck, id).wantCheck(t, "upstream", "WARN", "password", "a secret", "another secret")
		s.sluice("replay", id).want(needsAck)
		s.wantLoaded(nil)
		s.sluice("replay", id, "--ack", "upstream").want(ready)
		s.wantLoaded(original)
		s.noSecret("first-secret", "second-secret")
	})
	t.Run("by a variable", func(t *testing.T) {
		s := newShop(t)
		id := rotate(s, "${SHOP_PASSWORD}", "${SHOP_PASSWORD}")
		args := []string{id, "--var", "SHOP_PASSWORD=second-secret"}
		s.preflight(needsAck, args...).wantCheck(t, "secret:SHOP_PASSWORD", "WARN", "another value")
		s.sluice(append([]string{"replay"}, args...)...).want(needsAck)
		s.wantLoaded(nil)
		s.sluice(append([]string{"replay", "--ack", "secret:SHOP_PASSWORD", "--ack", "upstream"}, args...)...).want(ready)
		s.wantLoaded(original)
		s.noSecret("first-secret", "second-secret")
	})
}

// TestAnEditedUpstreamNamesSettingAndValues looks at one kind of change after the
// other, each with the source gone.
func TestAnEditedUpstreamNamesSettingAndValues(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		says           []string
	}{
		{"limit", "<limit>0</limit>", "<limit>3</limit>", []string{"orders", "limit", "now 3"}},
		{"query", "ORDER BY id</sql>", "ORDER BY amount</sql>", []string{"orders", "sql", "ORDER BY id", "ORDER BY amount"}},
		{"connection", "<connection>source</connection>", "<connection>target</connection>", []string{"orders", "connection", "then source", "now target"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t)
			id := s.fails(s.path("load.hpl"))
			s.sourceGone()
			s.warehouseUp()
			s.edit("load.hpl", c.old, c.new)
			s.preflight(blocked, id).wantCheck(t, "upstream", "BLOCK", c.says...)
			s.sluice("replay", id).want(blocked)
			s.wantLoaded(nil)
			s.edit("load.hpl", c.new, c.old)
			s.sluice("replay", id).want(ready)
			s.wantLoaded(original)
		})
	}
	t.Run("database of the connection", func(t *testing.T) {
		s := newShop(t)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		s.edit("metadata/rdbms/source.json", "source.db", "archive.db")
		s.preflight(blocked, id).wantCheck(t, "upstream", "BLOCK", "source.db", "archive.db")
		s.sluice("replay", id).want(blocked)
		s.wantLoaded(nil)
	})
	t.Run("a transform put in between", func(t *testing.T) {
		s := newShop(t)
		s.sluice("gate", "unmark", s.path("load.hpl"), "--transform", "orders").want(ready)
		s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "keep").want(ready)
		id := s.fails(s.path("load.hpl"))
		s.sourceGone()
		s.warehouseUp()
		s.edit("load.hpl", "<to>keep</to>", "<to>first</to>\n      <enabled>Y</enabled>\n    </hop>\n    <hop>\n      <from>first</from>\n      <to>keep</to>")
		s.edit("load.hpl", "  <transform>\n    <name>keep</name>", transformOf("first", "SampleRows", "    <linesrange>1..2</linesrange>")+"  <transform>\n    <name>keep</name>")
		s.preflight(blocked, id).wantCheck(t, "upstream", "BLOCK", "first")
		s.sluice("replay", id).want(blocked)
		s.wantLoaded(nil)
	})
}

// TestAnUpstreamWithAnotherLayoutBlocks: the layout of the sealed rows is no longer
// what is above the gate would give.
func TestAnUpstreamWithAnotherLayoutBlocks(t *testing.T) {
	s := newShop(t)
	s.edit("load.hpl", "SELECT id, status, amount FROM", "SELECT id, status, amount, 1 AS more FROM")
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.edit("load.hpl", "SELECT id, status, amount, 1 AS more FROM", "SELECT id, status, amount FROM")
	s.preflight(blocked, id).wantCheck(t, "upstream", "BLOCK", "more")
	s.sluice("replay", id).want(blocked)
	s.wantLoaded(nil)
	s.sluice("replay", id, "--override", "upstream", "--reason", "the column is not used").want(ready)
	s.wantLoaded(original)
}

// TestAFixThatAsksForAnotherColumnWritesNothing: the sealed rows do not have what
// the change below the gate wants.
func TestAFixThatAsksForAnotherColumnWritesNothing(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.edit("load.hpl", "<name>amount</name>", "<name>customer</name>")
	s.sluice("replay", id).want(failed, "customer")
	s.wantLoaded(nil)
	s.edit("load.hpl", "<name>customer</name>", "<name>amount</name>")
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
}
