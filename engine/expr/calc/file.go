package calc

import (
	"bytes"
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
	"io"
	"io/fs"
	"unicode/utf8"

	"sluice/engine/batch"
)

// fileValue makes a value of a file's content.
type fileValue func(r io.Reader) (batch.Value, error)

// fileKernel compiles what is computed of the file that A names. A missing file
// is an error, or a null (0 for the two checksums that are numbers).
func fileKernel(value fileValue, t batch.Type) func(*Program, *step) (kernel, batch.Type, error) {
	return func(p *Program, s *step) (kernel, batch.Type, error) {
		k, err := p.as(s, 0, batch.String, func(r *run, a, _, _ *batch.Column) (*batch.Column, error) {
			return r.build(t, func(out *batch.Column, i int) error {
				v, err := p.fileOf(r.ctx, a.Str(i), value)
				if errors.Is(err, fs.ErrNotExist) {
					if p.o.FailIfNoFile {
						return fmt.Errorf("%w: %s", ErrNoFile, a.Str(i))
					}
					v, err = missing(t), nil
				}
				out.AppendValue(v)
				return err
			}, a)
		})
		return k, t, err
	}
}

func missing(t batch.Type) batch.Value {
	if t == batch.Integer {
		return batch.IntegerValue(0)
	}
	return batch.Null(t)
}

func (p *Program) fileOf(ctx context.Context, name string, value fileValue) (v batch.Value, err error) {
	if p.o.Files == nil {
		return v, errors.New("files cannot be read here")
	}
	f, err := p.o.Files.Open(ctx, name)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return value(f)
}

func crc32File(r io.Reader) (batch.Value, error) {
	h := crc32.NewIEEE()
	_, err := io.Copy(h, r)
	return batch.IntegerValue(int64(h.Sum32())), err
}

func adler32File(r io.Reader) (batch.Value, error) {
	h := adler32.New()
	_, err := io.Copy(h, r)
	return batch.IntegerValue(int64(h.Sum32())), err
}

func digestFile(name string) fileValue {
	makers := map[string]func() hash.Hash{"MD5": md5.New, "SHA1": sha1.New, "SHA256": sha256.New, "SHA384": sha512.New384, "SHA512": sha512.New}
	return func(r io.Reader) (batch.Value, error) {
		h := makers[name]()
		_, err := io.Copy(h, r)
		return batch.StringValue(hex.EncodeToString(h.Sum(nil))), err
	}
}

func loadFile(r io.Reader) (batch.Value, error) {
	data, err := io.ReadAll(r)
	return batch.Value{Type: batch.Binary, Valid: true, Text: string(data)}, err
}

// sniffBytes is how much of a file the guess of its encoding looks at.
const sniffBytes = 64 << 10

func encodingOfFile(r io.Reader) (batch.Value, error) {
	data, err := io.ReadAll(io.LimitReader(r, sniffBytes))
	if err != nil {
		return batch.Null(batch.String), err
	}
	name := guessEncoding(data)
	return batch.Value{Type: batch.String, Valid: name != "", Text: name}, nil
}

// guessEncoding looks for a byte order mark and for valid UTF-8; plain ASCII and
// what is neither has no name here (null), as in Hop.
func guessEncoding(data []byte) string {
	for _, m := range []struct{ mark, name string }{
		{"\xEF\xBB\xBF", "UTF-8"}, {"\xFF\xFE\x00\x00", "UTF-32LE"}, {"\x00\x00\xFE\xFF", "UTF-32BE"}, {"\xFF\xFE", "UTF-16LE"}, {"\xFE\xFF", "UTF-16BE"},
	} {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			return m.name
		}
	}
	ascii := true
	for _, c := range data {
		ascii = ascii && c < 0x80
	}
	for cut := 0; cut < utf8.UTFMax && len(data) == sniffBytes && !utf8.Valid(data); cut++ {
		data = data[:len(data)-1] // a character cut in two at the end
	}
	switch {
	case ascii:
		return ""
	case utf8.Valid(data):
		return "UTF-8"
	}
	return "WINDOWS-1252"
}

func xmlFile(r io.Reader) (batch.Value, error) { return batch.BooleanValue(wellFormed(r)), nil }
