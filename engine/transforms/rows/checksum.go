package rows

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"net/netip"
	"strconv"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/mask"
	"sluice/engine/transform"
)

// CheckSum appends a checksum of some fields. Their values go into it as Java
// writes them, not by their masks: 5.0 for a Number, "Tue Dec 31 …" for a Date.
// Nulls are left out; a row of nothing but nulls has a null checksum.
var CheckSum = transform.Define[CheckSumSettings](transform.About{
	ID:            "CheckSum",
	Name:          "Add a checksum",
	Category:      transform.Reshape,
	Summary:       "Append a checksum or hash of fields.",
	HandlesErrors: true,
})

// CheckSumSettings lists the settings in the order the form shows them.
type CheckSumSettings struct {
	Type       ChecksumType           `hop:"checksumtype" default:"CRC32" required:"true"`
	ResultType ChecksumResult         `hop:"resultType" default:"hexadecimal"`
	Result     string                 `hop:"resultfieldName" label:"Result field" required:"true"`
	Fields     []NamedField           `hop:"fields>field" help:"Empty takes all fields"`
	Separator  transform.Expr[string] `hop:"separator" help:"Between values"`
	Prefix     transform.Expr[string] `hop:"prefix"`
	Suffix     transform.Expr[string] `hop:"suffix"`
}

// ChecksumType is an algorithm.
type ChecksumType string

// Choices implements transform.Choices.
func (ChecksumType) Choices() []transform.Choice {
	var list []transform.Choice
	for _, code := range []string{"CRC32", "ADLER32", "MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"} {
		list = append(list, transform.Choice{Code: code, Label: code})
	}
	return list
}

func (t ChecksumType) isNumber() bool { return t == "CRC32" || t == "ADLER32" }

// hash gives a fresh hash of the algorithm.
func (t ChecksumType) hash() (hash.Hash, error) {
	switch t {
	case "CRC32":
		return crc32.NewIEEE(), nil
	case "ADLER32":
		return adler32.New(), nil
	case "MD5":
		return md5.New(), nil
	case "SHA-1":
		return sha1.New(), nil
	case "SHA-256":
		return sha256.New(), nil
	case "SHA-384":
		return sha512.New384(), nil
	case "SHA-512":
		return sha512.New(), nil
	}
	return nil, fmt.Errorf("there is no checksum type %q", string(t))
}

// ChecksumResult is how a hash is written. CRC32 and ADLER32 are always Integers.
type ChecksumResult string

// Choices implements transform.Choices.
func (ChecksumResult) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "string", Label: "String", Help: "Decimal bytes joined by hyphens"},
		{Code: "hexadecimal", Label: "Hexadecimal"},
		{Code: "binary", Label: "Binary"},
	}
}

func (s *CheckSumSettings) schema(l transform.Links) (*batch.Schema, error) {
	if s.Result == "" {
		return nil, errors.New("the result field has no name")
	}
	t := batch.String
	switch {
	case s.Type.isNumber():
		t = batch.Integer
	case s.ResultType == "binary":
		t = batch.Binary
	}
	f := batch.NewField(s.Result, t)
	f.Origin = l.Transform
	return l.Main().With(f), nil
}

// Output implements transform.Settings.
func (s *CheckSumSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	for _, f := range s.Fields {
		if _, err := fieldIndex(inputOf(l), f.Name); err != nil {
			return nil, err
		}
	}
	schema, err := s.schema(l)
	if err != nil {
		return nil, err
	}
	return transform.OnMain(schema)
}

// Start implements transform.Settings.
func (s *CheckSumSettings) Start(env *transform.Env, l transform.Links) (transform.Processor, error) {
	p := &checksumProcessor{env: env, s: s}
	var err error
	if p.schema, err = s.schema(l); err != nil {
		return nil, err
	}
	if _, err := s.Type.hash(); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		to   *[]byte
		name string
		expr transform.Expr[string]
	}{{&p.separator, "separator", s.Separator}, {&p.prefix, "prefix", s.Prefix}, {&p.suffix, "suffix", s.Suffix}} {
		text, err := resolved(env, t.name, t.expr)
		if err != nil {
			return nil, err
		}
		*t.to = []byte(text)
	}
	in := inputOf(l)
	names := in.Names()
	if len(s.Fields) > 0 {
		names = nil
		for _, f := range s.Fields {
			names = append(names, f.Name)
		}
	}
	for k, name := range names {
		i := k
		if len(s.Fields) > 0 {
			if i, err = fieldIndex(in, name); err != nil {
				return nil, err
			}
		}
		c, err := newColumn(env, in, i)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, c)
	}
	return p, nil
}

type checksumProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env                       *transform.Env
	s                         *CheckSumSettings
	schema                    *batch.Schema
	sources                   []column
	separator, prefix, suffix []byte
}

// Apply implements transform.RowWise.
func (p *checksumProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	cols := make([]*batch.Column, len(p.sources))
	for k := range p.sources {
		c, err := p.sources[k].of(b)
		if err != nil {
			return err
		}
		cols[k] = c
	}
	h, err := p.s.Type.hash()
	if err != nil {
		return err
	}
	out := p.env.Alloc.Column(p.schema.Fields[p.schema.Len()-1].Type)
	var text, sum []byte
	_ = forRows(b, out, func(i int) error {
		var some bool
		if text, some = p.text(text[:0], cols, i); !some {
			out.AppendNull()
			return nil
		}
		h.Reset()
		_, _ = h.Write(text) // a hash never fails
		if n, ok := h.(hash.Hash32); ok {
			out.AppendInt(int64(n.Sum32()))
			return nil
		}
		sum = h.Sum(sum[:0])
		out.Data = p.s.ResultType.append(out.Data, sum)
		out.EndValue()
		return nil
	})
	return emit(transform.Main, b.With(p.schema, out))
}

func (t ChecksumResult) append(dst, sum []byte) []byte {
	switch t {
	case "binary":
		return append(dst, sum...)
	case "hexadecimal":
		return hex.AppendEncode(dst, sum)
	}
	for k, c := range sum {
		if k > 0 {
			dst = append(dst, '-')
		}
		dst = strconv.AppendUint(dst, uint64(c), 10)
	}
	return dst
}

// text appends what goes into the checksum of row i; false when all is null.
func (p *checksumProcessor) text(dst []byte, cols []*batch.Column, i int) ([]byte, bool) {
	dst = append(dst, p.prefix...)
	some := false
	for _, c := range cols {
		if c.IsNull(i) {
			continue
		}
		if some {
			dst = append(dst, p.separator...)
		}
		some = true
		dst = appendJavaText(dst, c, i, p.env.Semantics.Location)
	}
	return append(dst, p.suffix...), some
}

// appendJavaText writes a value, which is not null, as Java's toString does.
func appendJavaText(dst []byte, c *batch.Column, i int, loc *time.Location) []byte {
	if loc == nil {
		loc = time.UTC
	}
	switch c.Type {
	case batch.Integer:
		return strconv.AppendInt(dst, c.Ints[i], 10)
	case batch.Number:
		return mask.AppendJavaDouble(dst, c.Floats[i])
	case batch.BigNumber:
		return c.Decimal(i).Append(dst)
	case batch.Boolean:
		return strconv.AppendBool(dst, c.Bits.Get(i))
	case batch.Date:
		return time.UnixMilli(c.Ints[i]).In(loc).AppendFormat(dst, "Mon Jan 02 15:04:05 MST 2006")
	case batch.Timestamp:
		return appendJavaTimestamp(dst, time.UnixMicro(c.Ints[i]).Add(time.Duration(c.Nano(i))).In(loc))
	case batch.UUID:
		return appendUUID(dst, c.Bytes(i))
	case batch.Inet:
		if a, ok := netip.AddrFromSlice(c.Bytes(i)); ok {
			return a.AppendTo(append(dst, '/'))
		}
	}
	return append(dst, c.Bytes(i)...)
}

// appendJavaTimestamp writes at least one digit of a fraction, as Java does.
func appendJavaTimestamp(dst []byte, t time.Time) []byte {
	dst = t.AppendFormat(dst, "2006-01-02 15:04:05.000000000")
	keep := len(dst) - 8
	for len(dst) > keep && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendUUID(dst, id []byte) []byte {
	for k, c := range id {
		if k == 4 || k == 6 || k == 8 || k == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{c})
	}
	return dst
}
