package script

import (
	"context"
	"fmt"

	"golang.org/x/text/unicode/norm"

	"sluice/engine/batch"
	"sluice/engine/expr/javaregex"
	"sluice/engine/transform"
)

// RegexEval tests whether a regular expression matches all of a field's text and
// may take the captured groups apart into fields. Null does not match.
var RegexEval = transform.Define[RegexEvalSettings](transform.About{
	ID:            "RegexEval",
	Name:          "Regex evaluation",
	Category:      transform.CategoryScript,
	Summary:       "Match a field with a regular expression and extract its groups.",
	HandlesErrors: true,
})

// RegexEvalSettings lists the settings in the order the form shows them.
type RegexEvalSettings struct {
	Matcher         string       `hop:"matcher" label:"Field to evaluate" form:"field" required:"true"`
	Result          string       `hop:"resultfieldname" default:"result" label:"Result field name"`
	Script          string       `hop:"script" label:"Regular expression" form:"multiline" required:"true"`
	UseVariables    bool         `hop:"usevar" label:"Use variables in the expression"`
	Captures        bool         `hop:"allowcapturegroups" label:"Create fields for capture groups"`
	Replace         bool         `hop:"replacefields" label:"Replace existing fields"`
	CaseInsensitive bool         `hop:"caseinsensitive" label:"Ignore case"`
	DotAll          bool         `hop:"dotall" label:"Dot matches line ends"`
	Multiline       bool         `hop:"multiline" label:"^ and $ match at line ends"`
	Comments        bool         `hop:"comment" label:"Blanks and comments allowed"`
	UnicodeCase     bool         `hop:"unicode" label:"Ignore case of all letters"`
	UnixLines       bool         `hop:"unix" label:"Only LF ends lines"`
	CanonEq         bool         `hop:"canoneq" label:"Canonical equivalence" advanced:"true"`
	Fields          []RegexField `hop:"fields>field" label:"Capture group fields"`
}

// RegexField is the field of one capture group.
type RegexField struct {
	Name      string     `hop:"name" required:"true"`
	Type      batch.Type `hop:"type" default:"String"`
	Length    int        `hop:"length" default:"-1"`
	Precision int        `hop:"precision" default:"-1"`
	Format    string     `hop:"format" form:"mask"`
	Group     string     `hop:"group" advanced:"true"`
	Decimal   string     `hop:"decimal" advanced:"true"`
	Currency  string     `hop:"currency" advanced:"true"`
	NullIf    string     `hop:"nullif" label:"Null if"`
	IfNull    string     `hop:"ifnull" label:"If null"`
	Trim      batch.Trim `hop:"trimtype" default:"none"`
}

const regexErrorCode = "REGEX001"

// layout places the result and the groups: positions are those of the output.
type regexLayout struct {
	schema *batch.Schema
	result int // -1: none
	groups []int
	fields []batch.Field
}

func (s *RegexEvalSettings) layout(in *batch.Schema, origin string) *regexLayout {
	l := &regexLayout{schema: in.Clone(), result: -1}
	put := func(f batch.Field) int {
		f.Origin = origin
		if i := l.schema.Index(f.Name); s.Replace && i >= 0 {
			l.schema.Fields[i] = f
			return i
		}
		l.schema = l.schema.With(f)
		return l.schema.Len() - 1
	}
	if s.Result != "" {
		l.result = put(batch.NewField(s.Result, batch.Boolean))
	}
	if !s.Captures {
		return l
	}
	for _, c := range s.Fields {
		f := batch.NewField(c.Name, c.Type)
		f.Length, f.Precision, f.Mask = c.Length, c.Precision, c.Format
		f.Decimal, f.Grouping, f.Currency, f.Trim = c.Decimal, c.Group, c.Currency, c.Trim
		l.fields = append(l.fields, f)
		l.groups = append(l.groups, put(f))
	}
	return l
}

// Output implements transform.Settings.
func (s *RegexEvalSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.layout(l.Main(), l.Transform).schema)
}

func (s *RegexEvalSettings) flags() javaregex.Flags {
	var f javaregex.Flags
	for _, o := range []struct {
		on   bool
		flag javaregex.Flags
	}{
		{s.CaseInsensitive, javaregex.CaseInsensitive},
		{s.Comments, javaregex.Comments},
		{s.DotAll, javaregex.DotAll},
		{s.Multiline, javaregex.Multiline},
		{s.UnicodeCase, javaregex.UnicodeCase},
		{s.UnixLines, javaregex.UnixLines},
	} {
		if o.on {
			f |= o.flag
		}
	}
	return f
}

// Start implements transform.Settings.
func (s *RegexEvalSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	if l.Main() == nil {
		return nil, errNoInput
	}
	p := &regexProcessor{env: env, settings: s, layout: s.layout(l.Main(), l.Transform)}
	var err error
	if p.matcher, err = fieldIndex(l.Main(), s.Matcher, "field to evaluate"); err != nil {
		return nil, err
	}
	if p.regex, err = s.compile(env); err != nil {
		return nil, err
	}
	if p.text, err = env.Semantics.Codec(&l.Main().Fields[p.matcher]); err != nil {
		return nil, err
	}
	for i := range p.layout.fields {
		c, err := env.Semantics.Codec(&p.layout.fields[i])
		if err != nil {
			return nil, err
		}
		p.codecs = append(p.codecs, c)
	}
	return p, nil
}

