package transform

import (
	"fmt"
	"reflect"
	"strconv"

	"sluice/engine/batch"
)

// Value is one setting of a node as Walk visits it.
type Value struct {
	// Path is where it stands, rows of tables numbered from 1:
	// "fields>field[2]>name". Key is the same without numbers, as RowNeutral has
	// it.
	Path, Key string
	Setting   *Setting
	// Text is what an element of the file would hold; that of a Secret is as
	// stored. Default says that it is the value of a new node.
	Text    string
	Default bool
}

// Walk visits every setting that tags describe, rows of tables and items of
// lists included, in the order of the struct. A table or list also gives the
// number of its rows. The error is that of Settings.
func (d Definition) Walk(s Settings, visit func(Value)) error {
	list, err := d.Settings()
	if err != nil {
		return err
	}
	w := walker{visit: visit}
	w.group(reflect.ValueOf(s).Elem(), list, "", "")
	return nil
}

type walker struct{ visit func(Value) }

func (w walker) group(v reflect.Value, list []Setting, path, key string) {
	for i := range list {
		s := &list[i]
		f := v.FieldByIndex(s.index)
		at, name := path+s.Key(), key+s.Key()
		switch s.Kind {
		case KindGroup:
			if at != "" {
				at, name = at+">", name+">"
			}
			w.group(f, s.Items, at, name)
		case KindTable, KindList:
			w.visit(Value{Path: at, Key: name, Setting: s, Text: strconv.Itoa(f.Len()), Default: f.Len() == 0})
			for n := range f.Len() {
				row := at + "[" + strconv.Itoa(n+1) + "]"
				if s.Kind == KindTable {
					w.group(f.Index(n), s.Items, row+">", name+">")
					continue
				}
				w.visit(Value{Path: row, Key: name, Setting: s, Text: f.Index(n).String()})
			}
		default:
			fresh := reflect.New(f.Type()).Elem()
			setDefault(fresh, s)
			text := textOf(f)
			w.visit(Value{Path: at, Key: name, Setting: s, Text: text, Default: text == textOf(fresh)})
		}
	}
}

// textOf gives the value of a simple setting as text.
func textOf(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case exprText:
		return x.exprText()
	case Secret:
		return string(x)
	case batch.Type:
		return x.String()
	case batch.Trim:
		return x.String()
	}
	return fmt.Sprint(v.Interface())
}
