package text_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

// suiteFolder gives the folder of real Hop projects; without it the test fails.
func suiteFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("SLUICE_HOP_SUITE")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "hop-suite")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Fatalf("the Hop suite is needed: set SLUICE_HOP_SUITE to its folder: %v", err)
	}
	return folder
}

// TestSettingsOfRealPipelines decodes every transform of this family in the suite
// and asks it for its layout.
func TestSettingsOfRealPipelines(t *testing.T) {
	registry := transform.NewRegistry(text.Transforms)
	seen := map[string]int{}
	err := filepath.WalkDir(suiteFolder(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".hpl") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, err := hopxml.Parse(path, data)
		if _, broken := errors.AsType[*hopxml.SyntaxError](err); broken {
			return nil // files that are broken on purpose are hopxml's business
		}
		if err != nil {
			return err
		}
		for _, el := range doc.Root().All("transform") {
			d, ok := registry.Find(el.Child("type").Text())
			if !ok {
				continue
			}
			seen[d.ID]++
			checkReal(t, path, d, el)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"CSVInput", "TextFileInput2", "GetFileNames"} {
		if seen[id] == 0 {
			t.Errorf("the suite has no %s", id)
		}
	}
}

func checkReal(t *testing.T, path string, d transform.Definition, el *hopxml.Element) {
	t.Helper()
	s, problems := d.Decode(el)
	for _, p := range problems {
		t.Errorf("%s: %s: %s", path, p.Setting, p.Message)
	}
	env, _ := transformtest.NewEnv(t, nil)
	l := transform.Links{Transform: el.Child("name").Text(), Copies: 1}
	if strings.EqualFold(el.Child("filefield").Text(), "Y") || d.ID == "FileExists" {
		l.Inputs = []transform.Input{{From: "in", Schema: batch.NewSchema(batch.NewField("f", batch.String))}}
	}
	schemas, err := s.Output(l, env.Design)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	fields := el.Child("fields").All("field")
	if d.ID != "GetFileNames" && schemas[transform.Main].Len() < len(fields) {
		t.Errorf("%s: %d fields of %d", path, schemas[transform.Main].Len(), len(fields))
	}
	if g, ok := s.(*text.GetFileNamesSettings); ok {
		var names []string
		for _, item := range g.Files {
			names = append(names, item.Name)
		}
		for _, n := range el.Child("file").All("name") {
			if !slices.Contains(names, n.Text()) {
				t.Errorf("%s: file %q is lost", path, n.Text())
			}
		}
	}
}

// TestTags finds tags that the settings reader does not know.
func TestTags(t *testing.T) {
	for _, d := range text.Transforms {
		if _, err := d.Settings(); err != nil {
			t.Error(err)
		}
	}
}
