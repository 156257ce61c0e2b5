// Package cli is the command line: one file per command.
//
// Commands answer with an exit code: 0 success, 1 finished with errors, 2 unusable
// file or arguments, 3 replay refused, 130 interrupted, 143 terminated.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitErrors      = 1
	ExitUnusable    = 2
	ExitRefused     = 3
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// exitError ends a command with a code; a nil err was reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// shell carries what every command shares.
type shell struct {
	Streams
	signal *signals
}

// Run runs one command line (without the program's name) and gives the exit code.
func Run(args []string, io Streams) int {
	ctx, sig := watchSignals(context.Background())
	defer sig.stop()
	answer := &answerWriter{w: io.Out}
	io.Out = answer
	sh := &shell{Streams: io, signal: sig}
	root := newRoot(sh)
	root.SetArgs(args)
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	err := root.ExecuteContext(ctx)
	if code := sig.code(); code != 0 && err != nil {
		fmt.Fprintln(io.Err, "sluice:", "stopped by", sig.name())
		return code
	}
	if err == nil {
		if err = answer.failure(); err == nil {
			return ExitOK
		}
		err = &exitError{ExitErrors, fmt.Errorf("write the answer: %w", err)}
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		if exit.err != nil {
			fmt.Fprintln(io.Err, "sluice:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(io.Err, "sluice:", err)
	fmt.Fprintln(io.Err, `Run "sluice help" for the commands and their flags.`)
	return ExitUnusable
}

func newRoot(sh *shell) *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "Design, run and replay Apache Hop pipelines",
		Long:          "Sluice runs Apache Hop pipelines (.hpl) natively, keeps their rows safe at replay gates,\nand replays what failed from the sealed rows.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(
		gateCommand(sh),
		snapshotsCommand(sh),
		cacheCommand(sh),
		remotesCommand(sh),
		diskCommand(sh),
		runCommand(sh),
		executionsCommand(sh),
		preflightCommand(sh),
		replayCommand(sh),
		supportBundleCommand(sh),
		executionsCommand(sh),
		preflightCommand(sh),
		replayCommand(sh),
		supportBundleCommand(sh),
		checkCommand(sh),
		pictureCommand(sh),
		previewCommand(sh),
		transformsCommand(sh),
		fmtCommand(sh),
		versionCommand(sh),
	)
	return root
}

// codeOf gives the exit code of an execution's error.
func codeOf(err error) int {
	var bad *pipeline.UnusableError
	var refused *gate.RefusedError
	switch {
	case err == nil || errors.Is(err, pipeline.ErrStopped):
		return ExitOK
	case errors.As(err, &refused):
		return ExitRefused
	case errors.As(err, &bad):
		return ExitUnusable
	}
	return ExitErrors
}

// logger writes an execution's log to a stream, from a level of Hop's on.
func logger(w io.Writer, level string) (*slog.Logger, error) {
	l, err := engine.ParseLogLevel(level)
	if err != nil {
		return nil, err
	}
	return slog.New(&lineHandler{w: w, level: l}), nil
}

// signals turns SIGINT and SIGTERM into the end of a context; a second one ends
// the process at once.
type signals struct {
	ch   chan os.Signal
	got  chan os.Signal
	done chan struct{}
}

type signalError struct{ sig os.Signal }

func (e signalError) Error() string { return e.sig.String() }

// Is makes a signal an end that was asked for, not a failure.
func (e signalError) Is(target error) bool { return target == context.Canceled }

func watchSignals(parent context.Context) (context.Context, *signals) {
	ctx, cancel := context.WithCancelCause(parent)
	s := &signals{ch: make(chan os.Signal, 2), got: make(chan os.Signal, 1), done: make(chan struct{})}
	signal.Notify(s.ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case sig := <-s.ch:
			s.got <- sig
			cancel(signalError{sig})
		case <-s.done:
			cancel(nil)
			return
		}
		select {
		case sig := <-s.ch:
			os.Exit(exitCodeOf(sig))
		case <-s.done:
		}
	}()
	return ctx, s
}

func (s *signals) stop() {
	signal.Stop(s.ch)
	close(s.done)
}

func (s *signals) name() string {
	select {
	case sig := <-s.got:
		s.got <- sig
		return sig.String()
	default:
		return ""
	}
}

func (s *signals) code() int {
	select {
	case sig := <-s.got:
		s.got <- sig
		return exitCodeOf(sig)
	default:
		return 0
	}
}

func exitCodeOf(sig os.Signal) int {
	if sig == syscall.SIGTERM {
		return ExitTerminated
	}
	return ExitInterrupted
}
