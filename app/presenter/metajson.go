package presenter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/project"
	"sluice/engine/project/jsondoc"
)

var secretNames = project.NewSecretPolicy(project.DefaultSecretPatterns())

// hiddenSecret stands for a password in the JSON that is shown.
const hiddenSecret = "********"

// IsSecretName tells whether the value of a variable of this name is not shown.
func IsSecretName(name string) bool { return secretNames.MatchesName(name) }

// secretPaths finds the texts that are passwords: by their key, or by their spelling.
func secretPaths(v *jsondoc.Value, key string, path []string) [][]string {
	var out [][]string
	switch v.Kind() {
	case jsondoc.Object:
		named := v.Get("name").Text() // {"name": "DB_PASSWORD", "value": …}
		for _, m := range v.Members() {
			k := m.Key
			if k == "value" && named != "" {
				k = named
			}
			out = append(out, secretPaths(m.Value, k, append(slices.Clone(path), m.Key))...)
		}
	case jsondoc.Array:
		for i, item := range v.Items() {
			out = append(out, secretPaths(item, key, append(slices.Clone(path), strconv.Itoa(i)))...)
		}
	case jsondoc.String:
		text := v.Text()
		secret := IsSecretName(key) || project.IsEncodedPassword(text)
		if secret && strings.TrimSpace(text) != "" && text != "Encrypted " && len(project.References(text)) == 0 {
			out = append(out, path)
		}
	}
	return out
}

// JSON is the text of the file as it will be, with asterisks for passwords.
func (m *MetaDraft) JSON() string {
	doc := m.doc
	for _, path := range secretPaths(doc.Root(), "", nil) {
		if d, err := doc.Set(jsondoc.Quote(hiddenSecret), path...); err == nil {
			doc = d
		}
	}
	return string(doc.Bytes())
}

// SetJSON takes a text that somebody typed; one that is no JSON object is refused
// with line and column. Asterisks that still stand for a password give it back.
func (m *MetaDraft) SetJSON(text string) error {
	doc, err := jsondoc.Parse(m.Path, []byte(text))
	if err != nil {
		if bad, ok := errors.AsType[*jsondoc.SyntaxError](err); ok {
			return fmt.Errorf("line %d, column %d: %s", bad.Line, bad.Column, bad.Message)
		}
		return err
	}
	if doc.Root().Kind() != jsondoc.Object {
		return errors.New("line 1: an object in braces is expected")
	}
	for _, path := range secretPaths(m.doc.Root(), "", nil) {
		if valueAt(doc.Root(), path).Text() != hiddenSecret {
			continue
		}
		if doc, err = doc.Set(m.doc.Raw(valueAt(m.doc.Root(), path)), path...); err != nil {
			return err
		}
	}
	m.doc, m.pending = doc, nil
	return nil
}

func valueAt(v *jsondoc.Value, path []string) *jsondoc.Value {
	for _, key := range path {
		if v.Kind() == jsondoc.Array {
			i, err := strconv.Atoi(key)
			if items := v.Items(); err == nil && i < len(items) {
				v = items[i]
				continue
			}
			return nil
		}
		v = v.Get(key)
	}
	return v
}

// indented lays JSON out as Hop writes new metadata files.
func indented(text string) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		return "", err
	}
	return b.String() + "\n", nil
}
