package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/storage/snapshot"
)

type jsonDisk struct {
	Usage     []workspace.Usage `json:"usage"`
	Prunable  int64             `json:"prunable_bytes"`        // by the default policy
	Orphans   int64             `json:"prunable_orphan_bytes"` // with --orphans
	Snapshots string            `json:"snapshots"`
}

func diskCommand(sh *shell) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "disk", Short: "Tell what snapshots, caches, logs and spill files take, and what a prune would free", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return sh.disk(c.Context(), asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (sh *shell) disk(ctx context.Context, asJSON bool) error {
	places, err := sharedPlaces()
	if err != nil {
		return err
	}
	defer closePlaces(ctx, places)
	place, err := places.Place(ctx, "")
	if err != nil {
		return &exitError{ExitUnusable, withHint(err)}
	}
	out := jsonDisk{Snapshots: place.Location.String()}
	if out.Usage, err = places.Usage(ctx); err != nil {
		return &exitError{ExitErrors, err}
	}
	history, err := sh.history()
	if err != nil {
		return err
	}
	defer history.Close()
	for _, orphans := range []bool{false, true} {
		policy := snapshot.DefaultPolicy
		policy.Orphans = orphans
		plan, err := planOf(ctx, shelf{place: place}, policy, history)
		if err != nil {
			return &exitError{ExitErrors, withHint(err)}
		}
		if orphans {
			out.Orphans = plan.Bytes()
		} else {
			out.Prunable = plan.Bytes()
		}
	}
	if asJSON {
		return sh.json(out)
	}
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	for _, u := range out.Usage {
		fmt.Fprintf(w, "%s\t%s\t%d files\t%s\t%s\n", u.Name, workspace.FormatBytes(u.Bytes), u.Files, u.Path, u.Clear)
	}
	fmt.Fprintf(w, "a prune of %s would free\t%s\t(with --orphans %s)\n", out.Snapshots, workspace.FormatBytes(out.Prunable), workspace.FormatBytes(out.Orphans))
	return w.Flush()
}
