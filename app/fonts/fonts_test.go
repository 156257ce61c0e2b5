package fonts_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sluice/app/fonts"
)

// What is installed is listed by family; broken files, folders that are not there and
// families without a regular font are left out.
func TestInstalled(t *testing.T) {
	folder := t.TempDir()
	names, err := filepath.Glob(filepath.Join("..", "..", "canvas", "paint", "fonts", "*.ttf"))
	if err != nil || len(names) < 3 {
		t.Fatalf("fonts %v, %v", names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(name)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"broken.ttf": "no font", "empty.otf": "", "notes.txt": "no font either"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := fonts.Folders
	defer func() { fonts.Folders = before }()
	fonts.Folders = func() ([]string, error) { return []string{folder, filepath.Join(folder, "nowhere")}, nil }
	list := func() (names []string) {
		families, err := fonts.Installed()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			names = append(names, f.Name)
		}
		return names
	}
	if got := list(); !slices.Equal(got, []string{"DejaVu Sans Mono", "Noto Sans"}) {
		t.Errorf("installed are %v", got)
	}
	set, err := fonts.Read("Noto Sans")
	if err != nil || len(set[fonts.Regular]) == 0 || len(set[fonts.Bold]) == 0 || set[fonts.Italic] != nil {
		t.Errorf("styles of %d fonts, %v", len(set), err)
	}
	if err := os.Remove(filepath.Join(folder, "NotoSans-Regular.ttf")); err != nil {
		t.Fatal(err)
	}
	if got := list(); !slices.Equal(got, []string{"DejaVu Sans Mono"}) {
		t.Errorf("without a regular font installed are %v", got)
	}
	if _, err := fonts.Read("Noto Sans"); err == nil {
		t.Error("a font that is gone was read")
	}
}
