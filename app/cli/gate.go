package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/storage"
)

type gateEdit struct {
	transform string
	location  string
	set       []string
}

func gateCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{Use: "gate", Short: "Mark, unmark and list replay gates of a file", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(gateMarkCommand(sh), gateUnmarkCommand(sh), gateListCommand(sh))
	return c
}

func gateMarkCommand(sh *shell) *cobra.Command {
	f := &gateEdit{}
	var help strings.Builder
	help.WriteString("Make a gate of a transform or action, or change its settings. An empty value takes a setting away.\nAll values may hold variables. The settings:\n\n")
	for _, k := range gate.Keys() {
		fmt.Fprintf(&help, "  %-16s %s", k.Key, k.Help)
		if k.Default != "" {
			fmt.Fprintf(&help, " (default %s)", k.Default)
		}
		help.WriteByte('\n')
	}
	c := &cobra.Command{
		Use: "mark FILE --transform NAME", Short: "Make a gate of a transform or action", Long: help.String(), Args: oneFile, ValidArgsFunction: hopFiles,
		RunE: func(c *cobra.Command, args []string) error {
			return sh.gateMark(args[0], f, c.Flags().Changed("location"))
		},
	}
	c.Flags().StringVar(&f.transform, "transform", "", "`name` of the transform or action")
	c.Flags().StringVar(&f.location, "location", "", "where snapshots are stored: remote:path, a folder or a URI")
	c.Flags().StringArrayVar(&f.set, "set", nil, "setting as `key=value`; may be given again")
	_ = c.MarkFlagRequired("transform")
	return c
}

func (sh *shell) gateMark(file string, f *gateEdit, hasLocation bool) error {
	settings, err := assignments(f.set, "--set")
	if err != nil {
		return err
	}
	if hasLocation {
		settings[gate.KeyLocation] = f.location
	}
	if err := checkSettings(f.transform, settings); err != nil {
		return err
	}
	d, err := sh.editFile(file, gate.Mark(f.transform, settings, nil))
	if err != nil {
		return err
	}
	marks, err := gate.ReadMarks(d)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	if g := marks.Gate(f.transform); g != nil {
		fmt.Fprintf(sh.Out, "%s: gate %s at %q\n", file, g.ID, g.Node)
	}
	return nil
}

// checkSettings refuses what could not be used, as far as no variable is in it.
func checkSettings(node string, settings map[string]string) error {
	known := []string{}
	for _, k := range gate.Keys() {
		known = append(known, k.Key)
	}
	trial := &gate.Gate{Node: node, ID: "000000000000", Settings: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("--set %s: there is no such setting; there are %s", key, strings.Join(known, ", "))
		}
		value := settings[key]
		if strings.TrimSpace(value) == "" || strings.ContainsAny(value, "$%#") {
			continue
		}
		if key == gate.KeyLocation && !strings.Contains(value, "://") {
			if _, err := storage.ParseLocation(value, storage.Parsing{}); err != nil {
				return withHint(err)
			}
		}
		trial.Settings[key] = value
	}
	_, err := trial.Resolve(literal{})
	return err
}

// literal resolves nothing.
type literal struct{}

// Resolve implements transform.Resolver.
func (literal) Resolve(text string) (string, error) { return text, nil }

// editFile opens a file, edits it and saves it; a file that does not change is not
// touched.
func (sh *shell) editFile(file string, edit hopxml.Edit) (*hopxml.Document, error) {
	if err := readable(file); err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	d, err := hopxml.Open(file)
	if err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	next, err := edit(d)
	if err != nil {
		return nil, &exitError{ExitUnusable, fmt.Errorf("%s: %w", file, err)}
	}
	if next == d || !next.Edited() {
		return next, nil
	}
	if err := next.Save(file); err != nil {
		return nil, &exitError{ExitErrors, err}
	}
	return next, nil
}

func gateUnmarkCommand(sh *shell) *cobra.Command {
	f := &gateEdit{}
	c := &cobra.Command{
		Use: "unmark FILE --transform NAME", Short: "Take the gate from a transform or action", Args: oneFile, ValidArgsFunction: hopFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := sh.editFile(args[0], gate.Unmark(f.transform))
			if err == nil {
				fmt.Fprintf(sh.Out, "%s: %q is no gate any more; its snapshots stay\n", args[0], f.transform)
			}
			return err
		},
	}
	c.Flags().StringVar(&f.transform, "transform", "", "`name` of the transform or action")
	_ = c.MarkFlagRequired("transform")
	return c
}

type jsonGate struct {
	Transform string            `json:"transform"`
	ID        string            `json:"id"`
	Former    string            `json:"former_name,omitempty"`
	Settings  map[string]string `json:"settings,omitempty"`
}

type jsonMarks struct {
	File     string     `json:"file"`
	Gates    []jsonGate `json:"gates"`
	Problems []string   `json:"problems,omitempty"`
}

func gateListCommand(sh *shell) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "list FILE", Short: "List the gates of a file", Args: oneFile, ValidArgsFunction: hopFiles,
		RunE: func(_ *cobra.Command, args []string) error { return sh.gateList(args[0], asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

func (sh *shell) gateList(file string, asJSON bool) error {
	marks, err := marksOf(file)
	if err != nil {
		return err
	}
	out := jsonMarks{File: file, Gates: []jsonGate{}}
	for _, g := range marks.Gates {
		s := maps.Clone(g.Settings)
		delete(s, gate.KeyID)
		out.Gates = append(out.Gates, jsonGate{g.Node, g.ID, g.FormerName, s})
	}
	for _, p := range marks.Problems {
		out.Problems = append(out.Problems, p.Error())
	}
	var bad error
	if len(out.Problems) > 0 {
		bad = &exitError{ExitErrors, nil}
	}
	if asJSON {
		return errors.Join(sh.json(out), bad)
	}
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	for _, g := range out.Gates {
		var list []string
		for _, k := range slices.Sorted(maps.Keys(g.Settings)) {
			list = append(list, k+"="+g.Settings[k])
		}
		name := g.Transform
		if g.Former != "" {
			name += " (was " + g.Former + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", g.ID, name, strings.Join(list, "  "))
	}
	for _, p := range out.Problems {
		fmt.Fprintf(w, "error: %s\n", p)
	}
	return errors.Join(w.Flush(), bad)
}

// marksOf reads the marks of a file.
func marksOf(file string) (*gate.Marks, error) {
	if err := readable(file); err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	d, err := hopxml.Open(file)
	if err != nil {
		return nil, &exitError{ExitUnusable, err}
	}
	marks, err := gate.ReadMarks(d)
	if err != nil {
		return nil, &exitError{ExitUnusable, fmt.Errorf("%s: %w", file, err)}
	}
	return marks, nil
}

// checkMarks prints what is wrong with the marks of a file and says whether they
// can be trusted.
func (sh *shell) checkMarks(file string) bool {
	marks, err := marksOf(file)
	if err != nil {
		return true // whoever reads the file next tells it
	}
	for _, p := range marks.Problems {
		fmt.Fprintf(sh.Out, "%s: error: %v\n", file, p)
	}
	return len(marks.Problems) == 0
}

func (sh *shell) json(v any) error {
	enc := json.NewEncoder(sh.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
