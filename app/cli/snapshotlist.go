package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

type jsonSnapshot struct {
	Gate      string    `json:"gate"`
	Snapshot  string    `json:"snapshot"`
	Location  string    `json:"location"`
	State     string    `json:"state"`
	Why       string    `json:"why,omitempty"`
	Transform string    `json:"transform,omitempty"`
	File      string    `json:"file,omitempty"`
	Execution string    `json:"execution_id,omitempty"`
	Rows      int64     `json:"rows"`
	Bytes     int64     `json:"bytes"`
	Begun     time.Time `json:"begun"`
	Ended     time.Time `json:"ended,omitzero"`
	Digest    string    `json:"digest,omitempty"`
	Pins      []string  `json:"pins,omitempty"`
}

func snapshotOf(place *gate.Place, s snapshot.Summary) jsonSnapshot {
	j := jsonSnapshot{
		Gate: s.Ref.Gate, Snapshot: s.Ref.ID, Location: place.Location.String(), State: string(s.State), Transform: s.Origin.Node, File: s.Origin.File,
		Execution: s.Origin.ExecutionID, Rows: s.Rows, Bytes: s.Stored, Begun: s.Begun, Ended: s.Ended, Digest: s.Digest,
	}
	if s.Why != nil {
		j.Why = s.Why.Error()
	}
	for _, p := range s.Pins {
		j.Pins = append(j.Pins, p.ID)
	}
	return j
}

func snapshotsListCommand(sh *shell) *cobra.Command {
	c := snapshotCommand("list", "List snapshots, newest first", cobra.NoArgs, func(c *cobra.Command, _ []string, f *snapshotFlags) error {
		return sh.snapshotsList(c.Context(), f)
	})
	return c
}

func (sh *shell) snapshotsList(ctx context.Context, f *snapshotFlags) error {
	shelves, places, err := f.shelves(ctx, sh)
	defer closePlaces(ctx, places)
	if err != nil {
		return err
	}
	out := []jsonSnapshot{}
	for _, s := range shelves {
		list, err := s.place.Store.List(ctx, s.gate)
		if err != nil {
			return &exitError{ExitErrors, withHint(err)}
		}
		for _, x := range list {
			out = append(out, snapshotOf(s.place, x))
		}
	}
	if f.json {
		return sh.json(out)
	}
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "GATE\tSNAPSHOT\tSTATE\tROWS\tSIZE\tBEGUN\tTRANSFORM\tPINS")
	for _, j := range out {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", j.Gate, j.Snapshot, j.State, grouped(j.Rows), workspace.FormatBytes(j.Bytes),
			j.Begun.Local().Format("2006-01-02 15:04:05"), strings.ReplaceAll(j.Transform, "\n", " "), strings.Join(j.Pins, ","))
	}
	return w.Flush()
}

type jsonPart struct {
	Port          string          `json:"port"`
	Copy          int             `json:"copy"`
	Rows          int64           `json:"rows"`
	ContentDigest string          `json:"content_digest,omitempty"`
	Schema        json.RawMessage `json:"schema"`
}

type jsonShown struct {
	jsonSnapshot
	ContentDigest string                `json:"content_digest,omitempty"`
	Signed        string                `json:"key_id,omitempty"`
	Parts         []jsonPart            `json:"parts,omitempty"`
	Segments      int                   `json:"segments"`
	Variables     []snapshot.Variable   `json:"variables,omitempty"`
	Sources       []snapshot.SourceMark `json:"sources,omitempty"`
	Settings      json.RawMessage       `json:"settings,omitempty"`
	Fingerprint   json.RawMessage       `json:"fingerprint,omitempty"`
}

func snapshotsShowCommand(sh *shell) *cobra.Command {
	c := snapshotCommand("show ID", "Show what is known of a snapshot", cobra.ExactArgs(1), func(c *cobra.Command, args []string, f *snapshotFlags) error {
		return sh.snapshotsShow(c.Context(), args[0], f)
	})
	return c
}

