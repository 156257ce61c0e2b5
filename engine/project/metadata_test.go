package project_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/engine/project"
	"sluice/engine/project/jsondoc"
)

const connection = `{
  "rdbms": {
    "POSTGRESQL": {
      "hostname": "${HOST}",
      "port": 5432,
      "databaseName": "db",
      "username": "u",
      "password": "Encrypted 2be98afc86aa7f2e4cb799d64cc9ba1dd",
      "accessType": 0,
      "instanceName": "main",
      "sshTunnelEnabled": true,
      "sshTunnelHost": "gate",
      "attributes": {
        "SQL_CONNECT": "SET x",
        "QUOTE_ALL_FIELDS": "N",
        "EXTRA_OPTION_POSTGRESQL.ssl": "true",
        "EXTRA_OPTION_MYSQL.other": "1"
      }
    }
  },
  "unknown key": [1.50, 1e3, {"deep": null}],
  "name": "pg"
}
`

func TestRDBMS(t *testing.T) {
	m := project.OpenMetadata(tree(t, map[string]string{
		"rdbms/pg.json": connection, "rdbms/empty.json": "{\n  \"name\": \"empty\",\n  \"rdbms\": {}\n}", "rdbms/bad.json": "{\n  \"rdbms\": oops\n}",
	}))
	r, err := m.RDBMS("pg")
	if err != nil {
		t.Fatal(err)
	}
	if r.PluginID != "POSTGRESQL" || r.Port != "5432" || r.Hostname != "${HOST}" || r.Setting("instanceName") != "main" ||
		!r.Tunnel.Enabled || r.Tunnel.Host != "gate" || r.ConnectSQL() != "SET x" || r.Flag("QUOTE_ALL_FIELDS", true) || !r.Flag("NONE", true) {
		t.Errorf("%#v", r)
	}
	if got := r.Options(); !slices.Equal(got, []project.Attribute{{Name: "ssl", Value: "true"}}) {
		t.Errorf("options %v", got)
	}
	password, err := project.ResolvePassword(project.NewVariables(), r.Password)
	if err != nil || password.Reveal() != "String" {
		t.Errorf("password %q, %v", password.Reveal(), err)
	}
	if strings.Contains(r.String(), "2be98") {
		t.Error("the rendering shows the password")
	}
	for name, says := range map[string]string{"empty": "empty.json:3:12", "bad": "bad.json:2:12"} {
		if _, err := m.RDBMS(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMetadataNotFound(t *testing.T) {
	m := project.OpenMetadata(tree(t, map[string]string{"rdbms/H2.json": connection}), "/does/not/exist")
	for name, says := range map[string]string{"h2": `did you mean "H2"`, "other": "the project has H2", "../rdbms/H2": "not found", "": "not found"} {
		_, err := m.RDBMS(name)
		if !errors.Is(err, project.ErrNotFound) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := m.Dataset("x"); !errors.Is(err, project.ErrNotFound) || !strings.Contains(err.Error(), "none of this type") {
		t.Errorf("%v", err)
	}
	if _, err := project.OpenMetadata("s3://bucket/m").Names("rdbms"); err == nil || !strings.Contains(err.Error(), "s3://bucket/m") {
		t.Errorf("folder elsewhere: %v", err)
	}
}

func TestMetadataSaveKeepsEverythingElse(t *testing.T) {
	dir := tree(t, map[string]string{"rdbms/pg.json": connection})
	m := project.OpenMetadata(dir)
	path := filepath.Join(dir, "rdbms/pg.json")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	o := must(m.Load("rdbms", "pg"))
	doc := must(o.Document().Set([]byte(`"other"`), "rdbms", "POSTGRESQL", "hostname"))
	saved, err := m.Save(o.With(doc))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(connection, `"${HOST}"`, `"other"`, 1)
	if got := string(must(os.ReadFile(path))); got != want {
		t.Errorf("file is now\n%s", got)
	}
	if info := must(os.Stat(path)); info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v", info.Mode())
	}
	if _, err := m.Save(o.With(doc)); !errors.Is(err, project.ErrChanged) {
		t.Errorf("the object that was read before: %v", err)
	}
	back := must(saved.Document().Set([]byte(`"${HOST}"`), "rdbms", "POSTGRESQL", "hostname"))
	if _, err := m.Save(saved.With(back)); err != nil {
		t.Fatal(err)
	}
	if got := string(must(os.ReadFile(path))); got != connection {
		t.Errorf("after undoing the edit the file is\n%s", got)
	}
	if entries := must(os.ReadDir(filepath.Dir(path))); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestMetadataUneditedSaveTouchesNothing(t *testing.T) {
	dir := tree(t, map[string]string{"rdbms/pg.json": connection})
	path := filepath.Join(dir, "rdbms/pg.json")
	before := must(os.Stat(path))
	m := project.OpenMetadata(dir)
	if _, err := m.Save(must(m.Load("rdbms", "pg"))); err != nil {
		t.Fatal(err)
	}
	if after := must(os.Stat(path)); !os.SameFile(before, after) {
		t.Error("the file was replaced")
	}
}

func TestMetadataSaveThroughALink(t *testing.T) {
	dir := tree(t, map[string]string{"real/pg.json": connection, "rdbms/other.json": "{}"})
	link := filepath.Join(dir, "rdbms/pg.json")
	if err := os.Symlink(filepath.Join(dir, "real/pg.json"), link); err != nil {
		t.Fatal(err)
	}
	m := project.OpenMetadata(dir)
	o := must(m.Load("rdbms", "pg"))
	if _, err := m.Save(o.With(must(o.Document().Set([]byte(`"x"`), "name")))); err != nil {
		t.Fatal(err)
	}
	if info := must(os.Lstat(link)); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if got := string(must(os.ReadFile(filepath.Join(dir, "real/pg.json")))); !strings.Contains(got, `"name": "x"`) {
		t.Errorf("the target is\n%s", got)
	}
}

func TestMetadataNewAndDelete(t *testing.T) {
	parent, own := t.TempDir(), filepath.Join(t.TempDir(), "not yet")
	m := project.OpenMetadata(parent, own)
	o, err := m.New("rdbms", `with "quotes" & <tags>`)
	if err != nil || o.Stored() {
		t.Fatalf("%v, stored %v", err, o.Stored())
	}
	saved, err := m.Save(o)
	if err != nil || !saved.Stored() || filepath.Dir(saved.Path()) != filepath.Join(own, "rdbms") {
		t.Fatalf("%v, %s", err, saved.Path())
	}
	if got := string(must(os.ReadFile(saved.Path()))); got != "{\n  \"name\": \"with \\\"quotes\\\" & <tags>\"\n}\n" {
		t.Errorf("file %q", got)
	}
	if _, err := m.Save(o); !errors.Is(err, project.ErrChanged) {
		t.Errorf("a new object replaced one: %v", err)
	}
	if err := m.Delete(o); !errors.Is(err, project.ErrChanged) {
		t.Errorf("deleting what was not read: %v", err)
	}
	if err := m.Delete(saved); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(saved.With(must(saved.Document().Set([]byte("1"), "x")))); !errors.Is(err, project.ErrChanged) {
		t.Errorf("saving a deleted object: %v", err)
	}
	for _, name := range []string{"", "..", "a/b", `a\b`} {
		if _, err := m.New("rdbms", name); !errors.Is(err, project.ErrBadName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

func TestMetadataSaveThatFailsLeavesNothing(t *testing.T) {
	dir := tree(t, map[string]string{"rdbms": "a file where the folder should be"})
	m := project.OpenMetadata(dir)
	o := must(m.New("rdbms", "x"))
	if _, err := m.Save(o); err == nil || !strings.Contains(err.Error(), "rdbms") {
		t.Errorf("error %v", err)
	}
	if entries := must(os.ReadDir(dir)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	if _, err := project.OpenMetadata().New("rdbms", "x"); err == nil || !strings.Contains(err.Error(), "metadataBaseFolder") {
		t.Errorf("no folder: %v", err)
	}
}

func TestUnitTestFile(t *testing.T) {
	scope := scopeOf(map[string]string{"HOP_UNIT_TESTS_FOLDER": "/tests/", "B": "/base"})
	for name, c := range map[string]struct {
		test project.UnitTest
		want string
	}{
		"below the tests folder": {project.UnitTest{PipelineFilename: "./a.hpl"}, "/tests/a.hpl"},
		"below the base path":    {project.UnitTest{PipelineFilename: "sub/a.hpl", BasePath: "${B}"}, "/base/sub/a.hpl"},
		"absolute":               {project.UnitTest{PipelineFilename: "${B}/a.hpl", BasePath: "/other"}, "/base/a.hpl"},
		"uri":                    {project.UnitTest{PipelineFilename: "file:///x/a.hpl"}, "file:///x/a.hpl"},
	} {
		if got, err := c.test.File(scope); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

func TestRunConfigurations(t *testing.T) {
	m := project.OpenMetadata(tree(t, map[string]string{
		"pipeline-run-configuration/local.json": `{"engineRunConfiguration": {"Local": {"rowset_size": "7", "safe_mode": "Y", "sample_type_in_gui": "First"}},
			"configurationVariables": [{"name": "X", "value": "1"}], "dataProfile": "p", "executionInfoLocationName": "l"}`,
		"pipeline-run-configuration/spark.json": `{"defaultSelection": true, "engineRunConfiguration": {"BeamSparkPipelineEngine": {"sparkMaster": "local[2]"}}}`,
		"pipeline-run-configuration/none.json":  `{"name": "none"}`,
		"workflow-run-configuration/tx.json":    `{"engineRunConfiguration": {"Local": {"safe_mode": false, "transactional": true}}}`,
	}))
	local, err := m.PipelineRunConfiguration("local")
	if err != nil || local.Local.RowSetSize != "7" || !local.Local.SafeMode || local.Local.SampleType != "First" || local.Local.WaitTime != "20" ||
		len(local.Variables) != 1 || local.DataProfile != "p" || local.ExecutionLocation != "l" {
		t.Errorf("%+v, %v", local, err)
	}
	spark, err := m.PipelineRunConfiguration("spark")
	if err != nil || spark.Engine != "BeamSparkPipelineEngine" || spark.Setting("sparkMaster") != "local[2]" {
		t.Errorf("%+v, %v", spark, err)
	}
	if _, err := m.PipelineRunConfiguration("none"); err == nil || !strings.Contains(err.Error(), "no engine") {
		t.Errorf("%v", err)
	}
	if got := m.DefaultRunConfiguration("pipeline-run-configuration"); got != "spark" {
		t.Errorf("default %q", got)
	}
	if tx, err := m.WorkflowRunConfiguration("tx"); err != nil || !tx.Transactional || tx.SafeMode {
		t.Errorf("%+v, %v", tx, err)
	}
}

func TestOtherViews(t *testing.T) {
	m := project.OpenMetadata(tree(t, map[string]string{
		"execution-info-location/l.json": `{"dataLoggingDelay": "1", "executionInfoLocation": {"local-folder": {"pluginId": "local-folder", "rootFolder": "${F}"}}}`,
		"execution-data-profile/p.json":  `{"sampler": [{"FirstRowsExecutionDataSampler": {"sampleSize": "5"}}, {"LastRowsExecutionDataSampler": {}}]}`,
		"dataset/d.json":                 `{"base_filename": "d.csv", "dataset_fields": [{"field_name": "a", "field_type": 5, "field_length": "9"}]}`,
		"dataset/f.json":                 `{"folder_name": "${D}/", "base_filename": "f.csv"}`,
		"unit-test/u.json": `{"pipeline_filename": "./x.hpl", "variableValues": [{"key": "K", "value": "v"}],
			"database_replacements": [{"original_connection": "a", "replacement_connection": "b"}],
			"golden_data_sets": [{"transform_name": "T", "data_set_name": "d", "field_order": ["a"], "field_mappings": [{"transform_field": "x", "data_set_field": "a"}]}],
			"trans_test_tweaks": [{"transformName": "T", "tweak": "BYPASS_TRANSFORM"}]}`,
		"schema-definition/s.json": `{"separator": ";", "fieldDefinitions": [{"name": "n", "hopType": "Integer", "length": 4, "trimType": 3}]}`,
		"file-definition/s.json":   `{"enclosure": "'"}`,
		"restconnection/r.json":    `{"base_url": "http://x", "auth_header_name": "X-Key", "auth_header_value": "v"}`,
		"restconnection/b.json":    `{"auth_type": "bearer", "bearer_token": "Encrypted ", "default_limit": 5}`,
	}))
	scope := scopeOf(map[string]string{"D": "/data", "HOP_DATASETS_FOLDER": "/sets", "HOP_UNIT_TESTS_FOLDER": "/tests"})

	if l, err := m.ExecutionInfoLocation("l"); err != nil || l.RootFolder != "${F}" || l.Delay != "1" || l.Interval != "5000" {
		t.Errorf("%+v, %v", l, err)
	}
	if p, err := m.ExecutionDataProfile("p"); err != nil || !slices.Equal(p.Samplers, []project.DataSampler{
		{Kind: "FirstRowsExecutionDataSampler", SampleSize: "5"}, {Kind: "LastRowsExecutionDataSampler", SampleSize: "100"},
	}) {
		t.Errorf("%+v, %v", p, err)
	}
	d, err := m.Dataset("d")
	if err != nil || !slices.Equal(d.Fields, []project.DatasetField{{Name: "a", Type: 5, Length: 9, Precision: -1}}) {
		t.Errorf("%+v, %v", d, err)
	}
	if file, err := d.File(scope); err != nil || file != "/sets/d.csv" {
		t.Errorf("%q, %v", file, err)
	}
	if file, err := must(m.Dataset("f")).File(scope); err != nil || file != "/data/f.csv" {
		t.Errorf("%q, %v", file, err)
	}
	if file, err := d.File(project.NewVariables()); err != nil || file != "./d.csv" {
		t.Errorf("%q, %v", file, err)
	}
	u, err := m.UnitTest("u")
	if err != nil || u.Kind != "UNIT_TEST" || len(u.Golden) != 1 || u.Golden[0].Mappings[0].DataSetField != "a" || u.Tweaks[0].Tweak != "BYPASS_TRANSFORM" ||
		u.Variables[0] != (project.Attribute{Name: "K", Value: "v"}) || u.DatabaseReplacements[0].Replacement != "b" {
		t.Errorf("%+v, %v", u, err)
	}
	if file, err := u.File(scope); err != nil || file != "/tests/x.hpl" {
		t.Errorf("%q, %v", file, err)
	}
	if s, err := m.SchemaDefinition("s"); err != nil || s.Separator != ";" || s.Fields[0].Length != 4 || s.Fields[0].Precision != -1 || s.Fields[0].TrimType != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := m.FileDefinition("s"); err != nil || s.Enclosure != "'" {
		t.Errorf("%+v, %v", s, err)
	}
	if r, err := m.RESTConnection("r"); err != nil || r.AuthType != project.RESTAPIKey || r.Pagination.Type != "NONE" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := m.RESTConnection("b"); err != nil || r.AuthType != project.RESTBearer || r.Pagination.DefaultLimit != 5 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPasswordResolver(t *testing.T) {
	m := project.OpenMetadata(tree(t, map[string]string{
		"variable-resolver/var.json":    `{"variable-resolver": {"HopPassword": {"resolveAsVariable": true}}}`,
		"variable-resolver/strict.json": `{"variable-resolver": {"HopPassword": {"resolveAsVariable": true, "failIfVariableNotDefined": true}}}`,
		"variable-resolver/text.json":   `{"variable-resolver": {"HopPassword": {"resolveAsVariable": false}}}`,
		"variable-resolver/vault.json":  `{"variable-resolver": {"Vault": {"url": "x"}}}`,
	}))
	scope := scopeOf(map[string]string{"PWD": "Encrypted 2be98afc86aa7f2e4cb799d64cc9ba1dd", "PLAIN": "p"})
	scope.SetResolver(m.Resolver(nil))
	for in, want := range map[string]string{
		"#{var:PWD}": "String", "#{var: PWD }": "String", "#{var:PLAIN}": "p", "#{var:NO}": "#{var:NO}", "<#{text:${PWD}}>": "<String>",
		"#{vault:a:b}": "#{vault:a:b}", "#{unknown:a}": "#{unknown:a}", "#{var}": "#{var}",
	} {
		if got, err := scope.Resolve(in); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := scope.Resolve("#{strict:NO}"); err == nil || !strings.Contains(err.Error(), `"NO"`) {
		t.Errorf("strict: %v", err)
	}
	scope.SetResolver(m.Resolver(func(_ *project.Variables, o *project.Object, kind, path string) (string, bool, error) {
		return kind + "/" + o.Root().Get("variable-resolver").Get(kind).Get("url").Text() + "/" + path, true, nil
	}))
	if got, err := scope.Resolve("#{vault:a}"); err != nil || got != "Vault/x/a" {
		t.Errorf("%q, %v", got, err)
	}
}

// suite returns the folder of the Hop projects that the tests read.
func suite(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SLUICE_HOP_SUITE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the Hop suite is needed; set SLUICE_HOP_SUITE: %v", err)
	}
	return must(filepath.Abs(dir))
}

// TestSuiteRoundTrip works on copies, so that saving cannot harm the suite.
func TestSuiteRoundTrip(t *testing.T) {
	configs := must(filepath.Glob(filepath.Join(suite(t), "*", "project-config.json")))
	if len(configs) < 10 {
		t.Fatalf("only %d projects", len(configs))
	}
	objects := 0
	for _, path := range configs {
		home := filepath.Dir(path)
		copied := filepath.Join(t.TempDir(), filepath.Base(home))
		if err := os.CopyFS(copied, os.DirFS(home)); err != nil {
			t.Fatal(err)
		}
		p, err := project.Open(project.OpenOptions{
			Name: "default", Environment: "dev", Base: scopeOf(map[string]string{"HOP_CONFIG_FOLDER": copied}),
		})
		if err != nil {
			t.Errorf("%s: %v", home, err)
			continue
		}
		if p.Home != copied {
			t.Errorf("home %s", p.Home)
		}
		roundTripConfig(t, p)
		objects += roundTripMetadata(t, p.Metadata())
	}
	if objects < 500 {
		t.Errorf("only %d metadata objects seen", objects)
	}
}

func roundTripConfig(t *testing.T, p *project.Project) {
	before := must(os.ReadFile(p.Config.Path()))
	edited := must(p.Config.Document().Set([]byte(`"x y"`), "company"))
	saved, err := p.Config.Save(edited)
	if err != nil {
		t.Fatal(err)
	}
	back := must(saved.Document().Delete("company"))
	if _, err := saved.Save(back); err != nil {
		t.Fatal(err)
	}
	if after := must(os.ReadFile(p.Config.Path())); string(after) != string(before) {
		t.Errorf("%s changed", p.Config.Path())
	}
}

func roundTripMetadata(t *testing.T, m *project.Metadata) int {
	count := 0
	for _, typeKey := range must(m.Types()) {
		for _, name := range must(m.Names(typeKey)) {
			o, err := m.Load(typeKey, name)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			count++
			roundTripObject(t, m, o)
			if err := loadView(m, typeKey, name); err != nil {
				t.Errorf("typed view: %v", err)
			}
		}
	}
	return count
}

// roundTripObject saves an edit and takes it back, which goes through the
// whole write path, and expects the first bytes again.
func roundTripObject(t *testing.T, m *project.Metadata, o *project.Object) {
	before := string(must(os.ReadFile(o.Path())))
	if string(o.Document().Bytes()) != before {
		t.Errorf("%s: the document differs from the file", o.Path())
	}
	saved, err := m.Save(o)
	if err != nil {
		t.Fatal(err)
	}
	saved, err = m.Save(saved.With(must(saved.Document().Set(jsondoc.Quote("für später"), "a key of ours"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(saved.With(must(saved.Document().Delete("a key of ours")))); err != nil {
		t.Fatal(err)
	}
	if after := string(must(os.ReadFile(o.Path()))); after != before {
		t.Errorf("%s changed", o.Path())
	}
}

func loadView(m *project.Metadata, typeKey, name string) (err error) {
	switch typeKey {
	case project.TypeRDBMS:
		_, err = m.RDBMS(name)
	case project.TypePipelineRunConfiguration:
		_, err = m.PipelineRunConfiguration(name)
	case project.TypeWorkflowRunConfiguration:
		_, err = m.WorkflowRunConfiguration(name)
	case project.TypeDataset:
		d, loadErr := m.Dataset(name)
		if err = loadErr; err == nil && (len(d.Fields) == 0 || d.BaseFilename == "") {
			err = errors.New("data set " + name + " lacks fields or a file")
		}
	case project.TypeUnitTest:
		err = checkUnitTest(m, name)
	case project.TypeSchemaDefinition:
		_, err = m.SchemaDefinition(name)
	case project.TypePartition:
		_, err = m.Partition(name)
	case project.TypeRESTConnection:
		_, err = m.RESTConnection(name)
	}
	return err
}

// checkUnitTest compares the view with what encoding/json reads.
func checkUnitTest(m *project.Metadata, name string) error {
	u, err := m.UnitTest(name)
	if err != nil {
		return err
	}
	var want struct {
		Pipeline string           `json:"pipeline_filename"`
		Inputs   []map[string]any `json:"input_data_sets"`
		Golden   []struct {
			DataSet string           `json:"data_set_name"`
			Fields  []map[string]any `json:"field_mappings"`
		} `json:"golden_data_sets"`
	}
	if err := json.Unmarshal(must(m.Load(project.TypeUnitTest, name)).Document().Bytes(), &want); err != nil {
		return err
	}
	same := u.PipelineFilename == want.Pipeline && len(u.Inputs) == len(want.Inputs) && len(u.Golden) == len(want.Golden)
	for i := 0; same && i < len(u.Golden); i++ {
		same = u.Golden[i].DataSet == want.Golden[i].DataSet && len(u.Golden[i].Mappings) == len(want.Golden[i].Fields)
	}
	if !same {
		return fmt.Errorf("unit test %s: the view %+v differs from the file", name, u)
	}
	return nil
}

func TestSuiteResolver(t *testing.T) {
	home := filepath.Join(suite(t), "resolver")
	p, err := project.Open(project.OpenOptions{Name: "default", Environment: "dev", Base: scopeOf(map[string]string{"HOP_CONFIG_FOLDER": home})})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"#{hop-pwd:HOP_PWD}", "#{hop-pwd-literal:Encrypted 696e7467d9eacebc03c89cc9bf1cbd649382b8de}"} {
		got, err := p.Variables().Resolve(text)
		want, _ := p.Variables().Get("HOP_PWD_PLAIN")
		if err != nil || got != want || got == "" {
			t.Errorf("Resolve(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}
