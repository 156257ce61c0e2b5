package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
)

func cacheCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "cache", Short: "Cache the output of transforms while you develop", Args: cobra.NoArgs,
		Long: "Rows of a transform marked here are kept on this machine by each run; `sluice run --from-cache` starts from them.\nThey are for development only and never stand in for a sealed gate.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(cacheMarkCommand(sh), cacheUnmarkCommand(sh), cacheListCommand(sh), cacheClearCommand(sh))
	return c
}

func cacheMarkCommand(sh *shell) *cobra.Command {
	name, rows := "", int64(0)
	c := &cobra.Command{
		Use: "mark FILE --transform NAME", Short: "Cache the output of a transform", Args: oneFile, ValidArgsFunction: hopFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if rows < 0 {
				return fmt.Errorf("--rows %d: give a number of rows, or 0 for all", rows)
			}
			_, err := sh.editFile(args[0], gate.MarkCache(name, rows, nil))
			return err
		},
	}
	c.Flags().StringVar(&name, "transform", "", "`name` of the transform")
	c.Flags().Int64Var(&rows, "rows", 0, "rows that are kept at most; 0 keeps all")
	_ = c.MarkFlagRequired("transform")
	return c
}

func cacheUnmarkCommand(sh *shell) *cobra.Command {
	name := ""
	c := &cobra.Command{
		Use: "unmark FILE --transform NAME", Short: "Cache the output of a transform no more, and clear it", Args: oneFile, ValidArgsFunction: hopFiles,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := hopxml.Open(args[0])
			if err != nil {
				return &exitError{ExitUnusable, err}
			}
			marks, err := gate.ReadCacheMarks(d)
			if err != nil {
				return &exitError{ExitUnusable, err}
			}
			if _, err := sh.editFile(args[0], gate.UnmarkCache(name)); err != nil {
				return err
			}
			if g := marks.Gate(name); g != nil {
				return sh.clearCache(c, []string{g.ID})
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "transform", "", "`name` of the transform")
	_ = c.MarkFlagRequired("transform")
	return c
}

func cacheListCommand(sh *shell) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "list FILE", Short: "List the cached transforms of a file", Args: oneFile, ValidArgsFunction: hopFiles,
		RunE: func(c *cobra.Command, args []string) error { return sh.cacheList(c, args[0], asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

type jsonCached struct {
	Transform string `json:"transform"`
	Limit     string `json:"limit"`
	Snapshot  string `json:"snapshot,omitempty"`
	State     string `json:"state"`
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
}

func (sh *shell) cacheList(c *cobra.Command, file string, asJSON bool) error {
	d, err := hopxml.Open(file)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	marks, err := gate.ReadCacheMarks(d)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	place, err := devCache()
	if err != nil {
		return err
	}
	out := []jsonCached{}
	for _, g := range marks.Gates {
		j := jsonCached{Transform: g.Node, Limit: g.Settings[gate.KeyCacheRows], State: "EMPTY"}
		list, err := place.Store.List(c.Context(), g.ID)
		if err != nil {
			return &exitError{ExitErrors, err}
		}
		if len(list) > 0 {
			j.Snapshot, j.State, j.Rows, j.Bytes = list[0].Ref.ID, string(list[0].State), list[0].Rows, list[0].Stored
		}
		out = append(out, j)
	}
	if asJSON {
		return sh.json(out)
	}
	for _, j := range out {
		fmt.Fprintf(sh.Out, "%s: %s, %s rows, %s (limit %s)\n", j.Transform, j.State, grouped(j.Rows), workspace.FormatBytes(j.Bytes), j.Limit)
	}
	return nil
}

func cacheClearCommand(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "clear [FILE]", Short: "Remove the cached rows of a file, or all", Args: cobra.MaximumNArgs(1), ValidArgsFunction: hopFiles,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return sh.clearCache(c, []string{""})
			}
			d, err := hopxml.Open(args[0])
			if err != nil {
				return &exitError{ExitUnusable, err}
			}
			marks, err := gate.ReadCacheMarks(d)
			if err != nil {
				return &exitError{ExitUnusable, err}
			}
			var ids []string
			for _, g := range marks.Gates {
				ids = append(ids, g.ID)
			}
			return sh.clearCache(c, ids)
		},
	}
}

func devCache() (*gate.Place, error) {
	p, err := sharedPlaces()
	if err != nil {
		return nil, err
	}
	return p.Local(gate.KindCache)
}

func (sh *shell) clearCache(c *cobra.Command, ids []string) error {
	place, err := devCache()
	if err != nil {
		return err
	}
	var total int64
	for _, id := range ids {
		n, err := gate.ClearCache(c.Context(), place, id)
		total += n
		if err != nil {
			return &exitError{ExitErrors, err}
		}
	}
	fmt.Fprintf(sh.Out, "%s freed\n", workspace.FormatBytes(total))
	return nil
}
