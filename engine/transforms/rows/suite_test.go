package rows_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transforms/rows"
)

// suite is the folder of Hop's own projects.
func suite(t *testing.T) string {
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

func TestDefinitionsHaveGoodTags(t *testing.T) {
	for _, d := range rows.Transforms {
		if _, err := d.Settings(); err != nil {
			t.Errorf("%s: %v", d.ID, err)
		}
	}
}

// Every use of the family in Hop's own projects can be decoded.
func TestSuiteDecodes(t *testing.T) {
	registry := transform.NewRegistry(rows.Transforms)
	found := map[string]int{}
	err := filepath.WalkDir(suite(t), func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hpl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := hopxml.Parse(path, data)
		if err != nil {
			return err
		}
		for _, el := range doc.Root().All("transform") {
			d, ok := registry.Find(el.Child("type").Text())
			if !ok {
				continue
			}
			found[d.ID]++
			_, problems := d.Decode(el)
			for _, p := range problems {
				t.Errorf("%s: %s %q: %s: %s", path, d.ID, el.Child("name").Text(), p.Setting, p.Message)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Errorf("only %d types of the family occur in the suite: %v", len(found), found)
	}
}
