package filenames

import (
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// Facts are the settings that add fields about the file a row came from. Embed
// it in the settings of an input. A name that is empty adds no field.
type Facts struct {
	ShortName transform.Expr[string] `hop:"shortFileFieldName" label:"Short file name field" advanced:"true"`
	Extension transform.Expr[string] `hop:"extensionFieldName" label:"Extension field" advanced:"true"`
	Path      transform.Expr[string] `hop:"pathFieldName" label:"Path field" advanced:"true"`
	Size      transform.Expr[string] `hop:"sizeFieldName" label:"Size field" advanced:"true"`
	Hidden    transform.Expr[string] `hop:"hiddenFieldName" label:"Is hidden field" advanced:"true"`
	Modified  transform.Expr[string] `hop:"lastModificationTimeFieldName" label:"Last modification field" advanced:"true"`
	URI       transform.Expr[string] `hop:"uriNameFieldName" label:"URI field" advanced:"true"`
	RootURI   transform.Expr[string] `hop:"rootUriNameFieldName" label:"Root URI field" advanced:"true"`
}

const (
	nameLength = 100 // of text fields, as Hop declares them
	sizeLength = 9
)

// Fact is one field about a file and how its value is found.
type Fact struct {
	Field batch.Field
	Value func(f files.Info) batch.Value
}

// Resolve gives the facts that are wanted, in Hop's order: short name, extension,
// path, size, hidden, last modification, URI, root URI. origin names the
// transform.
func (f *Facts) Resolve(origin string, r transform.Resolver) ([]Fact, error) {
	var list []Fact
	add := func(name transform.Expr[string], t batch.Type, length int, value func(files.Info) batch.Value) error {
		text, err := name.Eval(r)
		if err != nil || text == "" {
			return err
		}
		field := batch.NewField(text, t)
		field.Length, field.Origin = length, origin
		list = append(list, Fact{Field: field, Value: value})
		return nil
	}
	text := func(get func(files.Info) string) func(files.Info) batch.Value {
		return func(i files.Info) batch.Value { return batch.StringValue(get(i)) }
	}
	for _, err := range []error{
		add(f.ShortName, batch.String, nameLength, text(func(i files.Info) string { return i.Name })),
		add(f.Extension, batch.String, nameLength, text(func(i files.Info) string { return Extension(i.Name) })),
		add(f.Path, batch.String, nameLength, text(func(i files.Info) string { return Folder(i.Path) })),
		add(f.Size, batch.Integer, sizeLength, func(i files.Info) batch.Value { return batch.IntegerValue(i.Size) }),
		add(f.Hidden, batch.Boolean, -1, func(i files.Info) batch.Value { return batch.BooleanValue(i.Hidden) }),
		add(f.Modified, batch.Date, -1, func(i files.Info) batch.Value { return batch.DateValue(i.ModTime.UnixMilli()) }),
		add(f.URI, batch.String, nameLength, text(func(i files.Info) string { return i.URI })),
		add(f.RootURI, batch.String, nameLength, text(func(i files.Info) string { return rootURI(i.URI) })),
	} {
		if err != nil {
			return nil, fmt.Errorf("additional file field: %w", err)
		}
	}
	return list, nil
}
