package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sluice/app/presenter"
	"sluice/app/workspace"
)

type pictureFlags struct {
	projectFlags
	out   string
	scale float64
	dark  bool
	gates bool
}

func pictureCommand(sh *shell) *cobra.Command {
	f := &pictureFlags{}
	c := &cobra.Command{
		Use: "picture FILE", Short: "Draw a pipeline or workflow as a PNG", Args: oneFile, ValidArgsFunction: hopFiles,
		RunE: func(c *cobra.Command, args []string) error { return sh.picture(c.Context(), args[0], f) },
	}
	f.register(c)
	fl := c.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "`file` to write; default: FILE with the ending .png, in the working directory")
	fl.Float64Var(&f.scale, "scale", 1, "times 100 %")
	fl.BoolVar(&f.dark, "dark", false, "on a dark ground")
	fl.BoolVar(&f.gates, "gates", false, "look at the gates, and draw how they stand")
	_ = c.MarkFlagFilename("output", "png")
	return c
}

func (sh *shell) picture(ctx context.Context, file string, f *pictureFlags) error {
	doc, _, err := presenter.ReadFile(file)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	x, err := presenter.NewFile(doc, file, "", presenter.NewCatalog(workspace.Registry(), workspace.Actions()))
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	if f.gates {
		log, err := logger(sh.Err, f.logLevel)
		if err != nil {
			return err
		}
		ws, err := f.open(file, log)
		if err != nil {
			return &exitError{ExitUnusable, err}
		}
		g := presenter.LoadGates(ctx, ws, x.State())
		if g.Err != nil {
			return &exitError{ExitErrors, withHint(g.Err)}
		}
		x.SetGates(g)
	}
	out := f.out
	if out == "" {
		name := filepath.Base(file)
		out = strings.TrimSuffix(name, filepath.Ext(name)) + ".png"
	}
	if err := x.Picture(nil).Save(out, f.dark, f.scale); err != nil {
		return &exitError{ExitErrors, err}
	}
	fmt.Fprintln(sh.Out, out)
	return nil
}
