// Package project knows a project folder the way Apache Hop does: its
// variables, its environments, its metadata objects and its encoded passwords.
//
// Three nouns carry it. [Variables] is one flat scope of names and values; a
// child scope is a copy. [Project] is an opened folder: its configuration, its
// parents, and the variables that opening it sets. [Metadata] is the set of
// JSON objects under the metadata folders, kept losslessly.
//
// What a pipeline or a workflow does with any of it is left to others.
package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Project is an opened project. It does not change after Open and is safe for
// concurrent use; its metadata is read from disk whenever it is asked for.
type Project struct {
	Name        string // as hop-config.json knows it, else the folder's base name
	Home        string // local path
	Config      *Config
	Environment string   // empty when none was chosen
	Parent      *Project // nil when there is none
	Warnings    []string // what Hop only logs: an absent environment file, an unknown parent

	variables *Variables
	metadata  *Metadata
}

// OpenOptions says which project to open and on what ground.
type OpenOptions struct {
	// Name is a project of Installation. Home is a folder, as a path or URI,
	// and comes first when both are given.
	Name, Home string
	// Installation is the hop-config.json to use. When nil, the one that the
	// variable HOP_CONFIG_FOLDER of Base names is read if it exists.
	Installation *HopConfig
	// Environment is an environment of Installation; its files come before
	// EnvironmentFiles. Later files win.
	Environment      string
	EnvironmentFiles []string
	// Base is the scope to start from, usually of SystemVariables, which is
	// what nil stands for. It is not changed.
	Base *Variables
}

// Open reads a project and its parents and computes the variables, in Hop's
// order: the installation's; those of the parent project; PARENT_PROJECT_NAME
// and _HOME; HOP_PROJECT_NAME and HOP_ENVIRONMENT_NAME; PROJECT_HOME; the
// environment files; HOP_METADATA_FOLDER, HOP_UNIT_TESTS_FOLDER and
// HOP_DATASETS_FOLDER; and the project's own, which therefore win over
// environment files. A folder without project-config.json has the default
// configuration.
//
// Unlike Hop, a file that cannot be read or parsed is an error, not a line in
// a log; an absent environment file is a warning.
func Open(o OpenOptions) (*Project, error) {
	base := o.Base
	if base == nil {
		base = SystemVariables(System{})
	}
	scope := base.Child()
	installation, err := o.installation(scope)
	if err != nil {
		return nil, err
	}
	known, err := o.choose(installation, scope)
	if err != nil {
		return nil, err
	}
	files, err := o.environmentFiles(installation)
	if err != nil {
		return nil, err
	}
	opening := opening{installation: installation, scope: scope}
	p, err := opening.open(known, o.Environment, files)
	if err != nil {
		return nil, err
	}
	if err := p.finish(scope); err != nil {
		return nil, fmt.Errorf("open project %q: %w", p.Name, err)
	}
	return p, nil
}

// finish gives the project and its parents their scope and metadata. The
// project's own variables may have set the metadata folder anew.
func (p *Project) finish(scope *Variables) error {
	folders, err := resolvedVariable(scope, VariableMetadataFolder)
	if err != nil {
		return err
	}
	p.metadata = OpenMetadata(splitFolders(folders)...)
	scope.SetResolver(p.metadata.Resolver(nil))
	p.variables = scope
	for parent := p.Parent; parent != nil; parent = parent.Parent {
		parent.variables, parent.metadata = p.variables, p.metadata
	}
	return nil
}

// Variables returns a new copy of the project's scope.
func (p *Project) Variables() *Variables { return p.variables.Child() }

// Metadata returns the metadata of the project and its parents.
func (p *Project) Metadata() *Metadata { return p.metadata }

