package presenter_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/assets/sample"
	"sluice/engine/project"
)

// metaStore opens the sample project in a folder of the test.
func metaStore(t *testing.T) *presenter.MetaStore {
	t.Helper()
	home := filepath.Join(t.TempDir(), "shop")
	must(t, sample.Unpack(home))
	p, err := project.Open(project.OpenOptions{Home: home})
	must(t, err)
	return &presenter.MetaStore{Home: home, Project: p, Metadata: p.Metadata()}
}

func field(t *testing.T, m *presenter.MetaDraft, label string) *presenter.MetaField {
	t.Helper()
	for _, f := range m.Fields() {
		if f.Label == label {
			return f
		}
	}
	t.Fatalf("%s has no setting %q", m.Type.One, label)
	return nil
}

func loadMeta(t *testing.T, s *presenter.MetaStore, typeKey, name string) *presenter.MetaDraft {
	t.Helper()
	m, err := s.Load(presenter.MetaItem{Ref: presenter.MetaRef{Type: typeKey, Name: name}})
	must(t, err)
	return m
}

func TestTheTreeOfMetadata(t *testing.T) {
	s := metaStore(t)
	odd := filepath.Join(s.Home, "metadata", "flux-capacitor")
	must(t, os.MkdirAll(odd, 0o755))
	must(t, os.WriteFile(filepath.Join(odd, "one.json"), []byte(`{"name":"one","jigawatts":1.21}`), 0o600))
	groups, err := s.LoadMetadata()
	must(t, err)
	var got []string
	for _, g := range groups {
		for _, i := range g.Items {
			got = append(got, g.Type.Name+"/"+i.Ref.Name)
		}
	}
	want := []string{
		"Project/shop", "Environments/environment", "Database connections/orders", "Database connections/warehouse", "Pipeline run configurations/local",
		"Workflow run configurations/local", "flux-capacitor/one",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the tree has %v, want %v", got, want)
	}
}

func TestAFormChangesOnlyWhatIsSet(t *testing.T) {
	s := metaStore(t)
	m := loadMeta(t, s, project.TypeRDBMS, "orders")
	before, err := os.ReadFile(m.Path)
	must(t, err)
	for _, f := range m.Fields() {
		if f.Kind != presenter.MetaSecret {
			must(t, m.Set(f, m.Text(f)))
		}
	}
	if m.Dirty() {
		t.Errorf("setting every value to what it is changed the file:\n%s", m.JSON())
	}
	must(t, m.Set(field(t, m, "Database file"), "${PROJECT_HOME}/other.db"))
	must(t, m.Save())
	after, err := os.ReadFile(m.Path)
	must(t, err)
	if want := strings.Replace(string(before), "orders.db", "other.db", 1); string(after) != want {
		t.Errorf("the file is\n%s", after)
	}
}

