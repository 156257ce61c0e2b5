package actions_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine/action"
	"sluice/engine/actions"
	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
)

func TestDefinitions(t *testing.T) {
	for _, d := range actions.Registry().All() {
		if _, err := d.Settings(); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
		if d.Name == "" || d.Summary == "" || d.Category == "" {
			t.Errorf("%s: name, summary and category are needed", d.ID)
		}
		d.Default()
	}
}

// TestSuiteActionsDecode reads the settings of every known action of the suite.
func TestSuiteActionsDecode(t *testing.T) {
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*.hwf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the Hop suite is not at %s; set SLUICE_HOP_SUITE (%v)", root, err)
	}
	n := 0
	for _, f := range files {
		d, err := hopxml.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		w, err := d.Workflow()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range w.Actions {
			def, ok := actions.Registry().Find(a.Type)
			if !ok {
				continue
			}
			n++
			_, problems := def.Decode(a.Element)
			for _, p := range problems {
				t.Errorf("%s, action %q: %s: %s", filepath.Base(f), a.Name, p.Setting, p.Message)
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d actions were read", n)
	}
}

// oneRow gives a result with one row of texts.
func (b *bench) oneRow(names, values []string) *action.Result {
	var fields []batch.Field
	for _, n := range names {
		fields = append(fields, batch.NewField(n, batch.String))
	}
	rows := b.env.Alloc.Batch(batch.NewSchema(fields...))
	for k, v := range values {
		rows.Cols[k].AppendString(v)
	}
	rows.SetRows(1)
	return &action.Result{Result: transform.Result{Rows: []*batch.Batch{rows}}}
}

func TestConditionsAndScripts(t *testing.T) {
	eval := func(script string) string { return "<script><![CDATA[" + script + "]]></script>" }
	simple := func(parts ...string) string {
		var b strings.Builder
		for _, p := range parts {
			k, v, _ := strings.Cut(p, "=")
			b.WriteString("<" + k + ">" + v + "</" + k + ">")
		}
		return b.String()
	}
	cases := map[string]struct {
		kind, xml string
		ok        bool
		errors    int64
		failed    bool
	}{
		"field":               {kind: "SIMPLE_EVAL", xml: simple("fieldname=f", "comparevalue=v1"), ok: true},
		"field that is none":  {kind: "SIMPLE_EVAL", xml: simple("fieldname=zzz"), failed: true},
		"variable":            {kind: "SIMPLE_EVAL", xml: simple("valuetype=variable", "variablename=V", "fieldtype=number", "successnumbercondition=between", "minvalue=1", "maxvalue=7"), ok: true},
		"undefined variable":  {kind: "SIMPLE_EVAL", xml: simple("valuetype=variable", "variablename=NONE", "successcondition=contains", "comparevalue=NONE}"), ok: true},
		"is it set":           {kind: "SIMPLE_EVAL", xml: simple("valuetype=variable", "variablename=${NONE}", "successwhenvarset=Y")},
		"no number":           {kind: "SIMPLE_EVAL", xml: simple("fieldname=f", "fieldtype=number", "comparevalue=1"), failed: true},
		"list":                {kind: "SIMPLE_EVAL", xml: simple("fieldname=f", "successcondition=inlist", "comparevalue=x, v1"), ok: true},
		"date":                {kind: "SIMPLE_EVAL", xml: simple("fieldname=day", "fieldtype=datetime", "mask=yyyy-MM-dd", "successnumbercondition=smaller", "comparevalue=2026-01-02"), ok: true},
		"log text":            {kind: "SIMPLE_EVAL", xml: simple("valuetype=logtext", "successcondition=contains", "comparevalue=needle"), ok: true},
		"script, result":      {kind: "EVAL", xml: eval(`previous_result.getNrErrors() == 2 && errors == 2 && previous_result.getLogText().contains("needle")`), ok: true, errors: 2},
		"script, rows":        {kind: "EVAL", xml: eval(`rows.length == 1 && previous_result.getRows().get(0).getString("f", "") == "v1" && !previous_result.getRows().isEmpty()`), ok: true, errors: 2},
		"script, variables":   {kind: "EVAL", xml: eval(`parent_workflow.setVariable("W", "9"); java.lang.System.setProperty("X", "8"); parent_workflow.getVariable("W") == "9" && getVariable("V", "") == "7"`), ok: true, errors: 2},
		"script that fails":   {kind: "EVAL", xml: eval(`nothing.here`), failed: true, errors: 1},
		"script that is none": {kind: "EVAL", xml: eval(`if (`), failed: true, errors: 1},
		"shell script":        {kind: "SHELL", xml: simple("insertScript=Y", "script=test \"$V\" = 7 &amp;&amp; echo out &amp;&amp; echo err >&amp;2"), ok: true},
		"exit status":         {kind: "SHELL", xml: simple("insertScript=Y", "script=exit 3"), failed: true},
		"arguments of rows":   {kind: "SHELL", xml: simple("filename=/bin/test", "arg_from_previous=Y", "exec_per_row=Y"), failed: true},
		"no such command":     {kind: "SHELL", xml: simple("filename=${DIR}/zzz"), failed: true},
		"message":             {kind: "WRITE_TO_LOG", xml: simple("logmessage=hello"), ok: true, errors: 2},
		"no connection":       {kind: "SQL", xml: simple("connection=db", "sql=SELECT 1"), failed: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.env.Vars.Set("V", "7")
			r := b.oneRow([]string{"f", "day"}, []string{"v1", "2026-01-01"})
			defer r.Release()
			r.LogText = "a needle"
			if c.kind == "EVAL" || c.kind == "WRITE_TO_LOG" {
				r.Errors = 2
			}
			err := b.run(c.kind, c.xml, r)
			if (err != nil) != c.failed || r.OK != c.ok && !c.failed || r.Errors != c.errors {
				t.Errorf("success %v, %d errors, %v; want %v, %d\n%s", r.OK, r.Errors, err, c.ok, c.errors, b.log)
			}
			if name == "exit status" && r.ExitStatus != 3 {
				t.Errorf("exit status %d", r.ExitStatus)
			}
			if name == "shell script" && (!strings.Contains(b.log.String(), "(stdout) out") || !strings.Contains(b.log.String(), "(stderr) err")) {
				t.Errorf("log %s", b.log)
			}
		})
	}
}

func TestHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		case r.URL.Path == "/secret" && (user != "u" || password != "p"):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = fmt.Fprintf(w, "%s %s", r.Method, r.Header.Get("X-Test"))
		}
	}))
	defer server.Close()
	b := newBench(t)
	r := &action.Result{}
	if err := b.run("HTTP", "<url>"+server.URL+"/x?token=abc</url><targetfilename>${DIR}/got</targetfilename><headers><header><header_name>X-Test</header_name><header_value>yes</header_value></header></headers>", r); err != nil || !r.OK {
		t.Fatalf("success %v, %v", r.OK, err)
	}
	if got := b.tree(); got != "got=GET yes" || len(r.ResultFiles) != 1 || strings.Contains(b.log.String(), "abc") {
		t.Errorf("left %s, %d files, log %s", got, len(r.ResultFiles), b.log)
	}
	for path, want := range map[string]struct {
		class action.FailureClass
		wait  time.Duration
	}{"/busy": {action.FailureThrottled, 7 * time.Second}, "/secret": {action.FailureUnauthorized, 0}} {
		err := b.run("HTTP", "<url>"+server.URL+path+"</url><targetfilename>${DIR}/no</targetfilename>", r)
		if class, wait := action.Classify(err); class != want.class || wait != want.wait {
			t.Errorf("%s: %v is class %v, wait %v", path, err, class, wait)
		}
	}
	server.Close()
	err := b.run("HTTP", "<url>"+server.URL+"/x</url><targetfilename>${DIR}/no</targetfilename>", r)
	if class, _ := action.Classify(err); class != action.FailureConnection {
		t.Errorf("%v is class %v", err, class)
	}
	if strings.Contains(b.tree(), "no=") {
		t.Errorf("a failure left %s", b.tree())
	}
}

// smtpServer takes one message and gives the lines it was sent.
func smtpServer(t *testing.T) (port string, lines <-chan []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	got := make(chan []string, 1)
	go func() {
		defer close(got)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		got <- converse(conn)
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, got
}

func converse(conn net.Conn) []string {
	var all []string
	say := func(text string) { _, _ = fmt.Fprint(conn, text+"\r\n") }
	say("220 test")
	data := false
	for in := bufio.NewScanner(conn); in.Scan(); {
		line := in.Text()
		all = append(all, line)
		word, _, _ := strings.Cut(line, " ")
		switch {
		case data && line == ".":
			data = false
			say("250 taken")
		case data:
		case word == "EHLO":
			say("250-test\r\n250 AUTH PLAIN")
		case word == "AUTH":
			say("235 in")
		case word == "DATA":
			data = true
			say("354 go on")
		case word == "QUIT":
			say("221 bye")
			return all
		default:
			say("250 ok")
		}
	}
	return all
}

func TestMail(t *testing.T) {
	b := newBench(t)
	b.write("report.txt", "numbers")
	port, lines := smtpServer(t)
	r := &action.Result{}
	r.AddFile(b.env.ResultFile(filepath.Join(b.dir, "report.txt"), action.FileGeneral))
	err := b.run("MAIL", "<server>127.0.0.1</server><port>"+port+"</port><destination>a@example.com b@example.com</destination><destinationBCc>hidden@example.com</destinationBCc>"+
		"<replyto>me@example.com</replyto><replytoname>Jörg</replytoname><subject>Grüße ${V}</subject><comment>Fünf</comment><only_comment>Y</only_comment>"+
		"<use_auth>Y</use_auth><auth_user>u</auth_user><auth_password>p</auth_password><include_files>Y</include_files><filetypes><filetype>GENERAL</filetype></filetypes>", r)
	if err != nil || !r.OK {
		t.Fatalf("success %v, %v", r.OK, err)
	}
	text := strings.Join(<-lines, "\n")
	for _, want := range []string{
		"MAIL FROM:<me@example.com>", "RCPT TO:<a@example.com>", "RCPT TO:<b@example.com>", "RCPT TO:<hidden@example.com>",
		"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe", "To: <a@example.com>, <b@example.com>", "F=C3=BCnf", `filename=report.txt`, "bnVtYmVycw==",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Bcc:") {
		t.Error("the hidden recipient is shown")
	}
	err = b.run("MAIL", "<server>127.0.0.1</server><destination>nobody</destination><replyto>me@example.com</replyto>", r)
	if err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a bad address gave %v", err)
	}
	err = b.run("MAIL", "<server>127.0.0.1</server><port>1</port><destination>a@example.com</destination><replyto>me@example.com</replyto>", r)
	if _, ok := errors.AsType[net.Error](err); !ok {
		t.Errorf("no server gave %v", err)
	}
}
