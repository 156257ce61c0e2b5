package reference_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/engine/transform"
	"sluice/engine/transforms"
	"sluice/engine/transforms/internal/reference"
)

const (
	families = "../.."
	folder   = "../../../../assets/docs/transforms"
)

func pages(t *testing.T) map[string]string {
	t.Helper()
	docs, err := reference.Comments(families)
	if err != nil {
		t.Fatal(err)
	}
	p, err := reference.Pages(transforms.Registry().All(), docs)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The committed pages are those that the source makes.
func TestPagesAreCurrent(t *testing.T) {
	want := pages(t)
	for name, text := range want {
		have, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || string(have) != text {
			t.Errorf("%s is not current (%v); run: make docs", name, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if _, ok := want[filepath.Base(path)]; !ok {
			t.Errorf("%s belongs to no transform; run: make docs", path)
		}
	}
}

func TestPagesAreTheSameEachTime(t *testing.T) {
	first := pages(t)
	for name, text := range pages(t) {
		if first[name] != text {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// Every table row has as many cells as its head.
func TestTablesAreWhole(t *testing.T) {
	for name, text := range pages(t) {
		for line := range strings.SplitSeq(text, "\n") {
			if !strings.HasPrefix(line, "| ") {
				continue
			}
			if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 6 {
				t.Errorf("%s: %d bars in %s", name, n, line)
			}
		}
	}
}

type sampleSettings struct {
	Shape sampleShape         `hop:"shape,alias=form" default:"a|b" label:"Shape" help:"How it looks"`
	Size  transform.Expr[int] `hop:"size" default:"5" unit:"rows" min:"1" max:"9" required:"true"`
	Keep  bool                `hop:"keep"`
	Files struct {
		Name transform.Expr[string] `hop:"name" form:"file"`
	} `hop:"file"`
	Keys   []sampleKey      `hop:"fields>field"`
	Names  []string         `hop:"names>name" form:"field"`
	Secret transform.Secret `hop:"password" advanced:"true"`
}

type sampleKey struct {
	Name string `hop:"name" required:"true"`
}

type sampleShape string

func (sampleShape) Choices() []transform.Choice {
	return []transform.Choice{{Code: "a|b", Label: "Both", Help: "All of it"}, {Code: "", Label: "Nothing"}}
}

func (*sampleSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

func (*sampleSettings) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	return nil, nil
}

func TestPage(t *testing.T) {
	d := transform.Define[sampleSettings](transform.About{
		ID: "Sample", Aliases: []string{"Old"}, Name: "A sample", Category: transform.Reshape, Summary: "Show a page.", Sink: true, HandlesErrors: true,
	})
	page, err := reference.Page(d, "A sample shows.")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"heading":        "\n# A sample\n\nShow a page.\n\nA sample shows.\n",
		"ids":            "`Sample`, also `Old`",
		"errors":         "go to the error hop",
		"sink":           "a preview leaves it out",
		"choice":         "| Shape | `shape` | choice | `a\\|b` | How it looks. Older files: `form`. |",
		"number":         "| Size | `size` | whole number, `${}`, rows | `5` | Required. At least 1. At most 9. |",
		"flag":           "| Keep | `keep` | yes or no | no |  |",
		"group":          "| Name | `file>name` | file, `${}` |  |  |",
		"list":           "| Names | `names>name` | list: field |  |  |",
		"table":          "| Keys | `fields>field` | table, below |  |  |",
		"table items":    "\n## Keys\n\n| Setting | Element | Value | Default | |\n|---|---|---|---|---|\n| Name | `name` | text |  | Required. |\n",
		"secret":         "## Settings: advanced\n\n| Setting | Element | Value | Default | |\n|---|---|---|---|---|\n| Secret | `password` | password |  |  |\n",
		"choices listed": "\n**Shape**\n\n- `a|b` Both: All of it\n- (blank) Nothing\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: %q is not in\n%s", name, want, page)
		}
	}
}

func TestAMissingCommentIsAnError(t *testing.T) {
	d := transform.Define[sampleSettings](transform.About{ID: "Sample"})
	if _, err := reference.Pages([]transform.Definition{d}, nil); err == nil || !strings.Contains(err.Error(), "Sample has no doc comment") {
		t.Errorf("%v", err)
	}
}