func TestAFormWritesWhatTheEngineReads(t *testing.T) {
	s := metaStore(t)
	_, err := s.Create(project.TypeRDBMS, "pg")
	must(t, err)
	m := loadMeta(t, s, project.TypeRDBMS, "pg")
	must(t, m.Set(field(t, m, "Type"), "POSTGRESQL"))
	for label, text := range map[string]string{"Host": "db.example", "Port": "5432", "Database": "shop", "User name": "app", "Password": "s3cret", "Preferred schema": "sales", "Has a boolean type": "true"} {
		must(t, m.Set(field(t, m, label), text))
	}
	must(t, m.Save())
	r, err := s.Metadata.RDBMS("pg")
	must(t, err)
	if r.PluginID != "POSTGRESQL" || r.PluginName != "PostgreSQL" || r.Hostname != "db.example" || r.Port != "5432" || r.DatabaseName != "shop" ||
		r.Username != "app" || r.Attribute("PREFERRED_SCHEMA_NAME") != "sales" || !r.Flag("SUPPORTS_BOOLEAN_DATA_TYPE", false) || r.Attribute("SQL_CONNECT") != "" {
		t.Errorf("the engine reads %+v", *r)
	}
	secret, err := project.ResolvePassword(s.Project.Variables(), r.Password)
	must(t, err)
	if !strings.HasPrefix(r.Password, "Encrypted ") || secret.Reveal() != "s3cret" {
		t.Error("the password is not stored as Hop does")
	}
	c := loadMeta(t, s, project.TypePipelineRunConfiguration, "local")
	must(t, c.Set(field(t, c, "Engine"), "Safe"))
	must(t, c.Set(field(t, c, "Rows in the buffer of a hop"), "500"))
	must(t, c.SetRows(field(t, c, "Variables"), []presenter.MetaRow{{Cells: []string{"A", "1", ""}}}))
	must(t, c.Save())
	run, err := s.Metadata.PipelineRunConfiguration("local")
	must(t, err)
	if run.Engine != "Safe" || run.Local.RowSetSize != "500" || len(run.Variables) != 1 || run.Variables[0].Value != "1" {
		t.Errorf("the engine reads %+v", *run)
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	s := metaStore(t)
	_, err := s.Create(project.TypeRDBMS, "pg")
	must(t, err)
	m := loadMeta(t, s, project.TypeRDBMS, "pg")
	must(t, m.Set(field(t, m, "Type"), "POSTGRESQL"))
	password := field(t, m, "Password")
	if m.HasSecret(password) {
		t.Error("a new connection has a password")
	}
	must(t, m.Set(password, "s3cret"))
	stored := project.EncodePassword("s3cret")
	if m.Text(password) != "" || !m.HasSecret(password) || strings.Contains(m.JSON(), strings.TrimPrefix(stored, "Encrypted ")) {
		t.Errorf("the password shows in %s", m.JSON())
	}
	must(t, m.SetJSON(strings.Replace(m.JSON(), `"port": ""`, `"port": "1"`, 1)))
	r, err := project.RDBMSOf(m.Object())
	must(t, err)
	if r.Password != stored || r.Port != "1" {
		t.Errorf("the edited JSON gave port %q and another password", r.Port)
	}
	must(t, m.Set(password, "${DB_PASSWORD}"))
	if m.Text(password) != "${DB_PASSWORD}" {
		t.Error("a variable is hidden as if it were the password")
	}
}

func TestUnknownMetadataIsKept(t *testing.T) {
	s := metaStore(t)
	folder := filepath.Join(s.Home, "metadata", "flux-capacitor")
	must(t, os.MkdirAll(folder, 0o755))
	text := "{ \"name\":\"one\",\t\"jigawatts\" : 1.210 ,\n\"password\":\"Encrypted 2be98afc86aa7f2e4bb18bd63c99dbdde\" }"
	must(t, os.WriteFile(filepath.Join(folder, "one.json"), []byte(text), 0o600))
	m := loadMeta(t, s, "flux-capacitor", "one")
	must(t, m.SetJSON(m.JSON()))
	must(t, m.Save())
	if got, err := os.ReadFile(m.Path); err != nil || string(got) != text {
		t.Errorf("the file is %s, %v", got, err)
	}
	if err := m.SetJSON("{\n  \"name\": }"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a broken text gave %v", err)
	}
	item := presenter.MetaItem{Ref: presenter.MetaRef{Type: "flux-capacitor", Name: "one"}}
	renamed, err := s.Rename(item, "two")
	must(t, err)
	if got, err := os.ReadFile(filepath.Join(folder, "two.json")); err != nil || string(got) != strings.Replace(text, `"one"`, `"two"`, 1) {
		t.Errorf("the renamed file is %s, %v", got, err)
	}
	must(t, s.Delete(renamed))
	if list, err := s.Metadata.Names("flux-capacitor"); err != nil || len(list) != 0 {
		t.Errorf("left are %v, %v", list, err)
	}
}

func TestVariablesOfAnEnvironment(t *testing.T) {
	s := metaStore(t)
	item, err := s.Create(presenter.MetaEnvironment, "staging")
	must(t, err)
	must(t, os.WriteFile(item.Path, []byte("{\n  \"variables\" : [ {\n    \"name\" : \"A\",\n    \"value\" : \"1\",\n    \"by\" : \"hand\"\n  }, {\"name\":\"B\",\"value\":null} ]\n}\n"), 0o600))
	m, err := s.Load(item)
	must(t, err)
	f := field(t, m, "Variables")
	rows := m.Rows(f)
	rows[0].Cells[1] = "2"
	must(t, m.SetRows(f, rows))
	if want := "\"value\" : \"2\",\n    \"by\" : \"hand\"\n  }, {\"name\":\"B\",\"value\":null} ]"; !strings.Contains(m.JSON(), want) {
		t.Errorf("the edit gave %s", m.JSON())
	}
	row := f.NewRow()
	row.Cells[0], row.Cells[1] = "C", "3"
	must(t, m.SetRows(f, append([]presenter.MetaRow{row}, m.Rows(f)[:1]...)))
	must(t, m.Save())
	list, err := project.LoadEnvironmentFile(item.Path)
	must(t, err)
	if len(list) != 2 || list[0].Name != "C" || list[1].Value != "2" || !strings.Contains(m.JSON(), `"by" : "hand"`) {
		t.Errorf("the file holds %v: %s", list, m.JSON())
	}
	must(t, m.SetRows(f, append(m.Rows(f), row)))
	if p := m.Problems()["Variables"]; !strings.Contains(p, "C") {
		t.Errorf("a name that is there twice gave %q", p)
	}
}

func TestNamesOfNewMetadata(t *testing.T) {
	s := metaStore(t)
	for name, want := range map[string]string{"": "Give it a name", "a/b": "slashes", "ORDERS": "already", "fresh": ""} {
		if got := s.CheckName(project.TypeRDBMS, name); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q gave %q", name, got)
		}
	}
	for _, mt := range presenter.MetaTypes() {
		if mt.Blank != "" && !json.Valid([]byte(mt.Blank)) {
			t.Errorf("a new %s is no JSON", mt.One)
		}
	}
}

