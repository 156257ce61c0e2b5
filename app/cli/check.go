package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sluice/engine/pipeline"
)

func checkCommand(sh *shell) *cobra.Command {
	f := &projectFlags{}
	c := &cobra.Command{
		Use:               "check FILE…",
		Short:             "Tell what would keep pipelines and workflows from running",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: hopFiles,
		RunE:              func(c *cobra.Command, args []string) error { return sh.check(c.Context(), args, f) },
	}
	f.register(c)
	return c
}

func (sh *shell) check(ctx context.Context, args []string, f *projectFlags) error {
	log, err := logger(sh.Err, f.logLevel)
	if err != nil {
		return err
	}
	worst := ExitOK
	for _, file := range args {
		if err := readable(file); err != nil {
			fmt.Fprintf(sh.Out, "%s: error: %v\n", file, err)
			worst = ExitUnusable
			continue
		}
		ws, err := f.open(file, log)
		if err != nil {
			return &exitError{ExitUnusable, err}
		}
		if !sh.checkMarks(file) {
			worst = ExitUnusable
			continue
		}
		if isWorkflow(file) {
			worst = max(worst, sh.checkWorkflow(ws, file))
			continue
		}
		findings, err := ws.Runner.Check(ctx, pipeline.Run{File: file, Scope: ws.Scope})
		for _, p := range findings {
			fmt.Fprintf(sh.Out, "%s: %s\n", file, p)
		}
		switch {
		case err != nil:
			fmt.Fprintf(sh.Out, "%s: error: %v\n", file, err)
			worst = ExitUnusable
		case pipeline.HasErrors(findings):
			worst = max(worst, ExitErrors)
		case len(findings) == 0:
			fmt.Fprintf(sh.Out, "%s: ok\n", file)
		}
	}
	if worst != ExitOK {
		return &exitError{worst, nil}
	}
	return nil
}
