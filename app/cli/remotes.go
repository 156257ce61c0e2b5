package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/storage/rclone"
	"sluice/storage/snapshot"
)

// sharedPlaces opens locations without a project.
func sharedPlaces() (*workspace.Places, error) {
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil, &exitError{ExitErrors, err}
	}
	return workspace.NewPlaces(folders, nil, slog.New(slog.DiscardHandler)).ByHand(), nil
}

// withHint adds what to try to an error of storage.
func withHint(err error) error {
	if hint := snapshot.Hint(err); hint != "" {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	return err
}

func remotesCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "remotes", Short: "List and test the remotes of rclone.conf and the environment", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(remotesListCommand(sh), remotesTestCommand(sh))
	return c
}

type jsonRemote struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Source      string `json:"source"`
	Description string `json:"description,omitempty"`
}

func remotesListCommand(sh *shell) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "list", Short: "List the configured remotes", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return sh.remotesList(c.Context(), asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func (sh *shell) remotesList(ctx context.Context, asJSON bool) error {
	p, err := sharedPlaces()
	if err != nil {
		return err
	}
	defer func() { _ = p.Close(ctx) }()
	list, err := p.Client().Remotes(ctx)
	if err != nil {
		return &exitError{ExitErrors, withHint(err)}
	}
	out := []jsonRemote{}
	for _, r := range list {
		out = append(out, jsonRemote{r.Name, r.Type, r.Source, r.Description})
	}
	if asJSON {
		return sh.json(out)
	}
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	for _, r := range out {
		fmt.Fprintf(w, "%s:\t%s\t%s\t%s\n", r.Name, r.Type, r.Source, r.Description)
	}
	return w.Flush()
}

type jsonStep struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	State   string  `json:"state"` // ok, failed, skipped
	Remark  string  `json:"remark,omitempty"`
	Error   string  `json:"error,omitempty"`
}

type jsonReport struct {
	Location    string     `json:"location"`
	OK          bool       `json:"ok"`
	AtomicPut   bool       `json:"atomic_put"`
	Hash        string     `json:"hash,omitempty"`
	Conditional bool       `json:"conditional_put"`
	Steps       []jsonStep `json:"steps"`
}

func remotesTestCommand(sh *shell) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "test LOCATION", Short: "Write, read, list and remove a small object at a location", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return sh.remotesTest(c.Context(), args[0], asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (sh *shell) remotesTest(ctx context.Context, text string, asJSON bool) error {
	p, err := sharedPlaces()
	if err != nil {
		return err
	}
	defer func() { _ = p.Close(context.WithoutCancel(ctx)) }()
	l, err := p.Parse(ctx, text)
	if err != nil {
		return &exitError{ExitUnusable, withHint(err)}
	}
	r := p.Client().Test(ctx, l)
	failed := r.Err()
	var bad error
	if failed != nil {
		bad = &exitError{ExitErrors, withHint(failed)}
	}
	out := jsonReport{Location: r.Location, OK: failed == nil, AtomicPut: r.Capabilities.AtomicPut, Hash: r.Capabilities.Hash, Conditional: r.Conditional, Steps: []jsonStep{}}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, stepOf(s))
	}
	if asJSON {
		return errors.Join(sh.json(out), bad)
	}
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	for _, s := range out.Steps {
		fmt.Fprintf(w, "%s\t%s\t%.0f ms\t%s%s\n", s.State, s.Name, s.Seconds*1000, s.Remark, s.Error)
	}
	return errors.Join(w.Flush(), bad)
}

func stepOf(s rclone.Step) jsonStep {
	j := jsonStep{Name: s.Name, Seconds: s.Took.Seconds(), State: "ok", Remark: s.Remark}
	switch {
	case s.Err != nil:
		j.State, j.Error = "failed", s.Err.Error()
	case s.Skipped:
		j.State = "skipped"
	}
	return j
}
