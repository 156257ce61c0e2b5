package text

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charset is a text encoding. A nil codec is UTF-8. mark stands
// at the start of a file that is written.
type charset struct {
	codec encoding.Encoding
	mark  []byte
}

// findCharset knows the IANA names and Java's own ("Cp1252", "ISO8859_1"). An
// empty name is UTF-8, the default of the Java releases that Hop needs.
func findCharset(name string) (charset, error) {
	key := strings.ToLower(strings.TrimSpace(name))
	switch key {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return charset{}, nil
	case "utf-16", "utf_16":
		return charset{unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), []byte{0xFE, 0xFF}}, nil
	case "utf-16be", "unicodebigunmarked":
		return charset{codec: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}, nil
	case "utf-16le", "unicodelittleunmarked":
		return charset{codec: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}, nil
	case "x-utf-16le-bom", "unicodelittle":
		return charset{unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), []byte{0xFF, 0xFE}}, nil
	}
	for _, candidate := range javaAliases(key) {
		if e, err := ianaindex.IANA.Encoding(candidate); err == nil && e != nil {
			return charset{codec: e}, nil
		}
	}
	return charset{}, fmt.Errorf("encoding %q is not known; use a name such as UTF-8, ISO-8859-1, windows-1252 or UTF-16LE", name)
}

func javaAliases(key string) []string {
	list := []string{key, strings.ReplaceAll(key, "_", "-")}
	if digits, ok := strings.CutPrefix(key, "cp"); ok {
		list = append(list, "windows-"+digits, "ibm"+digits)
	}
	if part, ok := strings.CutPrefix(key, "iso8859"); ok {
		list = append(list, "iso-8859"+strings.ReplaceAll(part, "_", "-"))
	}
	return list
}

// reader gives r as UTF-8 without a byte order mark. A mark of another encoding
// than the named one wins: the bytes say what they are.
func (c charset) reader(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, err := buffered.Peek(3)
	if err != nil && len(head) < 2 && err != io.EOF {
		return nil, err
	}
	skip := func(n int, e encoding.Encoding) (io.Reader, error) {
		if _, err := buffered.Discard(n); err != nil {
			return nil, err
		}
		if e == nil {
			return buffered, nil
		}
		return transform.NewReader(buffered, e.NewDecoder()), nil
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		return skip(3, nil)
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return skip(2, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM))
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return skip(2, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM))
	}
	return skip(0, c.codec)
}

// encode appends UTF-8 text in the encoding; what it cannot express becomes a
// question mark, as in Java.
func (c charset) encode(dst, text []byte) []byte {
	if c.codec == nil {
		return append(dst, text...)
	}
	enc := c.codec.NewEncoder()
	out, err := enc.Bytes(text)
	if err == nil {
		return append(dst, out...)
	}
	for _, r := range string(text) {
		one, err := enc.Bytes([]byte(string(r)))
		if err != nil {
			one, _ = enc.Bytes([]byte("?"))
		}
		dst = append(dst, one...)
	}
	return dst
}