func TestUsesOfAConnection(t *testing.T) {
	s := metaStore(t)
	uses, err := presenter.FindUses(t.Context(), s.Home, presenter.MetaTypeOf(project.TypeRDBMS), "warehouse")
	must(t, err)
	if len(uses) == 0 || !slices.ContainsFunc(uses, func(u presenter.MetaUse) bool { return u.File == "load-orders.hpl" }) {
		t.Errorf("the warehouse is used by %v", uses)
	}
	if uses, err := presenter.FindUses(t.Context(), s.Home, presenter.MetaTypeOf(project.TypeRDBMS), "nobody"); err != nil || len(uses) != 0 {
		t.Errorf("nobody is used by %v, %v", uses, err)
	}
}

func TestATestOfAConnectionSavesNothing(t *testing.T) {
	s := metaStore(t)
	m := loadMeta(t, s, project.TypeRDBMS, "orders")
	now := func() time.Time { return time.Unix(0, 0) }
	n := 0
	r := presenter.TestConnection(t.Context(), m.Object(), s.Project.Variables(), now, func(presenter.MetaStep) { n++ })
	if r.State != presenter.LevelGood || n != len(r.Steps) || n < 4 {
		t.Errorf("the sample's connection gave %+v", r)
	}
	must(t, m.Set(field(t, m, "Database file"), "${PROJECT_HOME}/absent.db"))
	r = presenter.TestConnection(t.Context(), m.Object(), s.Project.Variables(), now, func(presenter.MetaStep) {})
	if r.State != presenter.LevelBad || !strings.Contains(r.Steps[len(r.Steps)-1].Detail, "absent.db") {
		t.Errorf("an absent database gave %+v", r)
	}
	if _, err := os.Stat(filepath.Join(s.Home, "absent.db")); err == nil {
		t.Error("the test made a database")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r = presenter.TestConnection(ctx, loadMeta(t, s, project.TypeRDBMS, "orders").Object(), s.Project.Variables(), now, func(presenter.MetaStep) {}); r.Title != "Test cancelled" {
		t.Errorf("a cancelled test gave %+v", r)
	}
}

func TestEveryMetadataFileOfTheSuiteIsKept(t *testing.T) {
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	folders, err := filepath.Glob(filepath.Join(root, "*", "metadata"))
	must(t, err)
	n := 0
	for _, folder := range folders {
		s := &presenter.MetaStore{Home: filepath.Dir(folder), Metadata: project.OpenMetadata(folder)}
		types, err := s.Metadata.Types()
		must(t, err)
		for _, key := range types {
			names, err := s.Metadata.Names(key)
			must(t, err)
			for _, name := range names {
				n++
				m := loadMeta(t, s, key, name)
				for _, f := range m.Fields() {
					switch f.Kind {
					case presenter.MetaSecret:
					case presenter.MetaRows, presenter.MetaOptions:
						must(t, m.SetRows(f, m.Rows(f)))
					default:
						must(t, m.Set(f, m.Text(f)))
					}
				}
				must(t, m.SetJSON(m.JSON()))
				if m.Dirty() {
					t.Errorf("%s: an unedited form changes the file", m.Path)
				}
			}
		}
	}
	if n < 500 {
		t.Fatalf("the Hop suite is missing (%d files); set SLUICE_HOP_SUITE", n)
	}
	t.Logf("%d files", n)
}
