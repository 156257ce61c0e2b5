//go:build integration

package actions_test

import (
	"net"
	"net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/engine/action"
)

// TestMailOverARealServer sends a message with an attachment and reads it from the
// server's mail folder.
func TestMailOverARealServer(t *testing.T) {
	address, folder := os.Getenv("SLUICE_TEST_SMTP"), os.Getenv("SLUICE_TEST_SMTP_FOLDER")
	if address == "" || folder == "" {
		t.Fatal("SLUICE_TEST_SMTP is not set; `make test-integration` starts the servers")
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	before := messages(t, folder)
	b := newBench(t)
	b.write("report.txt", "numbers of the night")
	r := &action.Result{}
	r.AddFile(b.env.ResultFile(filepath.Join(b.dir, "report.txt"), action.FileGeneral))
	err = b.run("MAIL", "<server>"+host+"</server><port>"+port+"</port><destination>night@example.com</destination><replyto>me@example.com</replyto>"+
		"<subject>Grüße</subject><comment>Die Zahlen</comment><only_comment>Y</only_comment><include_files>Y</include_files><filetypes><filetype>GENERAL</filetype></filetypes>", r)
	if err != nil || !r.OK {
		t.Fatalf("success %v, %v", r.OK, err)
	}
	var got []string
	for name := range messages(t, folder) {
		if _, old := before[name]; !old {
			got = append(got, name)
		}
	}
	if len(got) != 1 {
		t.Fatalf("%d messages came", len(got))
	}
	f, err := os.Open(got[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := mail.ReadMessage(f)
	if err != nil {
		t.Fatal(err)
	}
	if to := m.Header.Get("X-RcptTo"); !strings.Contains(to, "night@example.com") {
		t.Errorf("the server delivered to %q", to)
	}
	if kind := m.Header.Get("Content-Type"); !strings.HasPrefix(kind, "multipart/") {
		t.Errorf("a message with an attachment is %s", kind)
	}
}

// messages are the files of a mail folder.
func messages(t *testing.T, folder string) map[string]bool {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "new", "*"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, name := range list {
		out[name] = true
	}
	return out
}
