package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/batch"
	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// snapshotFlags say where the snapshots are: at a location, or where the gates of
// a file put them.
type snapshotFlags struct {
	projectFlags
	location string
	file     string
	gate     string
	json     bool
}

func (f *snapshotFlags) register(c *cobra.Command) {
	f.projectFlags.register(c)
	fl := c.Flags()
	fl.StringVar(&f.location, "location", "", "where the snapshots are: remote:path, a folder or a URI; default: ${SLUICE_SNAPSHOTS}, else the user's data folder")
	fl.StringVar(&f.file, "file", "", "`file` whose gates tell where the snapshots are")
	fl.StringVar(&f.gate, "gate", "", "`name` of the gate with --file, its id with --location; default: all")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	_ = c.MarkFlagFilename("file", "hpl", "hwf")
}

// shelf is one gate, or all of a location, to look at.
type shelf struct {
	place     *gate.Place
	gate      string // id; empty: all
	node      string
	retention snapshot.Policy
}

// shelves opens what the flags name. The caller closes the Places.
func (f *snapshotFlags) shelves(ctx context.Context, sh *shell) ([]shelf, *workspace.Places, error) {
	if f.file == "" {
		p, err := sharedPlaces()
		if err != nil {
			return nil, nil, err
		}
		place, err := p.Place(ctx, f.location)
		if err != nil {
			return nil, p, &exitError{ExitUnusable, withHint(err)}
		}
		return []shelf{{place: place, gate: f.gate, retention: snapshot.DefaultPolicy}}, p, nil
	}
	if f.location != "" {
		return nil, nil, errors.New("--location and --file exclude each other")
	}
	marks, err := marksOf(f.file)
	if err != nil {
		return nil, nil, err
	}
	log, err := logger(sh.Err, f.logLevel)
	if err != nil {
		return nil, nil, err
	}
	ws, err := f.open(f.file, log)
	if err != nil {
		return nil, nil, &exitError{ExitUnusable, err}
	}
	var list []shelf
	for _, g := range marks.Gates {
		if f.gate != "" && !strings.EqualFold(g.Node, f.gate) && g.ID != f.gate {
			continue
		}
		c, err := g.Resolve(ws.Scope)
		if err != nil {
			return nil, ws.Places, &exitError{ExitUnusable, err}
		}
		place, err := ws.Places.Place(ctx, c.Location)
		if err != nil {
			return nil, ws.Places, &exitError{ExitUnusable, withHint(err)}
		}
		list = append(list, shelf{place, g.ID, g.Node, c.Retention})
	}
	if len(list) == 0 {
		what := "no gate"
		if f.gate != "" {
			what = fmt.Sprintf("no gate %q", f.gate)
		}
		return nil, ws.Places, &exitError{ExitUnusable, fmt.Errorf("%s has %s; see sluice gate list %s", f.file, what, f.file)}
	}
	return list, ws.Places, nil
}

// find completes a shortened id over the shelves, or takes the newest sealed one.
func find(ctx context.Context, list []shelf, id string) (*gate.Place, storage.SnapshotRef, error) {
	var errs []error
	var place *gate.Place
	var found []storage.SnapshotRef
	for _, s := range list {
		ref, err := s.find(ctx, id)
		switch {
		case err == nil:
			if !slices.Contains(found, ref) {
				place, found = s.place, append(found, ref)
			}
		case errors.Is(err, storage.ErrNotFound):
			errs = append(errs, err)
		default:
			return nil, ref, &exitError{ExitUnusable, withHint(err)}
		}
	}
	switch {
	case len(found) == 1:
		return place, found[0], nil
	case len(found) > 1:
		return nil, found[0], &exitError{ExitUnusable, fmt.Errorf("%s fits %d snapshots: write more of the id, or name the gate with --gate", id, len(found))}
	}
	return nil, storage.SnapshotRef{}, &exitError{ExitUnusable, fmt.Errorf("no snapshot %s: %w", id, errors.Join(errs...))}
}

func (s shelf) find(ctx context.Context, id string) (storage.SnapshotRef, error) {
	if strings.EqualFold(id, gate.Latest) {
		if s.gate == "" {
			return storage.SnapshotRef{}, errors.New("latest needs a gate: name it with --gate")
		}
		sn, err := s.place.Store.Latest(ctx, s.gate)
		if err != nil {
			return storage.SnapshotRef{}, err
		}
		return sn.Ref, nil
	}
	return s.place.Store.Find(ctx, s.gate, id)
}

// source opens a sealed snapshot by its id.
func (f *snapshotFlags) source(ctx context.Context, sh *shell, id string) (*gate.Source, *workspace.Places, error) {
	list, places, err := f.shelves(ctx, sh)
	if err != nil {
		return nil, places, err
	}
	place, ref, err := find(ctx, list, id)
	if err != nil {
		return nil, places, err
	}
	src, err := gate.OpenSource(ctx, place, ref, batch.NewAllocator())
	if err != nil {
		return nil, places, &exitError{ExitErrors, withHint(err)}
	}
	return src, places, nil
}

func closePlaces(ctx context.Context, p *workspace.Places) {
	if p != nil {
		_ = p.Close(context.WithoutCancel(ctx)) // nothing was written through it that is not proved
	}
}

func snapshotsCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "snapshots", Short: "List, verify, export, compare and prune snapshots", Args: cobra.NoArgs,
		Long: "Snapshots are at a location (--location LOC), or where the gates of a file put them (--file FILE [--gate NAME]).\nIds may be shortened; latest is the newest sealed one of a gate.",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		snapshotsListCommand(sh), snapshotsShowCommand(sh), snapshotsVerifyCommand(sh), snapshotsExportCommand(sh),
		snapshotsDiffCommand(sh), snapshotsPruneCommand(sh), snapshotsPinCommand(sh), snapshotsUnpinCommand(sh),
	)
	return c
}

// snapshotCommand makes a command with the flags of snapshots.
func snapshotCommand(use, short string, args cobra.PositionalArgs, run func(c *cobra.Command, args []string, f *snapshotFlags) error) *cobra.Command {
	f := &snapshotFlags{}
	c := &cobra.Command{Use: use, Short: short, Args: args}
	c.RunE = func(c *cobra.Command, args []string) error { return run(c, args, f) }
	f.register(c)
	return c
}
