package cli

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
)

type jsonDefinition struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Summary  string `json:"summary"`
	Errors   bool   `json:"handles_errors"`
	Sink     bool   `json:"sink"`
}

func transformsCommand(sh *shell) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "transforms",
		Short: "List the transforms that can be run",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return sh.transforms(asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

func (sh *shell) transforms(asJSON bool) error {
	list := workspace.Registry().All()
	if asJSON {
		out := make([]jsonDefinition, len(list))
		for i, d := range list {
			out[i] = jsonDefinition{d.ID, d.Name, string(d.Category), d.Summary, d.HandlesErrors, d.Sink}
		}
		enc := json.NewEncoder(sh.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(out)
	}
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	for _, d := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.ID, d.Category, d.Name, d.Summary)
	}
	return w.Flush()
}
