package presenter

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/project"
	"sluice/engine/project/jsondoc"
)

// MetaDraft is a metadata object, or another JSON file of a project, while it is
// edited. What the form does not know stays as it is, byte for byte.
type MetaDraft struct {
	Type   MetaType
	Name   string
	Path   string
	doc    *jsondoc.Document
	saved  *jsondoc.Document // as on disk; nil for one that is not stored
	store  *project.Metadata // of the object
	object *project.Object   // nil for a sheet
	sheet  *project.Sheet
	// pending are rows by label of their setting that cannot stand in the file yet.
	pending map[string][]MetaRow
}

func draftOfObject(store *project.Metadata, o *project.Object) *MetaDraft {
	m := &MetaDraft{store: store, Type: MetaTypeOf(o.Type), Name: o.Name, Path: o.Path(), doc: o.Document(), object: o}
	if o.Stored() {
		m.saved = m.doc
	}
	return m
}

func draftOfSheet(typeKey, name string, s *project.Sheet) *MetaDraft {
	m := &MetaDraft{Type: MetaTypeOf(typeKey), Name: name, Path: s.Path(), doc: s.Document(), sheet: s}
	if s.Stored() {
		m.saved = m.doc
	}
	return m
}

// Dirty tells whether the draft differs from what is on disk.
func (m *MetaDraft) Dirty() bool {
	return m.saved == nil || len(m.pending) > 0 || !bytes.Equal(m.saved.Bytes(), m.doc.Bytes())
}

// Stored tells whether there is a file.
func (m *MetaDraft) Stored() bool { return m.saved != nil }

// Revert goes back to what is on disk.
func (m *MetaDraft) Revert() {
	if m.saved != nil {
		m.doc, m.pending = m.saved, nil
	}
}

// Object is the metadata object as the draft has it, for trying it out unsaved; nil
// when it is none.
func (m *MetaDraft) Object() *project.Object {
	if m.object == nil {
		return nil
	}
	return m.object.With(m.doc)
}

// Save writes the file. It writes the disk; the error wraps project.ErrChanged when
// somebody else did so in the meantime.
func (m *MetaDraft) Save() error {
	doc := m.doc
	switch {
	case m.object != nil:
		o, err := m.store.Save(m.object.With(doc))
		if err != nil {
			return err
		}
		m.object = o
	default:
		s, err := m.sheet.Save(doc)
		if err != nil {
			return err
		}
		m.sheet = s
	}
	m.saved, m.pending = doc, nil
	return nil
}

// Variant is the kind that the object is of: its database, its engine.
func (m *MetaDraft) Variant() string {
	for i := range m.Type.Fields {
		if f := &m.Type.Fields[i]; f.Kind == MetaVariant {
			return m.Text(f)
		}
	}
	return ""
}

// Fields lists the settings that the variant has.
func (m *MetaDraft) Fields() []*MetaField {
	var out []*MetaField
	variant := m.Variant()
	for i := range m.Type.Fields {
		if f := &m.Type.Fields[i]; f.shows(variant) && m.isOn(f.When) {
			out = append(out, f)
		}
	}
	return out
}

// isOn tells whether the flag of that label is set; no label is always on.
func (m *MetaDraft) isOn(label string) bool {
	for i := range m.Type.Fields {
		if f := &m.Type.Fields[i]; f.Label == label && label != "" {
			return m.isOn(f.When) && m.Text(f) == "true"
		}
	}
	return true
}

// Decides tells whether other settings show only while a flag is set.
func (m *MetaDraft) Decides(f *MetaField) bool {
	return slices.ContainsFunc(m.Type.Fields, func(o MetaField) bool { return o.When == f.Label })
}

// at gives the path with its stars filled in, and the value there.
func (m *MetaDraft) at(f *MetaField) ([]string, *jsondoc.Value) {
	v := m.doc.Root()
	var path []string
	for _, key := range f.Path {
		if key == "*" {
			members := v.Members()
			if len(members) == 0 {
				return append(path, "?"), nil
			}
			key = members[0].Key
		}
		path = append(path, key)
		v = v.Get(key)
	}
	return path, v
}

// Text is the value of a setting as it is edited. Of a secret only one that is a
// variable is given.
func (m *MetaDraft) Text(f *MetaField) string {
	_, v := m.at(f)
	switch f.Kind {
	case MetaVariant:
		if members := v.Members(); len(members) > 0 {
			return members[0].Key
		}
		return ""
	case MetaFlag, MetaYesNo:
		return strconv.FormatBool(v.Bool(f.Default == "true"))
	case MetaSecret:
		if text := v.Text(); len(project.References(text)) > 0 {
			return text
		}
		return ""
	}
	if v.Kind() == jsondoc.Absent {
		return f.Default
	}
	return v.Text()
}

