package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// formatVersion is written into every JSON file. A reader refuses a greater
// one.
const formatVersion = 1

// The format word of each JSON file.
const (
	openFormat      = "sluice-snapshot-open"
	leaseFormat     = "sluice-snapshot-lease"
	tombstoneFormat = "sluice-snapshot-tombstone"
	manifestFormat  = "sluice-snapshot"
	pinFormat       = "sluice-snapshot-pin"
)

// header starts every JSON file.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"formatVersion"`
}

// canonical encodes v the one way this package writes it: compact, members in
// the order of the struct, maps sorted, no HTML escapes, no line end.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// checkCanonical refuses caller-supplied JSON that would not come back byte
// for byte.
func checkCanonical(what string, raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	if !utf8.Valid(raw) {
		return fmt.Errorf("%s is not UTF-8", what)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return fmt.Errorf("%s is not JSON: %w", what, err)
	}
	if !bytes.Equal(b.Bytes(), raw) {
		return fmt.Errorf("%s is not compact JSON", what)
	}
	if string(raw) == "null" {
		return fmt.Errorf("%s is null", what)
	}
	return nil
}

// decode parses one file strictly: right format word, a version this code
// knows, no unknown members, nothing behind it, and exactly the bytes that
// canonical gives for the result. So each value has one encoding, and any
// changed byte is found. v points to a struct that starts with header.
func decode(data []byte, format string, v any) error {
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		return corrupt("not JSON (%v)", err)
	}
	if h.Format != format {
		return corrupt("format is %q, not %q", h.Format, format)
	}
	if h.Version > formatVersion {
		return fmt.Errorf("format version %d, this program knows %d: %w", h.Version, formatVersion, ErrNewerFormat)
	}
	if h.Version < 1 {
		return corrupt("format version %d", h.Version)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return corrupt("not a %s file (%v)", format, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return corrupt("something follows the JSON object")
	}
	again, err := canonical(v)
	if err != nil {
		return corrupt("cannot be encoded again (%v)", err)
	}
	if !bytes.Equal(again, data) {
		return corrupt("not in canonical form")
	}
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// isHex tells whether s is n bytes in lower-case hex.
func isHex(s string, n int) bool {
	if len(s) != 2*n {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
