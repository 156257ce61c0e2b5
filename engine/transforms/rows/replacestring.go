package rows

import (
	"bytes"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/expr/javaregex"
	"sluice/engine/transform"
)

// ReplaceString replaces what matches a text or a Java regular expression. As in
// Hop the replacement may name groups ($1) even when the search is for plain
// text, and a backslash in it stands for itself. Entries that change a field in
// place work on what earlier entries left.
var ReplaceString = transform.Define[ReplaceStringSettings](transform.About{
	ID:            "ReplaceString",
	Name:          "Replace in string",
	Category:      transform.Reshape,
	Summary:       "Search and replace in text.",
	HandlesErrors: true,
})

// ReplaceStringSettings lists the settings in the order the form shows them.
type ReplaceStringSettings struct {
	Fields []Replacement `hop:"fields>field" required:"true"`
}

// Replacement is one search and what takes its place.
type Replacement struct {
	In            string                 `hop:"in_stream_name" form:"field" required:"true" label:"Field"`
	Out           transform.Expr[string] `hop:"out_stream_name" label:"Output field" help:"Empty changes the field in place"`
	Regex         bool                   `hop:"use_regex,yesno" label:"Regular expression"`
	Search        transform.Expr[string] `hop:"replace_string" label:"Search"`
	By            transform.Expr[string] `hop:"replace_by_string" label:"Replace with"`
	Empty         bool                   `hop:"set_empty_string" label:"Set empty string"`
	ByField       string                 `hop:"replace_field_by_string" form:"field" label:"Replace with field" help:"Where it is null, a text that matches as a whole becomes null"`
	WholeWord     bool                   `hop:"whole_word,yesno"`
	CaseSensitive bool                   `hop:"case_sensitive,yesno"`
	Unicode       bool                   `hop:"is_unicode,yesno" advanced:"true"`
}

func (s *ReplaceStringSettings) edits(r transform.Resolver) ([]textEdit, error) {
	var list []textEdit
	for _, f := range s.Fields {
		out, err := resolved(r, "output field", f.Out)
		if err != nil {
			return nil, err
		}
		list = append(list, textEdit{in: f.In, out: out, length: -1, grow: -1})
	}
	return list, nil
}

// Output implements transform.Settings.
func (s *ReplaceStringSettings) Output(l transform.Links, d transform.Design) (transform.Schemas, error) {
	edits, err := s.edits(d)
	if err != nil {
		return nil, err
	}
	schema, _, _, err := textLayout(l, edits)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *ReplaceStringSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	edits, err := s.edits(env)
	if err != nil {
		return nil, err
	}
	p := &textProcessor{env: env, chained: true}
	if p.schema, p.in, p.out, err = textLayout(l, edits); err != nil {
		return nil, err
	}
	list := make([]*replacer, len(s.Fields))
	for i := range s.Fields {
		if list[i], err = newReplacer(env, inputOf(l), &s.Fields[i]); err != nil {
			return nil, fmt.Errorf("field %q: %w", s.Fields[i].In, err)
		}
	}
	p.apply = func(k int, b *batch.Batch, col *batch.Column, bad *failures) (*batch.Column, error) {
		return list[k].column(b, col, bad)
	}
	return p, nil
}

// replacer is one compiled entry. It is immutable.
type replacer struct {
	in       string
	pattern  *javaregex.Regexp
	template *javaregex.Template // nil: the replacement is in byField
	literal  []byte              // search and replacement are plain: no pattern needed
	by       []byte
	byField  column
}

func newReplacer(env *transform.Env, in *batch.Schema, f *Replacement) (*replacer, error) {
	search, err := resolved(env, "search", f.Search)
	if err != nil {
		return nil, err
	}
	r := &replacer{in: f.In}
	if r.pattern, err = f.compile(search); err != nil {
		return nil, err
	}
	if f.ByField != "" && !f.Empty {
		r.byField, err = namedColumn(env, in, f.ByField)
		return r, err
	}
	by := ""
	if !f.Empty {
		if by, err = resolved(env, "replace with", f.By); err != nil {
			return nil, err
		}
	}
	if r.template, err = r.pattern.Template(escapeBackslash(by)); err != nil {
		return nil, err
	}
	if !f.Regex && !f.WholeWord && f.CaseSensitive && search != "" && !strings.Contains(by, "$") {
		r.literal, r.by = []byte(search), []byte(by)
	}
	return r, nil
}

// escapeBackslash makes a backslash stand for itself in a replacement.
func escapeBackslash(text string) string { return strings.ReplaceAll(text, `\`, `\\`) }

func (f *Replacement) compile(search string) (*javaregex.Regexp, error) {
	pattern := search
	if !f.Regex {
		pattern = javaregex.Quote(search)
	}
	if f.WholeWord {
		pattern = `\b` + pattern + `\b`
	}
	var flags javaregex.Flags
	if !f.CaseSensitive {
		flags |= javaregex.CaseInsensitive
	}
	if f.Unicode {
		flags |= javaregex.UnicodeCase
	}
	return javaregex.Compile(pattern, flags)
}

func (r *replacer) column(b *batch.Batch, col *batch.Column, bad *failures) (*batch.Column, error) {
	switch {
	case r.literal != nil:
		return mapText(b, col, r.appendLiteral), nil
	case r.template != nil:
		return mapText(b, col, func(dst, text []byte) ([]byte, bool) {
			return r.pattern.AppendReplaced(dst, text, r.template), true
		}), nil
	}
	return r.fromField(b, col, bad)
}

func (r *replacer) appendLiteral(dst, text []byte) ([]byte, bool) {
	for {
		at := bytes.Index(text, r.literal)
		if at < 0 {
			return append(dst, text...), true
		}
		dst = append(append(dst, text[:at]...), r.by...)
		text = text[at+len(r.literal):]
	}
}

// replaceErrorCode is Hop's code of rows that ReplaceString rejects.
const replaceErrorCode = "ReplaceString001"

func (r *replacer) fromField(b *batch.Batch, col *batch.Column, bad *failures) (*batch.Column, error) {
	by, err := r.byField.of(b)
	if err != nil {
		return nil, err
	}
	out := b.Allocator().Column(batch.String)
	var text []byte
	err = forRows(b, out, func(i int) error {
		switch {
		case col.IsNull(i):
			out.AppendNull()
		case by.IsNull(i):
			if r.pattern.MatchWhole(col.Bytes(i)) {
				out.AppendNull()
			} else {
				out.AppendBytes(col.Bytes(i))
			}
		default:
			text = r.byField.codec.AppendText(text[:0], by, i)
			template, err := r.pattern.Template(escapeBackslash(string(text)))
			if err != nil {
				out.AppendNull()
				bad.add(i, transform.RowError{Fields: r.in, Code: replaceErrorCode, Value: string(text), Err: err})
				return nil //nolint:nilerr // the row is rejected
			}
			out.Data = r.pattern.AppendReplaced(out.Data, col.Bytes(i), template)
			out.EndValue()
		}
		return nil
	})
	return out, err
}
