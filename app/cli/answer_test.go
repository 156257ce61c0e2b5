package cli_test

import (
	"errors"
	"strings"
	"testing"

	"sluice/app/cli"
)

// fullDisk is an output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAnAnswerThatIsNotWrittenIsAnError(t *testing.T) {
	for name, args := range map[string][]string{
		"text": {"transforms"}, "JSON": {"transforms", "--json"}, "one line": {"version"}, "help": {"help"},
	} {
		t.Run(name, func(t *testing.T) {
			var errs strings.Builder
			code := cli.Run(args, cli.Streams{In: strings.NewReader(""), Out: fullDisk{}, Err: &errs})
			if code == cli.ExitOK || !strings.Contains(errs.String(), "no space left") {
				t.Errorf("exit code %d, %q", code, errs.String())
			}
		})
	}
}
