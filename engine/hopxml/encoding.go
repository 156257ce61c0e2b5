package hopxml

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// decode gives the document in UTF-8 and, when the file is in another
// encoding, its name.
func decode(name string, data []byte) (text []byte, enc string, err error) {
	if enc = wideEncoding(data); enc != "" {
		endian := unicode.LittleEndian
		if enc == "UTF-16BE" {
			endian = unicode.BigEndian
		}
		return decodeWith(name, data, enc, unicode.UTF16(endian, unicode.UseBOM))
	}
	declared := declaredEncoding(data)
	if bytes.HasPrefix(data, []byte(byteOrder)) {
		declared = "" // the mark says UTF-8, whatever is declared
	}
	switch strings.ToUpper(declared) {
	case "", "UTF-8", "UTF8":
		if at := invalidUTF8(data); at >= 0 {
			p := &parser{name: name, src: data}
			return nil, "", p.fail(at, "save the file as UTF-8, or declare its encoding in the first line", "byte 0x%02X is not valid UTF-8", data[at])
		}
		return data, "", nil
	}
	if codec := encodingNamed(declared); codec != nil {
		text, enc, err := decodeWith(name, data, declared, codec)
		if err != nil || bytes.Contains(text, []byte("<?xml")) {
			return text, enc, err
		} // else a two-byte encoding was declared in single bytes
	}
	p := &parser{name: name, src: data}
	at := max(bytes.Index(data, []byte(declared)), 0)
	return nil, "", p.fail(at, "save the file as UTF-8 and declare UTF-8", "the file is not readable in its declared encoding %q", declared)
}

func decodeWith(name string, data []byte, enc string, codec encoding.Encoding) ([]byte, string, error) {
	text, err := codec.NewDecoder().Bytes(data)
	if err != nil {
		return nil, "", &SyntaxError{
			File: name, Line: 1, Column: 1, Message: "not readable as " + enc + ": " + err.Error(),
			Hint: "save the file as UTF-8",
		}
	}
	return text, enc, nil
}

func encodingNamed(name string) encoding.Encoding {
	if codec, err := ianaindex.IANA.Encoding(name); err == nil && codec != nil {
		return codec
	}
	if codec, err := htmlindex.Get(name); err == nil {
		return codec
	}
	return nil
}

// wideEncoding recognises UTF-16 by its byte order mark or by "<?" or "<p".
func wideEncoding(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return "UTF-16LE"
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return "UTF-16BE"
	case len(data) >= 4 && data[0] == '<' && data[1] == 0 && data[2] != 0 && data[3] == 0:
		return "UTF-16LE"
	case len(data) >= 4 && data[0] == 0 && data[1] == '<' && data[2] == 0 && data[3] != 0:
		return "UTF-16BE"
	}
	return ""
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// declaredEncoding reads the XML declaration, which may follow comments; ""
// when there is none.
func declaredEncoding(data []byte) string {
	data = bytes.TrimPrefix(data, []byte(byteOrder))
	for {
		data = bytes.TrimLeft(data, " \t\r\n")
		if !bytes.HasPrefix(data, []byte(commentOpen)) {
			break
		}
		end := bytes.Index(data, []byte(commentClose))
		if end < 0 {
			return ""
		}
		data = data[end+len(commentClose):]
	}
	end := bytes.Index(data, []byte("?>"))
	if !bytes.HasPrefix(data, []byte("<?xml")) || end < 0 {
		return ""
	}
	p := &parser{src: data}
	attrs, err := p.attributes(0, data[len("<?xml"):end])
	if err != nil {
		return "" // the parser reports it
	}
	return string(attrs["encoding"])
}
