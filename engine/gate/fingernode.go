package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// The form words of settings that stand for something outside of the node.
const (
	formTarget     = "target"
	formTransform  = "transform"
	formConnection = "connection"
	formPipeline   = "pipeline"
	formWorkflow   = "workflow"
	formSchema     = "schema-definition"
	formDataset    = "dataset"
	formFile       = "file"
	formRunConfig  = "run-configuration"
)

// nodeVisit fills the table of one node.
type nodeVisit struct {
	scene   *scene
	node    *pipeline.Node
	key     string // lower-case name
	out     map[string]string
	targets map[string]bool // of its output ports, lower-case
}

func (v *nodeVisit) fail(what string, err error) {
	v.scene.unknown[v.key] = append(v.scene.unknown[v.key], fmt.Sprintf("%s of %q: %v", what, v.node.Name, err))
}

// text notes what variables may be read in.
func (v *nodeVisit) text(text string) {
	if strings.ContainsAny(text, "$%#") {
		v.scene.texts[v.key] = append(v.scene.texts[v.key], text)
	}
}

// set keeps a value after substitution.
func (v *nodeVisit) set(path, text string) {
	v.text(text)
	value, err := v.scene.scope.Resolve(text)
	if err != nil {
		v.fail(path, err)
		return
	}
	v.out[path] = short(v.scene.portable(value))
}

// portable writes the project's folder as the variable it is, since a project
// may lie elsewhere on the next machine.
func (s *scene) portable(value string) string {
	if len(s.home) < 2 || !strings.Contains(value, s.home) {
		return value
	}
	return strings.ReplaceAll(value, s.home, "${"+project.VariableProjectHome+"}")
}

func (v *nodeVisit) settings() {
	def := v.node.Definition
	err := def.Walk(v.node.Settings, func(x transform.Value) {
		form := x.Setting.Form
		if x.Default || slices.Contains(def.RowNeutral, x.Key) || form == formTarget || form == formRunConfig {
			return
		}
		if form == formTransform && v.targets[strings.ToLower(x.Text)] {
			return // a port, which the inputs of the target tell
		}
		if x.Setting.Kind == transform.KindSecret {
			v.secret(x.Path, x.Text)
			return
		}
		v.set(x.Path, x.Text)
		v.reference(form, x)
	})
	if err != nil {
		v.fail("settings", err)
	}
}

func (v *nodeVisit) secret(path, text string) {
	if text == "" {
		return
	}
	v.text(text)
	value, err := project.ResolvePassword(v.scene.p.Options.Vars, text)
	if err != nil {
		v.fail(path, err)
		return
	}
	v.out[path] = secretPrefix + v.scene.secrets.Sum(value.Reveal())
}

// secretPrefix marks a value that is only comparable.
const secretPrefix = "secret:"

// elements adds what tags do not describe, such as the tree of a condition.
func (v *nodeVisit) elements(e *hopxml.Element) {
	list, err := v.node.Definition.Settings()
	if err != nil {
		return // told by settings
	}
	known := map[string]bool{}
	settingNames(list, nil, known)
	leaves(e, "", "", func(l leaf) {
		top, _, _ := strings.Cut(l.key, ">")
		if cosmetic[top] || known[l.key] || l.text == "" || v.targets[strings.ToLower(l.text)] {
			return
		}
		v.set(l.path, l.text)
	})
}

// reference adds what a setting names: a connection, a child pipeline, metadata.
func (v *nodeVisit) reference(form string, x transform.Value) {
	name, err := v.scene.p.Options.Vars.Resolve(x.Text)
	if err != nil || name == "" {
		return
	}
	switch form {
	case formConnection:
		v.connection(x.Path, name)
	case formPipeline, formWorkflow:
		v.child(x.Path, name, map[string]bool{})
	case formSchema:
		v.metadata(x.Path, project.TypeSchemaDefinition, name)
	case formDataset:
		v.metadata(x.Path, project.TypeDataset, name)
	case formFile:
		if isLogic(x) {
			v.file(x.Path, name)
		}
	}
}

// isLogic says whether a file holds instructions and not rows: SQL, scripts,
// schemas and style sheets.
func isLogic(x transform.Value) bool {
	key := strings.ToLower(x.Key)
	for _, word := range []string{"sql", "script", "xsd", "xsl", "schema"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

func (v *nodeVisit) file(path, name string) {
	data, err := os.ReadFile(strings.TrimPrefix(name, "file://"))
	if err != nil {
		v.fail(path, err)
		return
	}
	v.text(string(data))
	v.out[path+">content"] = hashText(data)
}

func hashText(data []byte) string {
	s := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(s[:])
}

// child adds the hash of a child's file, and of what that one runs.
func (v *nodeVisit) child(path, name string, seen map[string]bool) {
	file, ok := project.LocalPath(name)
	if !ok || strings.Contains(file, "${") {
		v.fail(path, fmt.Errorf("%s is not a file of this machine", name))
		return
	}
	if seen[file] {
		return
	}
	seen[file] = true
	d, err := hopxml.Open(file)
	if err != nil {
		v.fail(path, err)
		return
	}
	v.out[path+">content"] = hashText(logicOf(d))
	leaves(d.Root(), "", "", func(l leaf) {
		v.text(l.text)
		if strings.HasSuffix(l.key, ">filename") && (strings.HasSuffix(l.text, ".hpl") || strings.HasSuffix(l.text, ".hwf")) {
			scope := v.scene.p.Options.Vars.Child()
			project.SetPipelineVariables(scope, project.Running{File: file})
			inner, err := scope.Resolve(l.text)
			if err != nil {
				v.fail(path, err)
				return
			}
			v.child(path+">"+l.text, inner, seen)
		}
	})
}

// logicOf is a file without what changes no rows: positions, notes, dates of
// change and attributes.
func logicOf(d *hopxml.Document) []byte {
	var b strings.Builder
	skip := map[string]bool{
		"gui": true, "notepads": true, "attributes": true, "attributes_hac": true, "xloc": true, "yloc": true, "description": true, "extended_description": true,
		"created_user": true, "created_date": true, "modified_user": true, "modified_date": true,
	}
	leaves(d.Root(), "", "", func(l leaf) {
		for part := range strings.SplitSeq(l.key, ">") {
			if skip[part] {
				return
			}
		}
		fmt.Fprintf(&b, "%s=%q\n", l.path, l.text)
	})
	return []byte(b.String())
}

func (v *nodeVisit) metadata(path, kind, name string) {
	o, err := v.scene.p.Options.Metadata.Load(kind, name)
	if err != nil {
		v.fail(path, err)
		return
	}
	data := o.Document().Bytes()
	v.text(string(data))
	v.out[path+">content"] = hashText(data)
}

// The parts of a connection's identity. Another database blocks; another host or
// port of it is a move, and only warns.
const (
	connectionHost = ">host"
	connectionPort = ">port"
)

func (v *nodeVisit) connection(path, name string) {
	r, err := v.scene.p.Options.Metadata.RDBMS(name)
	if err != nil {
		v.fail(path, err)
		return
	}
	for suffix, text := range map[string]string{
		">kind": r.PluginID, ">database": r.DatabaseName, ">url": r.ManualURL, ">server": r.ServerName, ">user": r.Username,
		connectionHost: r.Hostname, connectionPort: r.Port,
	} {
		if text != "" {
			v.set(path+suffix, text)
		}
	}
	if r.Password != "" {
		v.secret(path+">password", r.Password)
	}
}
