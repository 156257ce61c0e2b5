package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/files"
	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

func snapshotsExportCommand(sh *shell) *cobra.Command {
	to, part := "", ""
	c := snapshotCommand("export ID --to FILE", "Write the rows of a snapshot as CSV or Parquet, by the file's ending", cobra.ExactArgs(1), func(c *cobra.Command, args []string, f *snapshotFlags) error {
		return sh.snapshotsExport(c.Context(), args[0], to, part, f)
	})
	c.Flags().StringVar(&to, "to", "", "`file` ending in .csv or .parquet; - is CSV on standard output. Several Parquet segments get numbers")
	c.Flags().StringVar(&part, "part", "", "part as `PORT:COPY`, such as main:0; default: the only one with rows")
	_ = c.MarkFlagRequired("to")
	return c
}

type jsonExport struct {
	Snapshot string   `json:"snapshot"`
	Part     string   `json:"part"`
	Rows     int64    `json:"rows"`
	Files    []string `json:"files"`
}

func (sh *shell) snapshotsExport(ctx context.Context, id, to, partName string, f *snapshotFlags) error {
	src, places, err := f.source(ctx, sh, id)
	defer closePlaces(ctx, places)
	if err != nil {
		return err
	}
	part, err := src.Part(partName)
	if err != nil {
		return &exitError{ExitUnusable, err}
	}
	out := jsonExport{Snapshot: src.Ref.ID, Part: src.PartNames()[part]}
	switch ext := strings.ToLower(filepath.Ext(to)); {
	case to == "-":
		w := bufio.NewWriter(sh.Out)
		_, err = src.ExportCSV(ctx, part, w)
		if err = errors.Join(err, w.Flush()); err != nil {
			return &exitError{ExitErrors, withHint(err)}
		}
		return nil
	case ext == ".csv":
		out.Files = []string{to}
		out.Rows, err = exportCSV(ctx, places.ByHand(), src, part, to)
	case ext == ".parquet":
		out.Rows, out.Files, err = exportParquet(ctx, places.ByHand(), src, part, to)
	default:
		return fmt.Errorf("--to %s: the ending must be .csv or .parquet", to)
	}
	if err != nil {
		return &exitError{ExitErrors, withHint(err)}
	}
	if f.json {
		return sh.json(out)
	}
	fmt.Fprintf(sh.Out, "%s rows of %s: %s\n", grouped(out.Rows), out.Part, strings.Join(out.Files, ", "))
	return nil
}

func exportCSV(ctx context.Context, p *workspace.Places, src *gate.Source, part int, to string) (rows int64, err error) {
	w, err := p.Files().Create(ctx, to, files.CreateOptions{Parents: true})
	if err != nil {
		return 0, err
	}
	b := bufio.NewWriterSize(w, 1<<20)
	rows, err = src.ExportCSV(ctx, part, b)
	if err = errors.Join(err, b.Flush()); err != nil {
		return rows, errors.Join(err, w.Abort())
	}
	return rows, w.Commit()
}

func exportParquet(ctx context.Context, p *workspace.Places, src *gate.Source, part int, to string) (rows int64, names []string, err error) {
	total := len(src.Manifest().SegmentsOf(part))
	if total == 0 {
		return 0, nil, errors.New("the part has no rows, so there is no Parquet file of it; export it as .csv")
	}
	for loaded, err := range src.Segments(ctx, part) {
		if err != nil {
			return rows, names, err
		}
		name := to
		if total > 1 {
			ext := filepath.Ext(to)
			name = fmt.Sprintf("%s-%06d%s", strings.TrimSuffix(to, ext), loaded.Index, ext)
		}
		w, err := p.Files().Create(ctx, name, files.CreateOptions{Parents: true})
		if err != nil {
			return rows, names, err
		}
		if _, err := io.Writer(w).Write(loaded.Data); err != nil {
			return rows, names, errors.Join(err, w.Abort())
		}
		if err := w.Commit(); err != nil {
			return rows, names, err
		}
		rows, names = rows+loaded.Rows, append(names, name)
	}
	return rows, names, nil
}

