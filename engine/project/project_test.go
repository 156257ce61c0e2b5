package project_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/engine/project"
	"sluice/engine/project/jsondoc"
)

// tree writes files below a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const installation = `{
  "variables": [{"name": "SYS", "value": "installation"}, {"name": "NOTHING", "value": null}, {"name": "V", "value": "installation"}],
  "LocaleDefault": "en_BE",
  "projectsConfig": {
    "defaultProject": "child",
    "projectConfigurations": [
      {"projectName": "child", "projectHome": "${HOP_CONFIG_FOLDER}/../child", "configFilename": "project-config.json"},
      {"projectName": "parent", "projectHome": "${HOP_CONFIG_FOLDER}/../parent", "configFilename": "own-name.json"},
      {"projectName": "loop1", "projectHome": "${HOP_CONFIG_FOLDER}/../loop1"},
      {"projectName": "loop2", "projectHome": "${HOP_CONFIG_FOLDER}/../loop2"}
    ],
    "lifecycleEnvironments": [
      {"name": "dev", "purpose": "Testing", "projectName": "child", "configurationFiles": ["${PROJECT_HOME}/dev.json", "${PROJECT_HOME}/dev2.json"]}
    ]
  }
}`

func projects(t *testing.T) string {
	return tree(t, map[string]string{
		"config/hop-config.json": installation,
		"parent/own-name.json": `{"config": {"variables": [
			{"name": "V", "value": "parent"}, {"name": "ONLY_PARENT", "value": "${PROJECT_HOME}/p"}]},
			"dataSetsCsvFolder": "${PROJECT_HOME}/parentdata"}`,
		"child/project-config.json": `{"parentProjectName": "parent", "metadataBaseFolder": "${PROJECT_HOME}/meta",
			"unitTestsBasePath": "${PROJECT_HOME}/tests", "dataSetsCsvFolder": "",
			"config": {"variables": [{"name": "V", "value": "project"}, {"name": "W", "value": "${V}/w"}, {"name": "GONE", "value": null}]}}`,
		"child/dev.json": `{"variables": [{"name": "V", "value": "dev"}, {"name": "E", "value": "1"}, {"name": "GONE", "value": "x"}],
			"config": {"variables": [{"name": "INNER", "value": "not read"}]}}`,
		"child/dev2.json":                     `{"variables": [{"name": "E", "value": "2"}]}`,
		"child/extra.json":                    `{"variables": [{"name": "E", "value": "3"}]}`,
		"child/sub/deep/a.hpl":                `<pipeline/>`,
		"child/meta/partition/both.json":      `{"name": "both", "numberOfPartitions": "2"}`,
		"parent/metadata/partition/both.json": `{"name": "both", "numberOfPartitions": "1"}`,
		"parent/metadata/partition/up.json":   `{"name": "up", "numberOfPartitions": "9", "partitionIDs": ["a", "b"]}`,
		"loop1/project-config.json":           `{"parentProjectName": "loop2"}`,
		"loop2/project-config.json":           `{"parentProjectName": "loop1"}`,
		"orphan/project-config.json":          `{"parentProjectName": "unknown"}`,
		"plain/x.hpl":                         `<pipeline/>`,
		"broken/project-config.json":          "{\n  \"config\": [1,\n 2 3]\n}",
		"list/project-config.json":            "[]",
	})
}

func TestOpenProject(t *testing.T) {
	root := projects(t)
	base := scopeOf(map[string]string{"HOP_CONFIG_FOLDER": root + "/config", "BASE": "b"})
	p, err := project.Open(project.OpenOptions{
		Name: "child", Environment: "dev", Base: base,
		EnvironmentFiles: []string{"file://" + root + "/child/extra.json", "${PROJECT_HOME}/missing.json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	scope := p.Variables()
	for name, want := range map[string]string{
		"BASE": "b", "SYS": "installation", "V": "project", "W": "${V}/w", "E": "3", "ONLY_PARENT": "${PROJECT_HOME}/p",
		"PROJECT_HOME": root + "/child", "HOP_PROJECT_NAME": "child", "HOP_ENVIRONMENT_NAME": "dev",
		"PARENT_PROJECT_NAME": "parent", "PARENT_PROJECT_HOME": root + "/parent",
		"HOP_METADATA_FOLDER":   root + "/parent/metadata," + root + "/child/meta",
		"HOP_UNIT_TESTS_FOLDER": root + "/child/tests",
		"HOP_DATASETS_FOLDER":   root + "/parent/parentdata", // the project's own setting is empty
	} {
		if got, ok := scope.Get(name); !ok || got != want {
			t.Errorf("%s = %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"NOTHING", "GONE", "INNER"} {
		if got, ok := scope.Get(name); ok {
			t.Errorf("%s is defined as %q", name, got)
		}
	}
	if got, _ := scope.Resolve("${W} ${ONLY_PARENT}"); got != "project/w "+root+"/child/p" {
		t.Errorf("resolved %q", got)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "missing.json") {
		t.Errorf("warnings %q", p.Warnings)
	}
	scope.Set("V", "changed")
	if got, _ := p.Variables().Get("V"); got != "project" {
		t.Error("a copy of the scope changed the project")
	}
	if names := base.Names(); !slices.Equal(names, []string{"BASE", "HOP_CONFIG_FOLDER"}) {
		t.Errorf("the base scope changed: %v", names)
	}
	if !p.Contains(root+"/child/sub/x") || p.Contains(root+"/childish") || p.Contains("s3://child/x") {
		t.Error("Contains is wrong")
	}
	both, err := p.Metadata().Partition("both")
	if err != nil || both.Partitions != "2" {
		t.Errorf("of two objects the project's own counts: %+v, %v", both, err)
	}
	if up, err := p.Metadata().Partition("up"); err != nil || !slices.Equal(up.PartitionIDs, []string{"a", "b"}) {
		t.Errorf("object of the parent: %+v, %v", up, err)
	}
	names, err := p.Metadata().Names("partition")
	if err != nil || !slices.Equal(names, []string{"both", "up"}) {
		t.Errorf("names %v, %v", names, err)
	}
}

func TestOpenPlainFolder(t *testing.T) {
	root := projects(t)
	p, err := project.Open(project.OpenOptions{Home: root + "/plain", Base: project.NewVariables()})
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "plain" || p.Config.Path() != "" || !p.Config.EnforcingExecutionInHome {
		t.Errorf("project %+v", p)
	}
	for name, want := range map[string]string{
		"HOP_METADATA_FOLDER": root + "/plain/metadata", "HOP_UNIT_TESTS_FOLDER": root + "/plain", "HOP_DATASETS_FOLDER": root + "/plain/datasets",
	} {
		if got, _ := p.Variables().Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if types, err := p.Metadata().Types(); err != nil || len(types) != 0 {
		t.Errorf("types %v, %v", types, err)
	}
	for _, typeKey := range []string{"pipeline-run-configuration", "workflow-run-configuration"} {
		if got := p.Metadata().DefaultRunConfiguration(typeKey); got != "local" {
			t.Errorf("default %s %q", typeKey, got)
		}
	}
	local, err := p.Metadata().PipelineRunConfiguration("local")
	if err != nil || local.Engine != "Local" || local.Local.RowSetSize != "10000" || local.Setting("anything") != "" {
		t.Errorf("built-in local: %+v, %v", local, err)
	}
	if w, err := p.Metadata().WorkflowRunConfiguration("local"); err != nil || w.Engine != "Local" {
		t.Errorf("built-in local: %+v, %v", w, err)
	}
	if _, err := p.Metadata().PipelineRunConfiguration("spark"); !errors.Is(err, project.ErrNotFound) {
		t.Errorf("other name: %v", err)
	}
}

func TestOwnVariablesMayMoveTheMetadata(t *testing.T) {
	root := tree(t, map[string]string{
		"project-config.json":  `{"config": {"variables": [{"name": "HOP_METADATA_FOLDER", "value": "${PROJECT_HOME}/a, file://${PROJECT_HOME}/b c"}]}}`,
		"b c/partition/p.json": `{"numberOfPartitions": "3"}`,
	})
	p, err := project.Open(project.OpenOptions{Home: root, Base: project.NewVariables()})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Metadata().Folders(); !slices.Equal(got, []string{root + "/a", root + "/b c"}) {
		t.Errorf("folders %q", got)
	}
	if got, err := p.Metadata().Partition("p"); err != nil || got.Partitions != "3" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOpenErrors(t *testing.T) {
	root := projects(t)
	base := scopeOf(map[string]string{"HOP_CONFIG_FOLDER": root + "/config"})
	cases := map[string]struct {
		options project.OpenOptions
		says    []string
	}{
		"unknown name":        {project.OpenOptions{Name: "nobody"}, []string{`"nobody"`, "child, parent", "register"}},
		"nothing":             {project.OpenOptions{}, []string{"neither"}},
		"unknown environment": {project.OpenOptions{Name: "child", Environment: "prod"}, []string{`"prod"`, "(it has dev)"}},
		"loop":                {project.OpenOptions{Name: "loop1"}, []string{"loop1 → loop2 → loop1", "parentProjectName"}},
		"broken json":         {project.OpenOptions{Home: root + "/broken"}, []string{"project-config.json:3:4", "expected , or ]", "correct the file"}},
		"not an object":       {project.OpenOptions{Home: root + "/list"}, []string{"project-config.json:1:1", "a list"}},
		"no folder":           {project.OpenOptions{Home: root + "/none"}, []string{"/none"}},
		"a file":              {project.OpenOptions{Home: root + "/plain/x.hpl"}, []string{"is a file"}},
		"elsewhere":           {project.OpenOptions{Home: "s3://bucket/p"}, []string{"s3://bucket/p", "local"}},
		"broken environment":  {project.OpenOptions{Home: root + "/plain", EnvironmentFiles: []string{root + "/plain/x.hpl"}}, []string{"x.hpl:1:1", "not valid JSON"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.options.Base = base
			_, err := project.Open(c.options)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestOpenWithUnknownParentWarns(t *testing.T) {
	root := projects(t)
	p, err := project.Open(project.OpenOptions{Home: root + "/orphan", Base: project.NewVariables()})
	if err != nil || p.Parent != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], `"unknown"`) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestEnvironmentNameForGivenFiles(t *testing.T) {
	root := projects(t)
	p, err := project.Open(project.OpenOptions{
		Home: root + "/plain", Environment: "staging", EnvironmentFiles: []string{root + "/child/extra.json"}, Base: project.NewVariables(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Variables().Get("HOP_ENVIRONMENT_NAME"); got != "staging" {
		t.Errorf("environment %q", got)
	}
	if got, _ := p.Variables().Get("E"); got != "3" {
		t.Errorf("E = %q", got)
	}
}

func TestFindHome(t *testing.T) {
	root := projects(t)
	for in, want := range map[string]string{
		root + "/child/sub/deep/a.hpl":              "child",
		project.PathURI(root + "/child/sub/none.x"): "child",
		root + "/child":                             "child",
	} {
		if home, found := project.FindHome(in); !found || home != filepath.Join(root, want) {
			t.Errorf("FindHome(%q) = %q, %v", in, home, found)
		}
	}
	if home, found := project.FindHome(root + "/plain/x.hpl"); found || home != root+"/plain" {
		t.Errorf("plain folder: %q, %v", home, found)
	}
}

func TestLoadHopConfig(t *testing.T) {
	root := projects(t)
	c, err := project.LoadHopConfig(project.PathURI(root + "/config"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Locale != "en_BE" || c.DefaultProject != "child" || len(c.Projects) != 4 || c.Projects[2].ConfigFile != "project-config.json" ||
		len(c.Environments) != 1 || len(c.Environments[0].Files) != 2 || c.Environments[0].Project != "child" {
		t.Errorf("%+v", c)
	}
	if _, err := project.LoadHopConfig(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

func TestSaveProjectConfig(t *testing.T) {
	root := projects(t)
	path := root + "/child/project-config.json"
	c, err := project.LoadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	edited, err := c.Document().Set(jsondoc.Quote("A & B"), "company")
	if err != nil {
		t.Fatal(err)
	}
	saved, err := c.Save(edited)
	if err != nil || saved.Company != "A & B" {
		t.Fatalf("%+v, %v", saved, err)
	}
	if _, err := c.Save(edited); !errors.Is(err, project.ErrChanged) {
		t.Errorf("saving over a newer file: %v", err)
	}
	again, err := project.LoadConfig(path)
	if err != nil || again.Company != "A & B" || again.ParentProjectName != "parent" || len(again.Variables) != 3 {
		t.Errorf("%+v, %v", again, err)
	}
}
