package hopxml

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Info is what a pipeline or workflow says about itself.
type Info struct {
	Element *Element // <info> of a pipeline, the root of a workflow

	Name         string // as Hop shows it: of the file when NameFromFile
	StoredName   string // as written in the file
	NameFromFile bool

	Description, ExtendedDescription, Version string
	Status                                    int // -1 none, 0 draft, 1 or 2 production; only shown

	Parameters []Parameter

	CreatedUser, CreatedDate, ModifiedUser, ModifiedDate string // yyyy/MM/dd HH:mm:ss.SSS, local time without zone
}

// Parameter is a named parameter of a pipeline or workflow.
type Parameter struct{ Name, Default, Description string }

func (d *Document) readInfo(e *Element, kind string) Info {
	info := Info{
		Element:             e,
		StoredName:          e.Child("name").Text(),
		NameFromFile:        e.Child("name_sync_with_filename").Flag(),
		Description:         e.Child("description").Text(),
		ExtendedDescription: e.Child("extended_description").Text(),
		Version:             e.Child(kind + "_version").Text(),
		Status:              e.integer(kind+"_status", -1),
		CreatedUser:         e.Child("created_user").Text(),
		CreatedDate:         e.Child("created_date").Text(),
		ModifiedUser:        e.Child("modified_user").Text(),
		ModifiedDate:        e.Child("modified_date").Text(),
	}
	info.Name = info.StoredName
	if base := baseName(d.name); info.NameFromFile && base != "" {
		info.Name = base
	}
	for _, p := range e.Child("parameters").All("parameter") {
		info.Parameters = append(info.Parameters, readParameter(p))
	}
	return info
}

// baseName is the file's name without folders and the last extension.
func baseName(path string) string {
	if path == "" {
		return ""
	}
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func readParameter(p *Element) Parameter {
	return Parameter{p.Child("name").Text(), p.Child("default_value").Text(), p.Child("description").Text()}
}

// infoElement is where Info stands.
func (d *Document) infoElement() *Element {
	if d.Kind() == WorkflowKind {
		return d.root
	}
	return d.root.Child("info")
}

// SetInfo sets one value of a pipeline's <info> or a workflow's root by its
// element name.
func SetInfo(name, text string) Edit {
	return func(d *Document) (*Document, error) {
		d, id, err := d.ensureInfo()
		if err != nil {
			return nil, err
		}
		return SetChild(id, name, text, Canonical())(d)
	}
}

func (d *Document) ensureInfo() (*Document, ID, error) {
	if e := d.infoElement(); e != nil {
		return d, e.id, nil
	}
	d, e, err := d.ensure(d.root.id, "info")
	return d, e.ID(), err
}

// SetParameters makes the parameter list these, in this order. Entries of the
// same name stay in the file with what else they hold. Names must be given and
// differ.
func SetParameters(want []Parameter) Edit {
	return func(d *Document) (*Document, error) {
		if err := checkParameters(want); err != nil {
			return nil, err
		}
		d, info, err := d.ensureInfo()
		if err != nil {
			return nil, err
		}
		if len(want) == 0 && d.infoElement().Child("parameters") == nil {
			return d, nil
		}
		d, list, err := d.ensure(info, "parameters")
		if err != nil {
			return nil, err
		}
		return setParameters(d, list, want)
	}
}

func checkParameters(want []Parameter) error {
	for i, p := range want {
		if strings.TrimSpace(p.Name) == "" {
			return fmt.Errorf("parameter %d has no name: %w", i+1, ErrInvalid)
		}
		if slices.ContainsFunc(want[:i], func(q Parameter) bool { return q.Name == p.Name }) {
			return fmt.Errorf("two parameters named %s: %w", p.Name, ErrInvalid)
		}
	}
	return nil
}

func setParameters(d *Document, list *Element, want []Parameter) (*Document, error) {
	have := map[string]*Element{}
	var err error
	for _, e := range list.All("parameter") {
		name := e.Child("name").Text()
		wanted := slices.ContainsFunc(want, func(p Parameter) bool { return p.Name == name })
		if wanted && have[name] == nil {
			have[name] = e
			continue
		}
		if d, err = Remove(e.id)(d); err != nil {
			return nil, err
		}
	}
	place := frontOfParameters(list, have)
	for _, p := range want {
		var id ID
		if d, id, err = putParameter(d, list.id, place, have[p.Name], p); err != nil {
			return nil, err
		}
		place = After(id)
	}
	return d, nil
}

// frontOfParameters is before the first entry that stays.
func frontOfParameters(list *Element, stay map[string]*Element) Place {
	for _, e := range list.All("parameter") {
		if stay[e.Child("name").Text()] == e {
			return Before(e.id)
		}
	}
	return AtEnd()
}

func putParameter(d *Document, list ID, place Place, e *Element, p Parameter) (*Document, ID, error) {
	if e == nil {
		d, e, err := d.insert(list, place, Branch("parameter",
			Leaf("name", p.Name), Leaf("default_value", p.Default), Leaf("description", p.Description)))
		return d, e.ID(), err
	}
	edits := []Edit{Move(e.id, list, place)}
	if was := readParameter(e); was.Default != clean(p.Default) {
		edits = append(edits, SetChild(e.id, "default_value", p.Default, Canonical()))
	}
	if was := readParameter(e); was.Description != clean(p.Description) {
		edits = append(edits, SetChild(e.id, "description", p.Description, Canonical()))
	}
	d, err := d.Apply(edits...)
	return d, e.id, err
}
