package relation_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transforms/relation"
)

// suiteDir finds the real projects that the family is tested against.
func suiteDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SLUICE_HOP_SUITE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "hop-suite")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the Hop suite is needed; set SLUICE_HOP_SUITE to its folder: %v", err)
	}
	return dir
}

// TestSuiteSettingsDecode reads the settings of every transform of the family in
// the suite.
func TestSuiteSettingsDecode(t *testing.T) {
	known := map[string]transform.Definition{}
	for _, d := range relation.Transforms {
		known[strings.ToLower(d.ID)] = d
	}
	found := map[string]int{}
	err := filepath.WalkDir(suiteDir(t), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".hpl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := hopxml.Parse(path, data)
		if _, broken := errors.AsType[*hopxml.SyntaxError](err); broken {
			return nil // some files of the suite are broken on purpose
		}
		if err != nil {
			return err
		}
		for _, el := range doc.Root().All("transform") {
			d, ok := known[strings.ToLower(el.Child("type").Text())]
			if !ok {
				continue
			}
			found[d.ID]++
			_, problems := d.Decode(el)
			for _, p := range problems {
				t.Errorf("%s: transform %q: %s: %s", path, el.Child("name").Text(), p.Setting, p.Message)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range relation.Transforms {
		if found[d.ID] == 0 {
			t.Errorf("%s: not one in the suite; is the id right?", d.ID)
		}
	}
}

func TestDefinitionsAreSound(t *testing.T) {
	for _, d := range relation.Transforms {
		list, err := d.Settings()
		if err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
		keys := map[string]bool{}
		for _, s := range list {
			keys[s.Key()] = true
		}
		for _, k := range d.RowNeutral {
			if !keys[k] {
				t.Errorf("%s: %q is no setting", d.ID, k)
			}
		}
		if d.Name == "" || d.Summary == "" || d.Category == "" {
			t.Errorf("%s: name, category and summary are needed", d.ID)
		}
	}
}

func TestSuiteSettingsAreRead(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(suiteDir(t), "transforms", "0077-merge-rows-passthrough.hpl"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := hopxml.Parse("x.hpl", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, el := range doc.Root().All("transform") {
		if el.Child("type").Text() != "MergeRows" {
			continue
		}
		s, _ := relation.MergeRows.Decode(el)
		m := s.(*relation.MergeRowsSettings)
		if m.Reference != "source1" || m.Compare != "source2" || len(m.Keys) != 1 || len(m.Values) != 2 || len(m.PassThrough) != 6 || !m.PassThrough[0].Reference || m.PassThrough[5].Reference {
			t.Errorf("got %+v", m)
		}
		return
	}
	t.Fatal("no Merge rows there")
}
