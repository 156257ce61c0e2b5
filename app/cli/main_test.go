package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/app/cli"
)

// asProgram makes the test binary the program itself, for tests that need a
// process of its own.
const asProgram = "SLUICE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// answer is what came of a command line.
type answer struct {
	code     int
	out, err string
}

// sluice runs a command line in this process. OUT is a folder of its own.
func sluice(t *testing.T, args ...string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return answer{code, out.String(), errs.String()}
}

func (a answer) check(t *testing.T, code int, out, errs []string) {
	t.Helper()
	if a.code != code {
		t.Errorf("exit %d, want %d", a.code, code)
	}
	for _, w := range out {
		if !strings.Contains(a.out, w) {
			t.Errorf("standard output has no %q", w)
		}
	}
	for _, w := range errs {
		if !strings.Contains(a.err, w) {
			t.Errorf("standard error has no %q", w)
		}
	}
	if t.Failed() {
		t.Logf("standard output:\n%s\nstandard error:\n%s", a.out, a.err)
	}
}

func data(name string) string { return filepath.Join("testdata", name) }
