package presenter_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/engine/project"
)

const tunnelled = `{
  "name" : "far",
  "rdbms" : {
    "MYSQL" : {
      "pluginId" : "MYSQL",
      "hostname" : "db.example",
      "databaseName" : "shop",
      "attributes" : {
        "SQL_CONNECT" : "",
        "EXTRA_OPTION_MYSQL.useSSL" : "true",
        "EXTRA_OPTION_ORACLE.other" : "1"
      },
      "sshTunnelEnabled" : false
    }
  }
}
`

func farConnection(t *testing.T) (*presenter.MetaStore, *presenter.MetaDraft) {
	t.Helper()
	s := metaStore(t)
	must(t, os.WriteFile(filepath.Join(s.Home, "metadata", "rdbms", "far.json"), []byte(tunnelled), 0o600))
	return s, loadMeta(t, s, project.TypeRDBMS, "far")
}

func labels(m *presenter.MetaDraft) string {
	var out []string
	for _, f := range m.Fields() {
		out = append(out, f.Label)
	}
	return strings.Join(out, ", ")
}

func TestATunnelIsSetUpInTheForm(t *testing.T) {
	s, m := farConnection(t)
	if strings.Contains(labels(m), "SSH host") {
		t.Error("a tunnel that is off has settings")
	}
	on := field(t, m, "Connect through an SSH tunnel")
	if !m.Decides(on) {
		t.Error("nothing depends on the tunnel")
	}
	must(t, m.Set(on, "true"))
	if p := m.Problems(); p["SSH host"] == "" || p["Private key file"] != "" {
		t.Errorf("%v", p)
	}
	must(t, m.Set(field(t, m, "SSH host"), "gate.example"))
	must(t, m.Set(field(t, m, "SSH user name"), "ann"))
	must(t, m.Set(field(t, m, "SSH password"), "topsecret"))
	must(t, m.Set(field(t, m, "Use a private key for the tunnel"), "true"))
	if p := m.Problems(); p["Private key file"] == "" {
		t.Errorf("%v", p)
	}
	must(t, m.Set(field(t, m, "Private key file"), "${PROJECT_HOME}/key"))
	must(t, m.Set(field(t, m, "Passphrase of the key"), "verysecret"))
	if p := m.Problems(); len(p) != 0 {
		t.Errorf("%v", p)
	}
	must(t, m.Save())
	text := m.JSON()
	if strings.Contains(text, "secret") || strings.Contains(text, "2be98afc86aa7f2e4") {
		t.Errorf("the JSON shows a password:\n%s", text)
	}
	c, err := s.Metadata.RDBMS("far")
	must(t, err)
	password, err := project.ResolvePassword(s.Project.Variables(), c.Tunnel.Password)
	must(t, err)
	phrase, err := project.ResolvePassword(s.Project.Variables(), c.Tunnel.Passphrase)
	must(t, err)
	if !c.Tunnel.Enabled || !c.Tunnel.UsePrivateKey || c.Tunnel.Host != "gate.example" || c.Tunnel.Username != "ann" || password.Reveal() != "topsecret" || phrase.Reveal() != "verysecret" ||
		c.Tunnel.PrivateKeyFile != "${PROJECT_HOME}/key" || c.Tunnel.Port != "" {
		t.Errorf("%+v", c.Tunnel)
	}
	// Switched off, the settings are hidden and stay.
	must(t, m.Set(on, "false"))
	if strings.Contains(labels(m), "SSH") && strings.Contains(labels(m), "Passphrase") {
		t.Error(labels(m))
	}
	must(t, m.Save())
	if c, err = s.Metadata.RDBMS("far"); err != nil || c.Tunnel.Host != "gate.example" {
		t.Errorf("%+v, %v", c.Tunnel, err)
	}
}

func TestDriverOptionsAreRows(t *testing.T) {
	_, m := farConnection(t)
	f := field(t, m, "Driver options")
	rows := m.Rows(f)
	if len(rows) != 1 || rows[0].Cells[0] != "useSSL" || rows[0].Cells[1] != "true" {
		t.Fatalf("%+v", rows)
	}
	must(t, m.SetRows(f, rows))
	if m.Dirty() {
		t.Error("an unedited table changes the file")
	}
	// A name that is typed letter by letter passes one that is there.
	rows = append(m.Rows(f), f.NewRow())
	for _, name := range []string{"u", "useSSL", "useSSLv3"} {
		rows[1].Cells[0], rows[1].Cells[1] = name, "x"
		must(t, m.SetRows(f, rows))
		rows = m.Rows(f)
		if len(rows) != 2 || rows[0].Cells[1] != "true" {
			t.Fatalf("%s: %+v", name, rows)
		}
		if (m.Problems()["Driver options"] != "") != (name == "useSSL") {
			t.Errorf("%s: %v", name, m.Problems())
		}
	}
	rows[0].Cells[1] = "false"
	must(t, m.SetRows(f, rows))
	want := strings.Replace(tunnelled, `"EXTRA_OPTION_MYSQL.useSSL" : "true",`, `"EXTRA_OPTION_MYSQL.useSSL" : "false",`, 1)
	want = strings.Replace(want, `"EXTRA_OPTION_ORACLE.other" : "1"`, "\"EXTRA_OPTION_ORACLE.other\" : \"1\",\n        \"EXTRA_OPTION_MYSQL.useSSLv3\" : \"x\"", 1)
	if got := m.JSON(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	must(t, m.SetRows(f, m.Rows(f)[:1]))
	rows = m.Rows(f)
	rows[0].Cells[0] = "ssl"
	must(t, m.SetRows(f, rows))
	if got := m.JSON(); strings.Contains(got, "useSSL") || !strings.Contains(got, `"EXTRA_OPTION_MYSQL.ssl" : "false"`) || !strings.Contains(got, "EXTRA_OPTION_ORACLE.other") {
		t.Error(got)
	}
	must(t, m.SetRows(f, append(m.Rows(f), f.NewRow())))
	m.Revert()
	if m.Dirty() || len(m.Rows(f)) != 1 {
		t.Error("the edit was not given up")
	}
}
