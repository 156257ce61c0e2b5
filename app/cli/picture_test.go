package cli_test

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"sluice/app/cli"
	"sluice/assets/sample"
)

func TestAFileIsDrawnWithoutAWindow(t *testing.T) {
	folder := t.TempDir()
	if err := sample.Unpack(folder); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "nightly.png")
	size := func() (int, int) {
		t.Helper()
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c, err := png.DecodeConfig(f)
		if err != nil {
			t.Fatal(err)
		}
		return c.Width, c.Height
	}
	file := filepath.Join(folder, "nightly.hwf")
	sluice(t, "picture", file, "-o", out).check(t, cli.ExitOK, []string{out}, nil)
	w, h := size()
	sluice(t, "picture", file, "-o", out, "--scale", "2", "--dark", "--gates").check(t, cli.ExitOK, []string{out}, nil)
	if w2, h2 := size(); w < 300 || h < 100 || w2 < 2*w-2 || h2 < 2*h-2 {
		t.Errorf("%d x %d, then %d x %d", w, h, w2, h2)
	}
	sluice(t, "picture", file, "-o", out, "--scale", "0").check(t, cli.ExitErrors, nil, []string{"scale 0 is not positive"})
	sluice(t, "picture", filepath.Join(folder, "nothing.hpl")).check(t, cli.ExitUnusable, nil, []string{"nothing.hpl"})
}
