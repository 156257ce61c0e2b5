package presenter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/engine/project"
	"sluice/engine/project/jsondoc"
)

// MetaRef names one thing of the metadata perspective.
type MetaRef struct{ Type, Name string }

// MetaItem is one element of the tree.
type MetaItem struct {
	Ref   MetaRef
	Path  string // of an environment's file
	Note  string // such as "active"
	Wrong string // why it cannot be used; empty when it can
}

// MetaGroup is a type in the tree with its elements.
type MetaGroup struct {
	Type  MetaType
	Items []MetaItem
}

// MetaStore is what the metadata perspective works on: one project. Its methods read
// and write the disk.
type MetaStore struct {
	Home     string
	Project  *project.Project
	Known    []string // files of environments that were added by hand
	Active   string   // file of the environment in use; empty for none
	Metadata *project.Metadata
}

// LoadMetadata lists a project's metadata: types with a form first, then the others
// that have a folder.
func (s *MetaStore) LoadMetadata() ([]MetaGroup, error) {
	groups := []MetaGroup{{Type: projectType(), Items: []MetaItem{{Ref: MetaRef{MetaProject, s.Project.Name}, Path: filepath.Join(s.Home, project.ConfigFileName)}}}}
	groups = append(groups, MetaGroup{Type: environmentType(), Items: s.environments()})
	types := MetaTypes()
	keys, err := s.Metadata.Types()
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if !slices.ContainsFunc(types, func(t MetaType) bool { return t.Key == key }) {
			types = append(types, MetaTypeOf(key))
		}
	}
	for i, t := range types {
		names, err := s.Metadata.Names(t.Key)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 && i > 2 {
			continue // the types that every project needs are always there
		}
		g := MetaGroup{Type: t}
		for _, name := range names {
			g.Items = append(g.Items, MetaItem{Ref: MetaRef{t.Key, name}})
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// environments lists the environment files of the project: those at hand in its
// folder and those added.
func (s *MetaStore) environments() []MetaItem {
	paths := slices.Clone(s.Known)
	found, _ := filepath.Glob(filepath.Join(s.Home, "*.json")) // the pattern is good
	more, _ := filepath.Glob(filepath.Join(s.Home, "environments", "*.json"))
	paths = append(paths, append(found, more...)...)
	slices.Sort(paths)
	var items []MetaItem
	for _, path := range slices.Compact(paths) {
		sheet, err := project.OpenSheet(path)
		added := slices.Contains(s.Known, path)
		if !added && (err != nil || filepath.Base(path) == project.ConfigFileName || sheet.Document().Root().Get("variables").Kind() != jsondoc.Array) {
			continue
		}
		item := MetaItem{Ref: MetaRef{MetaEnvironment, EnvironmentName(path)}, Path: path}
		if err != nil {
			item.Wrong = err.Error()
		}
		if path == s.Active {
			item.Note = "active"
		}
		items = append(items, item)
	}
	return items
}

// EnvironmentName is the name of an environment by its file.
func EnvironmentName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return strings.TrimSuffix(name, "-environment")
}

// Load opens one element for editing.
func (s *MetaStore) Load(item MetaItem) (*MetaDraft, error) {
	switch item.Ref.Type {
	case MetaProject:
		sheet, err := project.OpenSheet(item.Path)
		if errors.Is(err, fs.ErrNotExist) {
			sheet, err = project.NewSheet(item.Path, projectType().Blank)
		}
		if err != nil {
			return nil, err
		}
		return draftOfSheet(MetaProject, item.Ref.Name, sheet), nil
	case MetaEnvironment:
		sheet, err := project.OpenSheet(item.Path)
		if err != nil {
			return nil, err
		}
		return draftOfSheet(MetaEnvironment, item.Ref.Name, sheet), nil
	}
	o, err := s.Metadata.Load(item.Ref.Type, item.Ref.Name)
	if err != nil {
		return nil, err
	}
	return draftOfObject(s.Metadata, o), nil
}

// SetVariable gives a variable of a project or an environment a value and stores it.
func (s *MetaStore) SetVariable(item MetaItem, name, value string) error {
	m, err := s.Load(item)
	if err != nil {
		return err
	}
	f := &m.Type.Fields[len(m.Type.Fields)-1] // the variables are the last setting of both
	rows := m.Rows(f)
	i := slices.IndexFunc(rows, func(r MetaRow) bool { return r.Cells[0] == name })
	if i < 0 {
		rows, i = append(rows, f.NewRow()), len(rows)
		rows[i].Cells[0] = name
	}
	rows[i].Cells[1] = value
	if err := m.SetRows(f, rows); err != nil {
		return err
	}
	return m.Save()
}

// CheckName tells what is wrong with the name of a new element; empty: nothing.
func (s *MetaStore) CheckName(typeKey, name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "Give it a name"
	case strings.ContainsAny(name, "/\\\x00") || name == "." || name == "..":
		return "Leave out slashes and backslashes"
	}
	if typeKey == MetaEnvironment {
		if _, err := os.Stat(s.environmentPath(name)); err == nil {
			return "There is a file " + filepath.Base(s.environmentPath(name)) + " already"
		}
		return ""
	}
	names, err := s.Metadata.Names(typeKey)
	if err != nil {
		return err.Error()
	}
	for _, other := range names {
		if strings.EqualFold(other, name) { // some disks do not tell them apart
			return "There is a " + MetaTypeOf(typeKey).One + " " + other + " already"
		}
	}
	return ""
}

