// Package docinput is what JSON input and Get data from XML share: where
// documents come from, and how the rows read from them leave the transform.
//
// A document is a file of the file table, a file or address named by a field of
// the input, or the text of such a field. Parse, which the transform provides,
// reads one Document and fills Rows.
package docinput

import (
	"fmt"
	"io"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
)

// Settings are the settings both transforms have under the same names. Embed
// them.
type Settings struct {
	InField         bool                   `hop:"IsInFields" label:"Source is a field of the input"`
	IsFile          bool                   `hop:"IsAFile" label:"The field names a file"`
	ReadURL         bool                   `hop:"readurl" label:"The field names an address" help:"http, https or anything file names may be"`
	Files           []filenames.Entry      `hop:"file,alias=files>file,inline"`
	IncludeFilename bool                   `hop:"include" label:"Add a field with the file name"`
	FilenameField   transform.Expr[string] `hop:"include_field" label:"File name field"`
	RowNumber       bool                   `hop:"rownum" label:"Add a row number"`
	RowNumberField  transform.Expr[string] `hop:"rownum_field"`
	Limit           int64                  `hop:"limit" default:"0" min:"0" unit:"rows" help:"0: all rows"`
	IgnoreEmptyFile bool                   `hop:"IsIgnoreEmptyFile" label:"Ignore empty files"`
	NoFileIsFine    bool                   `hop:"doNotFailIfNoFile" label:"Do not fail when there is no file"`
	AddToResult     bool                   `hop:"addresultfile" label:"Add files to the result"`
	filenames.Facts
}

const (
	filenameLength  = 250
	rowNumberLength = 10
)

// Source says which field of the input holds the documents or their names.
type Source struct {
	Field  string
	Remove bool // the field does not leave the transform
}

// Config is what a transform adds to the settings.
type Config struct {
	Source  Source
	Fields  []batch.Field // the fields that Parse fills
	Repeat  []bool        // per field: a null takes the value of the row before
	Code    string        // of documents that are rejected
	RowCode string        // of rows that are rejected; empty: Code
	Null    string        // the document that a null stands for; empty: an error
	Parse   Parse
	Comment string // of result files
}

// Parse reads a document and adds its rows. An error that is no failure of the
// execution rejects the document; rows added before stay. ErrEnough from
// Rows.End must be returned as it is.
type Parse func(doc Document, rows *Rows) error

// Document is one document to read.
type Document struct {
	In   io.Reader
	Name string // what messages call it: a path, or the field it came from
	File bool   // In comes from a file or an address
}

// Schema is the layout of the rows: the input without the removed source, the
// fields, then file name, row number and additional file fields.
func (s *Settings) Schema(l transform.Links, r transform.Resolver, c *Config) (*batch.Schema, error) {
	layout, err := s.layout(l, r, c)
	if err != nil {
		return nil, err
	}
	return layout.schema, nil
}

type layout struct {
	schema *batch.Schema
	keep   []int // input columns that leave the transform
	source int   // the source field among the input's, -1 when there is none
	name   bool
	number bool
	facts  []filenames.Fact
}

func (s *Settings) layout(l transform.Links, r transform.Resolver, c *Config) (*layout, error) {
	out := &layout{source: -1}
	base := &batch.Schema{}
	if s.InField {
		if c.Source.Field == "" {
			return nil, fmt.Errorf("the source is a field of the input, but no field is named")
		}
		if out.source = l.Main().Index(c.Source.Field); out.source < 0 {
			return nil, fmt.Errorf("field %q not found; the input has %s", c.Source.Field, strings.Join(l.Main().Names(), ", "))
		}
	}
	for i := range l.Main().Len() {
		if i == out.source && c.Source.Remove {
			continue
		}
		out.keep = append(out.keep, i)
		base.Fields = append(base.Fields, l.Main().Fields[i])
	}
	extra := append([]batch.Field(nil), c.Fields...)
	name, err := s.FilenameField.Eval(r)
	if err != nil {
		return nil, fmt.Errorf("file name field: %w", err)
	}
	if s.IncludeFilename && name != "" {
		out.name = true
		extra = append(extra, newField(name, batch.String, filenameLength, l.Transform))
	}
	number, err := s.RowNumberField.Eval(r)
	if err != nil {
		return nil, fmt.Errorf("row number field: %w", err)
	}
	if s.RowNumber && number != "" {
		out.number = true
		extra = append(extra, newField(number, batch.Integer, rowNumberLength, l.Transform))
	}
	if out.facts, err = s.Resolve(l.Transform, r); err != nil {
		return nil, err
	}
	for _, f := range out.facts {
		extra = append(extra, f.Field)
	}
	out.schema = base.With(extra...)
	return out, nil
}

func newField(name string, t batch.Type, length int, origin string) batch.Field {
	f := batch.NewField(name, t)
	f.Length, f.Origin = length, origin
	return f
}

// Start gives the processor: a source without an input, else one that reads the
// documents of each row in turn.
func (s *Settings) Start(env *transform.Env, l transform.Links, c Config) (transform.Processor, error) {
	layout, err := s.layout(l, env, &c)
	if err != nil {
		return nil, err
	}
	r := &reader{settings: s, config: c, layout: layout, env: env}
	r.rows = newRows(r)
	if s.InField && l.Main() != nil {
		if r.codec, err = env.Semantics.Codec(&l.Main().Fields[layout.source]); err != nil {
			return nil, err
		}
	}
	if l.HasMain() {
		return &rowWise{reader: r}, nil
	}
	if s.InField {
		return nil, fmt.Errorf("the documents come from field %q, but no hop leads here", c.Source.Field)
	}
	return &source{reader: r}, nil
}
