package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/storage"
)

func supportBundleCommand(sh *shell) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "support-bundle EXECUTION", Short: "Pack what is known of an execution, without secrets and rows, into a zip file", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return sh.withHistory(c.Context(), func(s storage.ExecutionStore) error { return sh.supportBundle(c.Context(), s, args[0], out) })
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "`file` to write; default: sluice-EXECUTION.zip")
	_ = c.MarkFlagFilename("output", "zip")
	return c
}

func (sh *shell) supportBundle(ctx context.Context, s storage.ExecutionStore, text, out string) (err error) {
	id, err := resolved(ctx, s, text)
	if err != nil {
		return err
	}
	head, err := s.Execution(ctx, id)
	if err != nil {
		return &exitError{ExitErrors, err}
	}
	if out == "" {
		out = "sluice-" + shortID(head.Root) + ".zip"
	}
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &exitError{ExitUnusable, fmt.Errorf("%s exists; name another file with --output", out)}
	}
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	files, err := workspace.SupportBundle(ctx, s, head, Version, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return &exitError{ExitErrors, errors.Join(err, os.Remove(out))}
	}
	fmt.Fprintf(sh.Out, "%s: %d files; look through them before you pass it on\n", out, files)
	return nil
}