func (sh *shell) snapshotsShow(ctx context.Context, id string, f *snapshotFlags) error {
	shelves, places, err := f.shelves(ctx, sh)
	defer closePlaces(ctx, places)
	if err != nil {
		return err
	}
	place, ref, err := find(ctx, shelves, id)
	if err != nil {
		return err
	}
	out := jsonShown{jsonSnapshot: snapshotOf(place, place.Store.Inspect(ctx, ref))}
	if r, err := place.Store.Record(ctx, ref); err == nil {
		out.Settings, out.Fingerprint = r.Settings, r.Fingerprint
	}
	if sn, err := place.Store.Load(ctx, ref); err == nil {
		m := sn.Manifest
		out.ContentDigest, out.Signed, out.Segments, out.Variables, out.Sources = m.ContentDigest, m.KeyID, len(m.Segments), m.Variables, m.Sources
		for _, p := range m.Parts {
			out.Parts = append(out.Parts, jsonPart{p.Port, p.Copy, p.Rows, p.ContentDigest, p.Schema})
		}
	}
	if f.json {
		return sh.json(out)
	}
	return sh.printShown(out)
}

func (sh *shell) printShown(j jsonShown) error {
	w := tabwriter.NewWriter(sh.Out, 0, 4, 2, ' ', 0)
	line := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, text)
		}
	}
	line("snapshot", j.Snapshot)
	line("gate", j.Gate+" "+j.Transform)
	line("state", j.State)
	line("why", j.Why)
	line("location", j.Location)
	line("file", j.File)
	line("execution", j.Execution)
	line("rows", grouped(j.Rows))
	line("size", fmt.Sprintf("%s in %d segments", workspace.FormatBytes(j.Bytes), j.Segments))
	line("begun", j.Begun.Local().Format(time.RFC3339))
	if !j.Ended.IsZero() {
		line("ended", j.Ended.Local().Format(time.RFC3339))
	}
	line("digest", j.Digest)
	line("content", j.ContentDigest)
	line("key", j.Signed)
	for _, p := range j.Parts {
		line("part", fmt.Sprintf("%s:%d, %s rows", p.Port, p.Copy, grouped(p.Rows)))
	}
	for _, v := range j.Variables {
		value := v.Value
		if v.Secret != "" {
			value = "(secret)"
		}
		line("variable", v.Name+"="+value)
	}
	for _, s := range j.Sources {
		line("source", s.Node+": "+s.Kind+" "+s.Value)
	}
	line("pins", strings.Join(j.Pins, ", "))
	return w.Flush()
}

