package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/engine/project/jsondoc"
)

// Type keys of the metadata that this package gives typed views of. Each is
// the name of a folder.
const (
	TypeRDBMS                    = "rdbms"
	TypePipelineRunConfiguration = "pipeline-run-configuration"
	TypeWorkflowRunConfiguration = "workflow-run-configuration"
	TypeExecutionInfoLocation    = "execution-info-location"
	TypeExecutionDataProfile     = "execution-data-profile"
	TypeDataset                  = "dataset"
	TypeUnitTest                 = "unit-test"
	TypeSchemaDefinition         = "schema-definition"
	TypeFileDefinition           = "file-definition"
	TypePartition                = "partition"
	TypeRESTConnection           = "restconnection"
	TypeVariableResolver         = "variable-resolver"
)

// ErrNotFound means that no folder has a metadata object of that type and
// name: create it, or correct the reference.
var ErrNotFound = errors.New("metadata object not found")

// ErrBadName means that a name cannot be a file name.
var ErrBadName = errors.New("not usable as a metadata name")

const metadataSuffix = ".json"

// Metadata is the metadata objects of a project: JSON files under
// <folder>/<type key>/<name>.json in one or more folders. The folders of
// parent projects come first, and of several objects with one name the last
// folder's counts. Nothing is cached, so what another program writes is seen.
// It is safe for concurrent use.
type Metadata struct {
	folders []string
	errors  []error
}

// Object is one metadata object. It is immutable; [Object.With] gives an
// edited one.
type Object struct {
	Type string // type key
	Name string // base name of the file, which is the name that references use

	file file
}

// OpenMetadata makes a store over folders, given as paths or URIs, parents
// first. They need not exist; a save makes the last one. Folders that are not
// local give an error at the first use.
func OpenMetadata(folders ...string) *Metadata {
	m := &Metadata{}
	for _, folder := range folders {
		local, ok := LocalPath(folder)
		if !ok {
			m.errors = append(m.errors, fmt.Errorf("metadata folder %s is not on this machine; copy it to a local folder", folder))
			continue
		}
		m.folders = append(m.folders, local)
	}
	return m
}

// Folders returns the local folders, the last one being where new objects go.
func (m *Metadata) Folders() []string { return slices.Clone(m.folders) }

// Types returns the type keys that have a folder, in ascending order.
func (m *Metadata) Types() ([]string, error) {
	return m.collect("", func(entry fs.DirEntry) (string, bool) {
		return entry.Name(), entry.IsDir() && !strings.HasPrefix(entry.Name(), ".")
	})
}

// Names returns the names of the objects of a type, in ascending order. An
// unknown type has none.
func (m *Metadata) Names(typeKey string) ([]string, error) {
	return m.collect(typeKey, func(entry fs.DirEntry) (string, bool) {
		name, isJSON := strings.CutSuffix(entry.Name(), metadataSuffix)
		return name, isJSON && !entry.IsDir() && name != "" && !strings.HasPrefix(name, ".")
	})
}

func (m *Metadata) collect(sub string, name func(fs.DirEntry) (string, bool)) ([]string, error) {
	if err := errors.Join(m.errors...); err != nil {
		return nil, err
	}
	var names []string
	for _, folder := range m.folders {
		entries, err := os.ReadDir(filepath.Join(folder, sub))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list metadata: %w", err)
		}
		for _, entry := range entries {
			if n, ok := name(entry); ok {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Load reads one object. Names are compared as they are written, as in Hop.
// The error wraps ErrNotFound, or tells file, line and column of what is not
// JSON.
func (m *Metadata) Load(typeKey, name string) (*Object, error) {
	if err := errors.Join(m.errors...); err != nil {
		return nil, err
	}
	if validName(typeKey, name) != nil {
		return nil, m.notFound(typeKey, name)
	}
	for _, folder := range slices.Backward(m.folders) {
		f, err := readFile(filepath.Join(folder, typeKey, name+metadataSuffix))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load %s %q: %w", typeKey, name, err)
		}
		return &Object{Type: typeKey, Name: name, file: f}, nil
	}
	return nil, m.notFound(typeKey, name)
}

func (m *Metadata) notFound(typeKey, name string) error {
	names, _ := m.Names(typeKey)
	hint := "the project has none of this type"
	if len(names) > 0 {
		hint = "the project has " + strings.Join(names[:min(len(names), 10)], ", ")
	}
	for _, other := range names {
		if strings.EqualFold(other, name) {
			hint = fmt.Sprintf("did you mean %q? Upper and lower case matter", other)
		}
	}
	return fmt.Errorf("%w: %s %q (%s)", ErrNotFound, typeKey, name, hint)
}

// New makes an object that is not stored yet, in the project's own folder,
// with nothing but its name in it.
func (m *Metadata) New(typeKey, name string) (*Object, error) {
	if err := errors.Join(m.errors...); err != nil {
		return nil, err
	}
	if err := validName(typeKey, name); err != nil {
		return nil, err
	}
	if len(m.folders) == 0 {
		return nil, fmt.Errorf("create %s %q: the project has no metadata folder; set metadataBaseFolder in %s", typeKey, name, ConfigFileName)
	}
	path := filepath.Join(m.folders[len(m.folders)-1], typeKey, name+metadataSuffix)
	doc, err := jsondoc.Parse(path, slices.Concat([]byte("{\n  \"name\": "), jsondoc.Quote(name), []byte("\n}\n")))
	if err != nil {
		return nil, err
	}
	return &Object{Type: typeKey, Name: name, file: file{path: path, doc: doc}}, nil
}

// Save writes an object where it was read from and returns it as stored. It
// fails with ErrChanged when the file is no longer what was read, or when a
// new object would replace one; an unedited object writes nothing.
func (m *Metadata) Save(o *Object) (*Object, error) {
	f, err := o.file.write()
	if err != nil {
		return o, err
	}
	return &Object{Type: o.Type, Name: o.Name, file: f}, nil
}

// Delete removes the object's file. An object of the same name in a parent's
// folder then shows again. It fails with ErrChanged when the file is no longer
// what was read.
func (m *Metadata) Delete(o *Object) error {
	current, err := os.ReadFile(o.file.path)
	if err != nil {
		return fmt.Errorf("delete %s %q: %w", o.Type, o.Name, err)
	}
	if string(current) != string(o.file.stored) {
		return fmt.Errorf("delete %s: %w", o.file.path, ErrChanged)
	}
	return os.Remove(o.file.path)
}

// Path returns the file of the object.
func (o *Object) Path() string { return o.file.path }

// Stored tells whether the object exists on disk.
func (o *Object) Stored() bool { return o.file.stored != nil }

// Document returns the JSON of the object.
func (o *Object) Document() *jsondoc.Document { return o.file.doc }

// Root returns the outermost JSON value.
func (o *Object) Root() *jsondoc.Value { return o.file.doc.Root() }

// With returns the object with another document, for saving.
func (o *Object) With(doc *jsondoc.Document) *Object {
	edited := *o
	edited.file.doc = doc
	return &edited
}

// problemf makes an error that points at a value of the object's file.
func (o *Object) problemf(v *jsondoc.Value, format string, args ...any) error {
	line, column := o.file.doc.Position(v)
	if v == nil {
		line, column = 1, 1
	}
	return fmt.Errorf("%s:%d:%d: %s", o.file.path, line, column, fmt.Sprintf(format, args...))
}

func validName(typeKey, name string) error {
	for _, part := range []string{typeKey, name} {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "/\\\x00") {
			return fmt.Errorf("%w: %q; leave out slashes and backslashes", ErrBadName, part)
		}
	}
	return nil
}