func (s *MetaStore) environmentPath(name string) string { return filepath.Join(s.Home, name+".json") }

// Create makes a new element and stores it.
func (s *MetaStore) Create(typeKey, name string) (MetaItem, error) {
	t := MetaTypeOf(typeKey)
	item := MetaItem{Ref: MetaRef{typeKey, name}}
	if typeKey == MetaEnvironment {
		item.Path = s.environmentPath(name)
		sheet, err := project.NewSheet(item.Path, t.Blank)
		if err != nil {
			return item, err
		}
		_, err = sheet.Save(sheet.Document())
		return item, err
	}
	o, err := s.Metadata.New(typeKey, name)
	if err != nil {
		return item, err
	}
	if t.Blank != "" {
		text, err := indented(t.Blank)
		if err != nil {
			return item, err
		}
		return item, s.saveAs(o, []byte(text))
	}
	_, err = s.Metadata.Save(o)
	return item, err
}

// saveAs stores an object with another text under its own name.
func (s *MetaStore) saveAs(o *project.Object, text []byte) error {
	doc, err := jsondoc.Parse(o.Path(), slices.Clone(text))
	if err != nil {
		return err
	}
	if doc, err = doc.Set(jsondoc.Quote(o.Name), "name"); err != nil {
		return err
	}
	_, err = s.Metadata.Save(o.With(doc))
	return err
}

// Duplicate stores a copy of an element under another name.
func (s *MetaStore) Duplicate(item MetaItem, name string) (MetaItem, error) {
	copied := MetaItem{Ref: MetaRef{item.Ref.Type, name}}
	if item.Ref.Type == MetaEnvironment {
		copied.Path = s.environmentPath(name)
		text, err := os.ReadFile(item.Path)
		if err != nil {
			return copied, err
		}
		sheet, err := project.NewSheet(copied.Path, string(text))
		if err != nil {
			return copied, err
		}
		_, err = sheet.Save(sheet.Document())
		return copied, err
	}
	o, err := s.Metadata.Load(item.Ref.Type, item.Ref.Name)
	if err != nil {
		return copied, err
	}
	made, err := s.Metadata.New(item.Ref.Type, name)
	if err != nil {
		return copied, err
	}
	return copied, s.saveAs(made, o.Document().Bytes())
}

// Rename gives an element another name. The new file is there before the old one
// goes; what names the element keeps its old name.
func (s *MetaStore) Rename(item MetaItem, name string) (MetaItem, error) {
	renamed, err := s.Duplicate(item, name)
	if err != nil {
		return renamed, err
	}
	return renamed, s.Delete(item)
}

// Delete removes an element's file.
func (s *MetaStore) Delete(item MetaItem) error {
	switch item.Ref.Type {
	case MetaProject:
		return fmt.Errorf("%s stays: it is the project itself", project.ConfigFileName)
	case MetaEnvironment:
		return os.Remove(item.Path)
	}
	o, err := s.Metadata.Load(item.Ref.Type, item.Ref.Name)
	if err != nil {
		return err
	}
	return s.Metadata.Delete(o)
}