func (s *RegexEvalSettings) compile(r transform.Resolver) (*javaregex.Regexp, error) {
	pattern := s.Script
	if s.UseVariables {
		var err error
		if pattern, err = r.Resolve(pattern); err != nil {
			return nil, err
		}
	}
	if s.CanonEq {
		pattern = norm.NFC.String(pattern)
	}
	re, err := javaregex.Compile(pattern, s.flags())
	if err != nil {
		return nil, err
	}
	if s.Captures && re.Groups() != len(s.Fields) {
		return nil, fmt.Errorf("the expression has %d capture groups but %d fields are listed; make them equal", re.Groups(), len(s.Fields))
	}
	return re, nil
}

type regexProcessor struct {
	transform.Stateless
	env      *transform.Env
	settings *RegexEvalSettings
	layout   *regexLayout
	regex    *javaregex.Regexp
	matcher  int
	text     *batch.Codec
	codecs   []*batch.Codec
}

// Apply implements transform.RowWise.
func (p *regexProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	rej := p.env.Rejects(b)
	m := p.newMatches(b)
	defer m.release()
	for i := range b.All() {
		m.skipTo(i)
		if why := m.row(i); why != nil {
			if err := rej.Add(i, *why); err != nil {
				return err
			}
		}
	}
	m.skipTo(b.Physical())
	out := m.batch()
	if rej.Len() > 0 {
		kept := out.Select(rej.Keep())
		out.Release()
		out = kept
	}
	if err := emit(transform.Main, out); err != nil {
		return err
	}
	return rej.Flush(b, emit)
}

// matches are the new columns of one batch.
type matches struct {
	p      *regexProcessor
	b      *batch.Batch
	result *batch.Column
	groups []*batch.Column
	next   int
	buf    []byte
}

func (p *regexProcessor) newMatches(b *batch.Batch) *matches {
	m := &matches{p: p, b: b, result: p.env.Alloc.Column(batch.Boolean)}
	for i := range p.layout.fields {
		m.groups = append(m.groups, p.env.Alloc.Column(p.layout.fields[i].Type))
	}
	return m
}

func (m *matches) release() {
	m.result.Release()
	for _, g := range m.groups {
		g.Release()
	}
}

// skipTo makes the rows before i null that were not filled.
func (m *matches) skipTo(i int) {
	for ; m.next < i; m.next++ {
		m.result.AppendNull()
		for _, g := range m.groups {
			g.AppendNull()
		}
	}
}

func (m *matches) row(i int) *transform.RowError {
	m.next = i + 1
	col := m.b.Cols[m.p.matcher]
	if m.p.env.Semantics.IsNull(col, i) {
		m.result.AppendBool(false)
		for _, g := range m.groups {
			g.AppendNull()
		}
		return nil
	}
	text := m.value(col, i)
	if len(m.groups) == 0 {
		m.result.AppendBool(m.p.regex.MatchWhole(text))
		return nil
	}
	at := m.p.regex.WholeSubmatch(text)
	m.result.AppendBool(at != nil)
	return m.capture(text, at)
}

func (m *matches) value(col *batch.Column, i int) []byte {
	text := col.Bytes
	if col.Type != batch.String {
		m.buf = m.p.text.AppendText(m.buf[:0], col, i)
		text = func(int) []byte { return m.buf }
	}
	if m.p.settings.CanonEq {
		return norm.NFC.Bytes(text(i))
	}
	return text(i)
}

// capture fills the group fields; a group that took no part is null.
func (m *matches) capture(text []byte, at []int) (why *transform.RowError) {
	for k, g := range m.groups {
		var part []byte
		isNull := at == nil || at[2*k+2] < 0
		if !isNull {
			part = text[at[2*k+2]:at[2*k+3]]
		}
		f := &m.p.settings.Fields[k]
		err := m.p.codecs[k].ParseTextInto(g, part, isNull, batch.TextRule{NullIf: f.NullIf, IfNull: f.IfNull, Trim: f.Trim})
		if err != nil {
			g.AppendNull()
			if why == nil {
				why = &transform.RowError{Fields: f.Name, Code: regexErrorCode, Value: string(part), Err: err}
			}
		}
	}
	return why
}

// batch puts the new columns where the layout has them.
func (m *matches) batch() *batch.Batch {
	l := m.p.layout
	cols := make([]*batch.Column, l.schema.Len())
	if l.result >= 0 {
		cols[l.result] = m.result
	}
	for k, i := range l.groups {
		cols[i] = m.groups[k]
	}
	for i := range cols {
		if cols[i] == nil {
			cols[i] = m.b.Cols[i]
		}
		cols[i].Retain()
	}
	out := m.p.env.Alloc.Assemble(l.schema, cols, m.b.Physical())
	out.Sel = m.b.Sel
	return out
}
