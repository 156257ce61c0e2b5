package text

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
)

// oneFile is a store with one file.
type oneFile struct {
	files.Store
	text string
}

func (s oneFile) Open(context.Context, string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(s.text)), nil
}

func (s oneFile) Stat(context.Context, string) (files.Info, error) {
	return files.Info{Path: "f", Name: "f"}, nil
}

// lineSettings are settings of three text columns.
func lineSettings(format TextFormat, noEmpty, breaks bool, escape string) *TextFileInputSettings {
	s := TextFileInput.Default().(*TextFileInputSettings)
	s.Files = []FileItem{{Name: "f"}}
	s.Format, s.NoEmptyLines, s.EnclosureBreaks, s.Escape.Text = format, noEmpty, breaks, escape
	s.AddToResult = false
	for _, name := range []string{"a", "b", "c"} {
		s.Fields = append(s.Fields, TextInputField{Name: name, Type: batch.String, Length: -1, Precision: -1})
	}
	return s
}

// rowsOf reads a text in blocks of some size, by blocks or line by line.
func rowsOf(t *testing.T, env *transform.Env, s *TextFileInputSettings, size int, byLine bool) string {
	t.Helper()
	p, err := s.Start(env, transform.Links{Transform: "t", Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	var r *textReader
	switch p := p.(type) {
	case *textSplitter:
		r = p.textReader
	case *textSource:
		r = p.textReader
	}
	r.blockBytes = size
	var src transform.Source = &textSplitter{textReader: r}
	if byLine {
		src = &textSource{textReader: r}
	}
	var rows []string
	err = src.Produce(t.Context(), func(_ transform.Port, b *batch.Batch) error {
		defer b.Release()
		list, err := transformtest.Texts(env.Semantics, b)
		rows = append(rows, list...)
		return err
	})
	if e := env.Alloc.CheckLeaks(); e != nil {
		t.Error(e)
	}
	if err != nil {
		return "error"
	}
	return fmt.Sprintf("%q", rows)
}

// checkLines compares blocks of every size with reading line by line in one block.
func checkLines(t *testing.T, text string, format TextFormat, noEmpty, breaks bool, escape string) {
	t.Helper()
	s := lineSettings(format, noEmpty, breaks, escape)
	env, _ := transformtest.NewEnv(t, nil)
	env.Files = oneFile{env.Files, text}
	want := rowsOf(t, env, s, 1<<10, true)
	for _, size := range []int{1, 2, 3, 5, 8, 13, 21, 100} {
		if got := rowsOf(t, env, s, size, true); got != want {
			t.Fatalf("%s %q line by line in blocks of %d:\n%s\nwant\n%s", format, text, size, got, want)
		}
		if breaks {
			continue
		}
		if got := rowsOf(t, env, s, size, false); got != want {
			t.Fatalf("%s %q in blocks of %d:\n%s\nwant\n%s", format, text, size, got, want)
		}
	}
}

func TestLinesDoNotDependOnBlocks(t *testing.T) {
	texts := []string{
		"", "\n", "a;b;c\nd;e;f\n", "a;b;c\r\nd;e;f\r\n", "a\n\n\nb;;\n", "a;\"b\nc\";d\n\"e", "a\rb\r\n\rc\n", `a\;b;"c\"d";e\\` + "\n;;;\n",
		"  ;x;\n   \n", "\r\r\n;\n\r", "ä;€;𝄞\n\xff\xfe;x\n",
	}
	for _, text := range texts {
		for _, format := range []TextFormat{"mixed", "DOS", "Unix"} {
			for flags := range 8 {
				checkLines(t, text, format, flags&1 != 0, flags&2 != 0, []string{"", `\`}[flags>>2])
			}
		}
	}
}

func FuzzTextLines(f *testing.F) {
	f.Add("a;b\r\n\"c\n\";d\n\n", byte(0))
	f.Fuzz(func(t *testing.T, text string, kind byte) {
		if len(text) > 60 {
			return
		}
		text = strings.NewReplacer("q", `"`, "s", ";", "n", "\n", "r", "\r", "b", `\`).Replace(text)
		format := []TextFormat{"mixed", "DOS", "Unix", "mixed"}[kind&3]
		checkLines(t, text, format, kind&4 != 0, kind&8 != 0, []string{"", `\`}[kind>>4&1])
	})
}

func TestFilterTexts(t *testing.T) {
	for text, want := range map[string]string{"": "", "plain text": "plain text", "Test": "Test", "I2NvbW1lbnQ=": "#comment", "Base64: Iw==": "#", "Base64: ": ""} {
		if got := (&TextFilter{Text: text}).decoded(); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
	if !slices.IsSorted([]int{int(extraErrorCount), int(extraErrorFields), int(extraErrorText), int(extraFilename)}) {
		t.Error("the error fields must come first")
	}
}
