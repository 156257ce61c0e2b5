//go:build unix

package cli_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"sluice/app/cli"
)

// A signal ends a run that would never end by itself, with the code of the
// signal and with its log closed.
func TestSignals(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		args   []string
		code   int
	}{
		"interrupt":               {syscall.SIGINT, nil, cli.ExitInterrupted},
		"terminate":               {syscall.SIGTERM, nil, cli.ExitTerminated},
		"terminate with JSON out": {syscall.SIGTERM, []string{"--json"}, cli.ExitTerminated},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := signalled(t, c.signal, append([]string{"run", data("endless.hpl")}, c.args...))
			if code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			if c.args == nil && !strings.Contains(errs, "Pipeline ended") {
				t.Error("the log does not tell of the end")
			}
			if c.args != nil && !strings.Contains(out, `"execution_id"`) {
				t.Error("there is no JSON object")
			}
			if t.Failed() {
				t.Logf("standard output:\n%s\nstandard error:\n%s", out, errs)
			}
		})
	}
}

// signalled starts the program, waits for its first row, sends the signal and
// waits for its end.
func signalled(t *testing.T, sig syscall.Signal, args []string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var text strings.Builder
	cmd.Stdout = &text
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	lines := bufio.NewReader(pipe)
	sent := false
	for {
		line, err := lines.ReadString('\n')
		log.WriteString(line)
		if !sent && strings.Contains(line, "a row has come") {
			sent = true
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !sent {
		t.Errorf("the run ended before a row had come:\n%s", log.String())
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return text.String(), log.String(), cmd.ProcessState.ExitCode()
}