type pruneFlags struct {
	dryRun     bool
	executions int
	age        string
	orphans    bool
	damaged    bool
}

func snapshotsPruneCommand(sh *shell) *cobra.Command {
	p := &pruneFlags{}
	c := snapshotCommand("prune", "Remove snapshots that retention gives up", cobra.NoArgs, func(c *cobra.Command, _ []string, f *snapshotFlags) error {
		return sh.snapshotsPrune(c, p, f)
	})
	c.Long = "Pinned snapshots, open ones, those of executions that have not ended, and those of failed ones that were not replayed, stay in any case."
	fl := c.Flags()
	fl.BoolVar(&p.dryRun, "dry-run", false, "only tell what would be removed")
	fl.IntVar(&p.executions, "executions", 0, "keep those of so many executions of a gate; default: the gate's setting")
	fl.StringVar(&p.age, "age", "", "remove those that are `older`, such as 14d; default: the gate's setting")
	fl.BoolVar(&p.orphans, "orphans", false, "also those of executions without a record")
	fl.BoolVar(&p.damaged, "damaged", false, "also damaged ones")
	return c
}

func (p *pruneFlags) policy(c *cobra.Command, base snapshot.Policy) (snapshot.Policy, error) {
	if c.Flags().Changed("executions") {
		base.Executions = p.executions
	}
	if p.age != "" {
		age, err := gate.ParseAge(p.age)
		if err != nil {
			return base, fmt.Errorf("--age: %w", err)
		}
		base.MaxAge = age
	}
	base.Orphans, base.Damaged = p.orphans, p.damaged
	return base, nil
}

type jsonPruned struct {
	Gate     string `json:"gate"`
	Snapshot string `json:"snapshot"`
	Action   string `json:"action"` // prune, forget, keep
	Bytes    int64  `json:"bytes"`
	Reason   string `json:"reason"`
	Error    string `json:"error,omitempty"`
}

type jsonPrune struct {
	DryRun    bool         `json:"dry_run"`
	Bytes     int64        `json:"bytes"`
	Snapshots []jsonPruned `json:"snapshots"`
}

func (sh *shell) snapshotsPrune(c *cobra.Command, p *pruneFlags, f *snapshotFlags) error {
	ctx := c.Context()
	shelves, places, err := f.shelves(ctx, sh)
	defer closePlaces(ctx, places)
	if err != nil {
		return err
	}
	history, err := sh.history()
	if err != nil {
		return err
	}
	defer history.Close()
	out := jsonPrune{DryRun: p.dryRun, Snapshots: []jsonPruned{}}
	var failed error
	for _, s := range shelves {
		policy, err := p.policy(c, s.retention)
		if err != nil {
			return err
		}
		plan, err := planOf(ctx, s, policy, history)
		if err != nil {
			return &exitError{ExitErrors, withHint(err)}
		}
		if err := sh.carryOut(ctx, s, plan, p.dryRun, &out); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		failed = &exitError{ExitErrors, withHint(failed)}
	}
	if f.json {
		return errors.Join(sh.json(out), failed)
	}
	for _, x := range out.Snapshots {
		fmt.Fprintf(sh.Out, "%-6s %s/%s  %10s  %s%s\n", x.Action, x.Gate, x.Snapshot, workspace.FormatBytes(x.Bytes), x.Reason, x.Error)
	}
	verb := "freed"
	if p.dryRun {
		verb = "would be freed"
	}
	fmt.Fprintf(sh.Out, "%s %s\n", workspace.FormatBytes(out.Bytes), verb)
	return failed
}

