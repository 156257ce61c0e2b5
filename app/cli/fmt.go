package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"sluice/engine/hopxml"
)

func fmtCommand(sh *shell) *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:               "fmt --check FILE…",
		Short:             "Prove that files survive open and save byte for byte",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: hopFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if !check {
				return fmt.Errorf("files are never reformatted; use --check to prove the round trip")
			}
			return sh.checkRoundTrip(args)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "open and save each file in memory and compare the bytes")
	return c
}

func (sh *shell) checkRoundTrip(args []string) error {
	failed := false
	for _, file := range args {
		if err := roundTrip(file); err != nil {
			failed = true
			fmt.Fprintf(sh.Out, "%s: %v\n", file, err)
			continue
		}
		fmt.Fprintf(sh.Out, "%s: identical\n", file)
	}
	if failed {
		return &exitError{ExitUnusable, nil}
	}
	return nil
}

func roundTrip(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	d, err := hopxml.Parse(file, data)
	if err != nil {
		return err
	}
	if !bytes.Equal(d.Bytes(), data) {
		return fmt.Errorf("open and save would change the file; please report this with the file")
	}
	return nil
}