// Contains tells whether a local path lies in the project's folder.
func (p *Project) Contains(location string) bool {
	local, ok := LocalPath(location)
	if !ok {
		return false
	}
	absolute, err := filepath.Abs(local)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(p.Home, absolute)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

// FindHome returns the folder of the project that a file belongs to: the
// nearest folder above it with a project-config.json. When there is none it
// returns the file's own folder and false.
func FindHome(location string) (home string, found bool) {
	local, ok := LocalPath(location)
	if !ok {
		return "", false
	}
	absolute, err := filepath.Abs(local)
	if err != nil {
		return filepath.Dir(local), false
	}
	start := absolute
	if info, err := os.Stat(absolute); err != nil || !info.IsDir() {
		start = filepath.Dir(absolute)
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		if info, err := os.Stat(filepath.Join(folder, ConfigFileName)); err == nil && !info.IsDir() {
			return folder, true
		}
		if folder == filepath.Dir(folder) {
			return start, false
		}
	}
}

// installation reads hop-config.json and sets its variables over the base
// scope, as Hop does over the system properties.
func (o OpenOptions) installation(scope *Variables) (*HopConfig, error) {
	installation := o.Installation
	if installation == nil {
		folder, _ := scope.Get(VariableConfigFolder)
		if folder == "" {
			return nil, nil
		}
		loaded, err := LoadHopConfig(folder)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		installation = loaded
	}
	if _, ok := scope.Get(VariableConfigFolder); !ok {
		scope.Set(VariableConfigFolder, installation.Folder)
	}
	setDescribed(scope, installation.Variables)
	return installation, nil
}

func (o OpenOptions) choose(installation *HopConfig, scope *Variables) (KnownProject, error) {
	if o.Home != "" {
		known := KnownProject{Name: o.Name, Home: o.Home, ConfigFile: ConfigFileName}
		if listed, ok := installation.Project(o.Name); ok {
			known.ConfigFile = listed.ConfigFile
		}
		return known, nil
	}
	if o.Name == "" {
		return KnownProject{}, errors.New("open project: neither a folder nor a name is given")
	}
	known, ok := installation.Project(o.Name)
	if !ok {
		folder, _ := scope.Get(VariableConfigFolder)
		return KnownProject{}, fmt.Errorf("open project %q: %s does not list it%s; register it there or name its folder",
			o.Name, describeInstallation(folder), alternatives(projectNames(installation)))
	}
	return known, nil
}

func (o OpenOptions) environmentFiles(installation *HopConfig) ([]string, error) {
	if o.Environment == "" {
		return o.EnvironmentFiles, nil
	}
	environment, ok := installation.Environment(o.Environment)
	if !ok {
		if len(o.EnvironmentFiles) > 0 {
			return o.EnvironmentFiles, nil // a name for files that are given
		}
		return nil, fmt.Errorf("open environment %q: hop-config.json does not list it%s; name its configuration files instead",
			o.Environment, alternatives(environmentNames(installation)))
	}
	return slices.Concat(environment.Files, o.EnvironmentFiles), nil
}

func describeInstallation(folder string) string {
	if folder == "" {
		return "no hop-config.json is in use (set HOP_CONFIG_FOLDER) and so nothing"
	}
	return filepath.Join(folder, hopConfigFileName)
}

func projectNames(c *HopConfig) []string {
	if c == nil {
		return nil
	}
	var names []string
	for _, p := range c.Projects {
		names = append(names, p.Name)
	}
	return names
}

func environmentNames(c *HopConfig) []string {
	if c == nil {
		return nil
	}
	var names []string
	for _, e := range c.Environments {
		names = append(names, e.Name)
	}
	return names
}

func alternatives(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (it has " + strings.Join(names, ", ") + ")"
}

// opening is the state of one Open: the scope that fills as parents and then
// the project itself set their variables, and the names seen on the way up.
type opening struct {
	installation *HopConfig
	scope        *Variables
	chain        []string
}

func (o *opening) open(known KnownProject, environment string, files []string) (*Project, error) {
	home, err := o.local(known.Home)
	if err != nil {
		return nil, fmt.Errorf("open project %q: %w", known.Name, err)
	}
	p := &Project{Name: known.Name, Home: home, Environment: environment}
	if p.Name == "" {
		p.Name = filepath.Base(home)
	}
	if p.Config, err = loadConfigOrDefault(home, known.ConfigFile); err != nil {
		return nil, fmt.Errorf("open project %q: %w", p.Name, err)
	}
	if err := o.openParent(p); err != nil {
		return nil, err
	}
	o.scope.Set(VariableProjectName, p.Name)
	o.scope.Set(VariableEnvironmentName, environment)
	o.scope.Set(VariableProjectHome, home)
	for _, name := range files {
		if err := o.environmentFile(p, name); err != nil {
			return nil, err
		}
	}
	if err := o.folders(p); err != nil {
		return nil, err
	}
	setDescribed(o.scope, p.Config.Variables)
	return p, nil
}

func loadConfigOrDefault(home, configFile string) (*Config, error) {
	info, err := os.Stat(home)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; name the folder that holds it", home)
	}
	config, err := LoadConfig(filepath.Join(home, configFile))
	if errors.Is(err, fs.ErrNotExist) {
		return DefaultConfig(), nil
	}
	return config, err
}