// planOf judges one shelf by the records of the executions that need its
// snapshots.
func planOf(ctx context.Context, s shelf, policy snapshot.Policy, history *workspace.History) (snapshot.Plan, error) {
	list, err := s.place.Store.List(ctx, s.gate)
	if err != nil {
		return snapshot.Plan{}, err
	}
	return snapshot.PlanRetention(list, policy, history.Facts(ctx, s.place), time.Now()), nil
}

func (sh *shell) carryOut(ctx context.Context, s shelf, plan snapshot.Plan, dryRun bool, out *jsonPrune) error {
	for _, k := range plan.Kept {
		out.Snapshots = append(out.Snapshots, jsonPruned{k.Ref.Gate, k.Ref.ID, "keep", k.Bytes, k.Reason, ""})
	}
	if dryRun {
		out.Bytes += plan.Bytes()
		for _, a := range plan.Actions {
			out.Snapshots = append(out.Snapshots, jsonPruned{a.Ref.Gate, a.Ref.ID, string(a.Kind), a.Bytes, a.Reason, ""})
		}
		return nil
	}
	done, err := s.place.Store.Execute(ctx, plan)
	for _, o := range done {
		j := jsonPruned{o.Ref.Gate, o.Ref.ID, string(o.Kind), o.Bytes, o.Reason, ""}
		if o.Err != nil {
			j.Error = o.Err.Error()
		} else {
			out.Bytes += o.Bytes
		}
		out.Snapshots = append(out.Snapshots, j)
	}
	return err
}

var pinName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// ownPin is the name of this user's pins.
func ownPin() string {
	name := "user"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return strings.Trim(pinName.ReplaceAllString("by-"+name+"-"+host, "-"), "-")
}

func snapshotsPinCommand(sh *shell) *cobra.Command {
	name, reason, ttl := "", "", ""
	c := snapshotCommand("pin ID", "Keep a snapshot from being pruned", cobra.ExactArgs(1), func(c *cobra.Command, args []string, f *snapshotFlags) error {
		var keep time.Duration
		if ttl != "" {
			var err error
			if keep, err = gate.ParseAge(ttl); err != nil {
				return fmt.Errorf("--for: %w", err)
			}
		}
		return sh.pinning(c.Context(), args[0], f, func(place *gate.Place, ref storage.SnapshotRef) error {
			return place.Store.Pin(c.Context(), ref, name, reason, keep)
		}, "pinned as "+name)
	})
	c.Flags().StringVar(&name, "name", ownPin(), "name of the pin")
	c.Flags().StringVar(&reason, "reason", "", "why it is kept")
	c.Flags().StringVar(&ttl, "for", "", "how `long`, such as 30d; default: until it is unpinned")
	return c
}

func snapshotsUnpinCommand(sh *shell) *cobra.Command {
	name := ""
	c := snapshotCommand("unpin ID", "Take a pin back", cobra.ExactArgs(1), func(c *cobra.Command, args []string, f *snapshotFlags) error {
		return sh.pinning(c.Context(), args[0], f, func(place *gate.Place, ref storage.SnapshotRef) error {
			return place.Store.Unpin(c.Context(), ref, name)
		}, "no longer pinned as "+name)
	})
	c.Flags().StringVar(&name, "name", ownPin(), "name of the pin")
	return c
}

func (sh *shell) pinning(ctx context.Context, id string, f *snapshotFlags, change func(*gate.Place, storage.SnapshotRef) error, done string) error {
	shelves, places, err := f.shelves(ctx, sh)
	defer closePlaces(ctx, places)
	if err != nil {
		return err
	}
	place, ref, err := find(ctx, shelves, id)
	if err != nil {
		return err
	}
	if err := change(place, ref); err != nil {
		return &exitError{ExitErrors, withHint(err)}
	}
	if f.json {
		return sh.json(snapshotOf(place, place.Store.Inspect(ctx, ref)))
	}
	fmt.Fprintf(sh.Out, "%s: %s\n", ref, done)
	return nil
}