// HasSecret tells whether a password is stored that is not shown.
func (m *MetaDraft) HasSecret(f *MetaField) bool {
	_, v := m.at(f)
	text := v.Text()
	return len(project.References(text)) == 0 && strings.TrimSpace(text) != "" && text != "Encrypted "
}

// Set changes a setting; a secret is encoded as Hop does.
func (m *MetaDraft) Set(f *MetaField, text string) error {
	if f.Kind != MetaSecret && text == m.Text(f) {
		return nil // what is absent stays so
	}
	path, v := m.at(f)
	switch f.Kind {
	case MetaVariant:
		return m.setVariant(f, v, text)
	case MetaSecret:
		text = project.EncodePassword(text)
	case MetaYesNo:
		text = map[string]string{"true": "Y", "false": "N"}[text]
	}
	var raw []byte
	number := f.Kind == MetaNumber && v.Kind() == jsondoc.Number && isNumber(text)
	if number || f.Kind == MetaFlag && v.Kind() != jsondoc.String {
		raw = []byte(text)
	} else {
		raw = jsondoc.Quote(text)
	}
	return m.set(raw, path)
}

func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// set puts a value, and the objects above it where they are missing.
func (m *MetaDraft) set(raw []byte, path []string) error {
	doc := m.doc
	v := doc.Root()
	for i, key := range path[:len(path)-1] {
		if v = v.Get(key); v.Kind() == jsondoc.Object {
			continue
		}
		next, err := doc.Set([]byte("{}"), path[:i+1]...)
		if err != nil {
			return err
		}
		doc = next
		v = doc.Root()
		for _, k := range path[:i+1] {
			v = v.Get(k)
		}
	}
	doc, err := doc.Set(raw, path...)
	if err == nil {
		m.doc = doc
	}
	return err
}

// setVariant gives the only object another key and keeps what is in it.
func (m *MetaDraft) setVariant(f *MetaField, v *jsondoc.Value, key string) error {
	members := v.Members()
	inner := []byte("{}")
	if len(members) > 0 {
		if members[0].Key == key {
			return nil
		}
		m.pending = nil
		inner = m.doc.Raw(members[0].Value)
	}
	before := m.doc
	raw := slices.Concat([]byte("{"), jsondoc.Quote(key), []byte(":"), inner, []byte("}"))
	if m.Type.Key == project.TypeRDBMS {
		sub, err := jsondoc.Parse(m.Path, slices.Clone(inner))
		if err != nil {
			return err
		}
		label := key
		for _, c := range f.Choices {
			if c.Code == key {
				label, _, _ = strings.Cut(c.Label, " (")
			}
		}
		for _, set := range [][2]string{{"pluginId", key}, {"pluginName", label}} {
			if sub, err = sub.Set(jsondoc.Quote(set[1]), set[0]); err != nil {
				return err
			}
		}
		raw = slices.Concat([]byte("{"), jsondoc.Quote(key), []byte(":"), sub.Bytes(), []byte("}"))
	}
	if err := m.set(raw, f.Path); err != nil {
		m.doc = before
		return err
	}
	return nil
}

// Problems tells what is wrong, by label of the setting.
func (m *MetaDraft) Problems() map[string]string {
	out := map[string]string{}
	for _, f := range m.Fields() {
		text := strings.TrimSpace(m.Text(f))
		switch {
		case f.Required && text == "" && !m.urlInstead(f):
			out[f.Label] = f.Label + " is empty"
		case f.Kind == MetaNumber && text != "" && !isNumber(text) && len(project.References(text)) == 0:
			out[f.Label] = fmt.Sprintf("%q is no whole number", text)
		}
		if (f.Kind == MetaRows || f.Kind == MetaOptions) && len(f.Columns) > 1 {
			if p := rowProblem(m.Rows(f)); p != "" {
				out[f.Label] = p
			}
		}
	}
	return out
}

// urlInstead tells whether a URL stands in for host and database.
func (m *MetaDraft) urlInstead(f *MetaField) bool {
	if m.Type.Key != project.TypeRDBMS || f.Kind == MetaVariant || f.When != "" {
		return false
	}
	_, v := m.at(&MetaField{Path: []string{"rdbms", "*", "manualUrl"}})
	return v.Text() != "" || f.Kind == MetaFile
}