type jsonVerified struct {
	Gate     string   `json:"gate"`
	Snapshot string   `json:"snapshot"`
	OK       bool     `json:"ok"`
	Level    string   `json:"level,omitempty"`
	Segments int      `json:"segments"`
	Bytes    int64    `json:"bytes"`
	Problems []string `json:"problems,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

func snapshotsVerifyCommand(sh *shell) *cobra.Command {
	quick := false
	c := snapshotCommand("verify [ID…]", "Prove that snapshots are what was sealed; without an id all sealed ones", cobra.ArbitraryArgs, func(c *cobra.Command, args []string, f *snapshotFlags) error {
		level := snapshot.Full
		if quick {
			level = snapshot.Quick
		}
		return sh.snapshotsVerify(c.Context(), args, level, f)
	})
	c.Flags().BoolVar(&quick, "quick", false, "compare sizes only")
	return c
}

func (sh *shell) snapshotsVerify(ctx context.Context, ids []string, level snapshot.Level, f *snapshotFlags) error {
	shelves, places, err := f.shelves(ctx, sh)
	defer closePlaces(ctx, places)
	if err != nil {
		return err
	}
	type target struct {
		place *gate.Place
		ref   storage.SnapshotRef
	}
	var targets []target
	for _, id := range ids {
		place, ref, err := find(ctx, shelves, id)
		if err != nil {
			return err
		}
		targets = append(targets, target{place, ref})
	}
	for _, s := range shelves {
		if len(ids) > 0 {
			break
		}
		list, err := s.place.Store.List(ctx, s.gate)
		if err != nil {
			return &exitError{ExitErrors, withHint(err)}
		}
		for _, x := range list {
			if x.State == storage.SnapshotSealed || x.State == storage.SnapshotDamaged {
				targets = append(targets, target{s.place, x.Ref})
			}
		}
	}
	out := []jsonVerified{}
	bad := false
	for _, t := range targets {
		j := verified(ctx, t.place, t.ref, level)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		out, bad = append(out, j), bad || !j.OK
	}
	err = nil
	if bad {
		err = &exitError{ExitErrors, nil}
	}
	if f.json {
		return errors.Join(sh.json(out), err)
	}
	for _, j := range out {
		if j.OK {
			fmt.Fprintf(sh.Out, "ok      %s/%s: %d segments, %s, %s\n", j.Gate, j.Snapshot, j.Segments, workspace.FormatBytes(j.Bytes), j.Level)
		}
		for _, p := range j.Problems {
			fmt.Fprintf(sh.Out, "DAMAGED %s/%s: %s\n", j.Gate, j.Snapshot, p)
		}
		for _, n := range j.Notes {
			fmt.Fprintf(sh.Out, "        %s\n", n)
		}
	}
	return err
}

func verified(ctx context.Context, place *gate.Place, ref storage.SnapshotRef, level snapshot.Level) jsonVerified {
	j := jsonVerified{Gate: ref.Gate, Snapshot: ref.ID}
	sn, err := place.Store.Load(ctx, ref)
	if err != nil {
		j.Problems = []string{err.Error()}
		return j
	}
	v, err := sn.Verify(ctx, level, nil)
	if v != nil {
		j.Level, j.Segments, j.Bytes, j.Notes = v.Level.String(), v.Segments, v.Bytes, v.Notes
		for _, p := range v.Problems {
			j.Problems = append(j.Problems, p.Name+": "+p.Err.Error())
		}
	}
	if err != nil && len(j.Problems) == 0 {
		j.Problems = []string{err.Error()}
	}
	j.OK = err == nil
	return j
}

func snapshotsDiffCommand(sh *shell) *cobra.Command {
	most := 0
	c := snapshotCommand("diff ID ID", "Compare schemas, row counts and rows of two snapshots", cobra.ExactArgs(2), func(c *cobra.Command, args []string, f *snapshotFlags) error {
		return sh.snapshotsDiff(c.Context(), args[0], args[1], most, f)
	})
	c.Flags().IntVar(&most, "rows", 10, "differing rows to show at most")
	return c
}

func (sh *shell) snapshotsDiff(ctx context.Context, first, second string, most int, f *snapshotFlags) error {
	a, places, err := f.source(ctx, sh, first)
	defer closePlaces(ctx, places)
	if err != nil {
		return err
	}
	b, others, err := f.source(ctx, sh, second)
	defer closePlaces(ctx, others)
	if err != nil {
		return err
	}
	d, err := gate.Compare(ctx, a, b, most)
	if err != nil {
		return &exitError{ExitErrors, withHint(err)}
	}
	if !d.Equal {
		err = &exitError{ExitErrors, nil}
	}
	if f.json {
		return errors.Join(sh.json(d), err)
	}
	if d.Equal {
		fmt.Fprintln(sh.Out, "the same schemas and rows")
		return nil
	}
	for _, line := range slices.Concat(d.Schemas, d.Counts) {
		fmt.Fprintln(sh.Out, line)
	}
	for _, r := range d.Rows {
		fmt.Fprintf(sh.Out, "part %s, row %d %s\n  - %s\n  + %s\n", r.Part, r.Row, strings.Join(r.Fields, ", "), strings.Join(r.Then, " | "), strings.Join(r.Now, " | "))
	}
	return err
}