func (o *opening) openParent(p *Project) error {
	parentName, err := o.scope.Resolve(p.Config.ParentProjectName)
	if err != nil || parentName == "" {
		return err
	}
	o.chain = append(o.chain, p.Name)
	if slices.Contains(o.chain, parentName) {
		return fmt.Errorf("open project %q: its parents lead back to %q (%s); correct parentProjectName in %s",
			o.chain[0], parentName, strings.Join(append(o.chain, parentName), " → "), p.Config.Path())
	}
	known, ok := o.installation.Project(parentName)
	if !ok {
		p.Warnings = append(p.Warnings, fmt.Sprintf("parent project %q is not listed in hop-config.json; its variables and metadata are missing", parentName))
		return nil
	}
	if p.Parent, err = o.open(known, "", nil); err != nil {
		return fmt.Errorf("open the parent of project %q: %w", p.Name, err)
	}
	p.Warnings = append(p.Warnings, p.Parent.Warnings...)
	o.scope.Set(VariableParentProjectName, parentName)
	o.scope.Set(VariableParentProjectHome, p.Parent.Home)
	return nil
}

func (o *opening) environmentFile(p *Project, name string) error {
	path, err := o.local(name)
	if err != nil {
		return fmt.Errorf("read environment file: %w", err)
	}
	variables, err := LoadEnvironmentFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("environment file %s does not exist; none of its variables are set", path))
		return nil
	}
	if err != nil {
		return fmt.Errorf("read environment file: %w", err)
	}
	setDescribed(o.scope, variables)
	return nil
}

// folders sets the folder variables; an empty setting leaves its variable as
// the parent set it.
func (o *opening) folders(p *Project) error {
	metadata, err := o.scope.Resolve(p.Config.MetadataBaseFolder)
	if err != nil {
		return err
	}
	if metadata != "" {
		if inherited, _ := o.scope.Get(VariableMetadataFolder); p.Parent != nil && inherited != "" {
			metadata = inherited + "," + metadata
		}
		o.scope.Set(VariableMetadataFolder, metadata)
	}
	for name, setting := range map[string]string{
		VariableUnitTestsFolder: p.Config.UnitTestsBasePath,
		VariableDatasetsFolder:  p.Config.DataSetsCSVFolder,
	} {
		value, err := o.scope.Resolve(setting)
		if err != nil {
			return err
		}
		if value != "" {
			o.scope.Set(name, value)
		}
	}
	return nil
}

// local resolves a setting to an absolute local path.
func (o *opening) local(setting string) (string, error) {
	resolved, err := o.scope.Resolve(setting)
	if err != nil {
		return "", err
	}
	local, ok := LocalPath(resolved)
	if !ok {
		return "", fmt.Errorf("%s is not on this machine; projects and environment files must be local", resolved)
	}
	return filepath.Abs(local)
}

func splitFolders(list string) []string {
	var folders []string
	for folder := range strings.SplitSeq(list, ",") {
		if folder = strings.TrimSpace(folder); folder != "" {
			folders = append(folders, folder)
		}
	}
	return folders
}
