package project

import (
	"fmt"
	"path/filepath"

	"sluice/engine/project/jsondoc"
)

// ConfigFileName is the name of a project's configuration unless hop-config.json
// says otherwise.
const ConfigFileName = "project-config.json"

const hopConfigFileName = "hop-config.json"

// DescribedVariable is one entry of a "variables" list.
type DescribedVariable struct {
	Name        string
	Value       string
	Null        bool // the file says null or nothing: the variable gets removed
	Description string
}

// Config is a project-config.json. Absent settings have Hop's defaults; the
// values may hold variables.
type Config struct {
	MetadataBaseFolder       string // comma list of folders
	UnitTestsBasePath        string
	DataSetsCSVFolder        string
	EnforcingExecutionInHome bool
	ParentProjectName        string
	Description              string
	Company                  string
	Department               string
	Version                  string
	Variables                []DescribedVariable

	file file
}

// DefaultConfig returns the configuration of a folder that has none.
func DefaultConfig() *Config {
	return configOf(nil)
}

// LoadConfig reads a project-config.json. Errors name file, line and column;
// an absent file is fs.ErrNotExist.
func LoadConfig(path string) (*Config, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	c := configOf(f.doc.Root())
	c.file = f
	return c, nil
}

func configOf(root *jsondoc.Value) *Config {
	return &Config{
		MetadataBaseFolder:       textOr(root.Get("metadataBaseFolder"), "${PROJECT_HOME}/metadata"),
		UnitTestsBasePath:        textOr(root.Get("unitTestsBasePath"), "${PROJECT_HOME}"),
		DataSetsCSVFolder:        textOr(root.Get("dataSetsCsvFolder"), "${PROJECT_HOME}/datasets"),
		EnforcingExecutionInHome: root.Get("enforcingExecutionInHome").Bool(true),
		ParentProjectName:        root.Get("parentProjectName").Text(),
		Description:              root.Get("description").Text(),
		Company:                  root.Get("company").Text(),
		Department:               root.Get("department").Text(),
		Version:                  root.Get("version").Text(),
		Variables:                describedVariables(root.Get("config").Get("variables")),
	}
}

// Document returns the file as it was read, nil for a default configuration.
func (c *Config) Document() *jsondoc.Document { return c.file.doc }

// Path returns the file, empty for a default configuration.
func (c *Config) Path() string { return c.file.path }

// Save writes an edited document of this configuration and returns the
// configuration it gives. It fails with ErrChanged when the file changed since
// it was read; an unedited document writes nothing.
func (c *Config) Save(doc *jsondoc.Document) (*Config, error) {
	f, err := file{path: c.file.path, doc: doc, stored: c.file.stored}.write()
	if err != nil {
		return c, err
	}
	saved := configOf(f.doc.Root())
	saved.file = f
	return saved, nil
}

// textOr returns the default for an absent value; null and "" are values, as
// for the parser that Hop uses.
func textOr(v *jsondoc.Value, absent string) string {
	if v == nil {
		return absent
	}
	return v.Text()
}

func describedVariables(list *jsondoc.Value) []DescribedVariable {
	var variables []DescribedVariable
	for _, item := range list.Items() {
		value := item.Get("value")
		variables = append(variables, DescribedVariable{
			Name:        item.Get("name").Text(),
			Value:       value.Text(),
			Null:        value.Kind() == jsondoc.Null || value.Kind() == jsondoc.Absent,
			Description: item.Get("description").Text(),
		})
	}
	return variables
}

func setDescribed(scope *Variables, variables []DescribedVariable) {
	for _, d := range variables {
		if d.Null {
			scope.Unset(d.Name)
			continue
		}
		scope.Set(d.Name, d.Value)
	}
}

// LoadEnvironmentFile reads the variables of an environment configuration
// file: its outermost "variables" list. As in Hop, a list inside "config" does
// not count; that is the form of project-config.json.
func LoadEnvironmentFile(path string) ([]DescribedVariable, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return describedVariables(f.doc.Root().Get("variables")), nil
}

// HopConfig is an installation's hop-config.json: system-wide variables, and
// the projects and environments that are known by name.
type HopConfig struct {
	Folder             string // HOP_CONFIG_FOLDER
	Variables          []DescribedVariable
	Locale             string // such as en_US; empty when not set
	DefaultProject     string
	DefaultEnvironment string
	Projects           []KnownProject
	Environments       []KnownEnvironment
}

// KnownProject is a project that hop-config.json lists.
type KnownProject struct {
	Name       string
	Home       string // may hold variables
	ConfigFile string // relative to Home
}

// KnownEnvironment is an environment that hop-config.json lists.
type KnownEnvironment struct {
	Name    string
	Purpose string
	Project string
	Files   []string // may hold variables; later files win
}

// LoadHopConfig reads hop-config.json in the folder. An absent file is
// fs.ErrNotExist, which most callers take as an empty configuration.
func LoadHopConfig(folder string) (*HopConfig, error) {
	local, ok := LocalPath(folder)
	if !ok {
		return nil, fmt.Errorf("read %s in %s: only local folders hold an installation's configuration", hopConfigFileName, folder)
	}
	f, err := readFile(filepath.Join(local, hopConfigFileName))
	if err != nil {
		return nil, err
	}
	root := f.doc.Root()
	projects := root.Get("projectsConfig")
	c := &HopConfig{
		Folder:             local,
		Variables:          describedVariables(root.Get("variables")),
		Locale:             root.Get("LocaleDefault").Text(),
		DefaultProject:     projects.Get("defaultProject").Text(),
		DefaultEnvironment: projects.Get("defaultEnvironment").Text(),
	}
	for _, p := range projects.Get("projectConfigurations").Items() {
		c.Projects = append(c.Projects, KnownProject{
			Name:       p.Get("projectName").Text(),
			Home:       p.Get("projectHome").Text(),
			ConfigFile: textOr(p.Get("configFilename"), ConfigFileName),
		})
	}
	for _, e := range projects.Get("lifecycleEnvironments").Items() {
		c.Environments = append(c.Environments, KnownEnvironment{
			Name:    e.Get("name").Text(),
			Purpose: e.Get("purpose").Text(),
			Project: e.Get("projectName").Text(),
			Files:   e.Get("configurationFiles").Strings(),
		})
	}
	return c, nil
}

// Project returns a listed project by name.
func (c *HopConfig) Project(name string) (KnownProject, bool) {
	if c == nil {
		return KnownProject{}, false
	}
	for _, p := range c.Projects {
		if p.Name == name {
			return p, true
		}
	}
	return KnownProject{}, false
}

// Environment returns a listed environment by name.
func (c *HopConfig) Environment(name string) (KnownEnvironment, bool) {
	if c == nil {
		return KnownEnvironment{}, false
	}
	for _, e := range c.Environments {
		if e.Name == name {
			return e, true
		}
	}
	return KnownEnvironment{}, false
}
