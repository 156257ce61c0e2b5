package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/parquet"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/engine/workflow"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// ActionResult is what a sealed action left beside its rows and variables.
type ActionResult struct {
	OK                                                              bool
	Errors                                                          int64 `json:",omitempty"`
	Read, Written, Input, Output, Updated, Rejected, Deleted, Files int64 `json:",omitempty"`
	ExitStatus                                                      int   `json:",omitempty"`
	ResultFiles                                                     []SealedFile
	// Secrets are variables that the action has set and whose values are kept
	// nowhere.
	Secrets []string `json:",omitempty"`
}

// SealedFile is a result file as it was when the action was sealed.
type SealedFile struct {
	transform.ResultFile
	Size   int64
	SHA256 string
}

// ActionNode names a run of an action: the action, and its turn from the second
// one on.
func ActionNode(action string, ordinal int) string {
	if ordinal < 2 {
		return action
	}
	return fmt.Sprintf("%s#%d", action, ordinal)
}

// SealAction is workflow.Hooks.Succeeded: what a marked action left is sealed
// before any hop is followed. Its error fails the action.
func (s *Session) SealAction(ctx context.Context, run *workflow.ActionRun) error {
	marks, err := s.marksOf(run.Execution.Source().Workflow.Document)
	if err != nil {
		return err
	}
	g := marks.Gate(run.Action)
	if g == nil {
		return nil
	}
	if err := marks.Err(); err != nil {
		return err
	}
	c, err := g.Resolve(run.Variables)
	if err != nil {
		return err
	}
	place, err := s.o.Places.Place(ctx, c.Location)
	if err != nil {
		return explain(g.Node, nil, err)
	}
	pin, err := s.pin(place)
	if err != nil {
		return explain(g.Node, place, err)
	}
	result, err := s.resultOf(ctx, run)
	if err != nil {
		return err
	}
	table, err := actionFingerprint(run).JSON()
	if err != nil {
		return err
	}
	source := run.Execution.Source()
	sp := newSpool(c, spooling{
		kind: KindAction, node: ActionNode(run.Action, run.Ordinal()), place: place, fingerprint: table, pin: pin, alloc: s.o.Alloc,
		folder: s.o.TempFolder, log: s.o.Log, most: -1, segment: s.o.SegmentBytes, told: s.o.Told,
		origin: snapshot.Origin{
			ExecutionID: run.Execution.ID(), RootExecutionID: run.Execution.RootID(), CallPath: string(run.CallPath), Project: s.o.Project,
			File: source.Workflow.Document.Name(), Node: run.Action, AppVersion: s.o.AppVersion, EngineVersion: EngineVersion,
		},
	})
	s.mu.Lock()
	s.spools = append(s.spools, sp)
	s.mu.Unlock()
	return sp.sealAction(ctx, run.After.Rows, result)
}

// marksOf reads the marks of a workflow once.
func (s *Session) marksOf(d *hopxml.Document) (*Marks, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.marks[d]; m != nil {
		return m, nil
	}
	m, err := ReadMarks(d)
	if err != nil {
		return nil, err
	}
	if s.marks == nil {
		s.marks = map[*hopxml.Document]*Marks{}
	}
	s.marks[d] = m
	return m, nil
}

// resultOf gathers what the action left. A result file that cannot be read cannot
// be sealed.
func (s *Session) resultOf(ctx context.Context, run *workflow.ActionRun) (pipeline.Effects, error) {
	a := run.After
	r := ActionResult{
		OK: a.OK, Errors: a.Errors, Read: a.Read, Written: a.Written, Input: a.Input, Output: a.Output, Updated: a.Updated, Rejected: a.Rejected,
		Deleted: a.Deleted, Files: a.Files, ExitStatus: a.ExitStatus, ResultFiles: []SealedFile{},
	}
	store := run.Execution.Files()
	for _, f := range a.ResultFiles {
		info, err := store.Stat(ctx, f.Path)
		if err != nil {
			return pipeline.Effects{}, fmt.Errorf("seal the result file %s: %w", f.Path, err)
		}
		sum, err := files.Hash(ctx, store, f.Path)
		if err != nil {
			return pipeline.Effects{}, fmt.Errorf("seal the result file %s: %w", f.Path, err)
		}
		r.ResultFiles = append(r.ResultFiles, SealedFile{f, info.Size, sum})
	}
	e := pipeline.Effects{Variables: map[string]string{}}
	policy := secretPolicy()
	for _, name := range slices.Sorted(maps.Keys(run.Set)) {
		if policy.IsSecret(run.Execution.Scope(), name) {
			r.Secrets = append(r.Secrets, name)
			continue
		}
		e.Variables[name] = run.Set[name]
	}
	data, err := json.Marshal(r)
	e.Action = data
	return e, err
}

// sealAction spools rows that are all there: batches of one schema make a part.
func (s *Spool) sealAction(ctx context.Context, rows []*batch.Batch, e pipeline.Effects) (err error) {
	defer func() {
		if err != nil {
			_ = s.Interrupt(context.WithoutCancel(ctx), err.Error()) // err says why
		}
	}()
	var specs []pipeline.PartSpec
	part := make([]int, len(rows))
	for i, b := range rows {
		schema := parquet.EncodeSchema(b.Schema)
		if i > 0 && bytes.Equal(schema, parquet.EncodeSchema(rows[i-1].Schema)) {
			part[i] = len(specs) - 1
			continue
		}
		part[i] = len(specs)
		specs = append(specs, pipeline.PartSpec{Port: transform.Main, Copy: len(specs), Schema: b.Schema})
	}
	if err := s.Begin(ctx, specs); err != nil {
		return err
	}
	for i, b := range rows {
		if err := s.Add(ctx, part[i], b); err != nil {
			return err
		}
	}
	for k := range specs {
		if err := s.EndPart(ctx, k); err != nil {
			return err
		}
	}
	return s.Seal(ctx, e)
}

// actionFingerprint is the table of an action: its settings with variables
// replaced, where they are no secrets.
func actionFingerprint(run *workflow.ActionRun) *Fingerprint {
	n := &FingerprintNode{Type: run.Type, Settings: map[string]string{}}
	f := &Fingerprint{Version: fingerprintVersion, Node: run.Action, Nodes: map[string]*FingerprintNode{run.Action: n}}
	w := run.Execution.Source().Workflow
	a := w.Action(run.Action)
	if a == nil {
		return f
	}
	policy := secretPolicy()
	var walk func(at string, e *hopxml.Element)
	walk = func(at string, e *hopxml.Element) {
		children := e.Elements()
		if len(children) == 0 {
			if text := e.Text(); text != "" && !policy.ReadsSecret(run.Variables, text) && !policy.MatchesName(e.Name()) {
				n.Settings[at] = transform.Resolved(run.Variables, text)
			}
			return
		}
		for i, c := range children {
			switch strings.ToLower(c.Name()) {
			case "attributes", "attributes_hac", "xloc", "yloc", "description", "name", "type":
				if at == "" {
					continue
				}
			}
			walk(strings.TrimPrefix(fmt.Sprintf("%s/%d-%s", at, i, c.Name()), "/"), c)
		}
	}
	walk("", a.Element)
	return f
}

// SealedAction is a sealed result that was read back and judged.
type SealedAction struct {
	ActionResult
	Variables map[string]string
	Ref       storage.SnapshotRef
	Digest    string
	Rows      int64
	Bytes     int64
	Sealed    time.Time
	source    *Source
}

// ReadRows gives the sealed rows; the caller releases the batches.
func (a *SealedAction) ReadRows(ctx context.Context) (rows []*batch.Batch, err error) {
	for k := range a.source.Parts() {
		for b, err := range a.source.Read(ctx, k) {
			if err != nil {
				for _, b := range rows {
					b.Release()
				}
				return nil, err
			}
			rows = append(rows, b)
		}
	}
	return rows, nil
}

// JudgeAction weighs the sealed result of an action. Checks that block come with
// a nil result where it could not be read.
func (s *Session) JudgeAction(ctx context.Context, d *hopxml.Document, from Start, vars transform.Resolver, now time.Time) (*SealedAction, []Check, error) {
	marks, err := s.marksOf(d)
	if err != nil {
		return nil, nil, err
	}
	action, _, _ := strings.Cut(from.Node, "#")
	g := marks.Gate(action)
	if g == nil {
		return nil, []Check{{ID: CheckGate, Gate: action, Status: Info, What: fmt.Sprintf("%q is no gate any more; its record is used", action)}}, nil
	}
	c, err := g.Resolve(vars)
	if err != nil {
		return nil, nil, err
	}
	if from.Location != "" {
		c.Location = from.Location
	}
	place, err := s.o.Places.Place(ctx, c.Location)
	if err != nil {
		return nil, nil, explain(g.Node, nil, err)
	}
	src, err := choose(ctx, place, g.ID, from.Snapshot, s.o.Alloc)
	if err != nil {
		check := whyNot(err)
		check.Gate = action
		return nil, []Check{check}, nil
	}
	m := src.Manifest()
	list := []Check{{ID: CheckSealed, Status: OK, What: fmt.Sprintf("the result of %q is sealed: %d rows, %s", action, m.RowCount, m.Ended.UTC().Format(time.RFC3339))}}
	if from.Digest != "" && m.Digest != from.Digest {
		list = append(list, Check{ID: CheckManifest, Status: Block, What: fmt.Sprintf("the manifest of snapshot %s is not the one that was recorded", src.Ref.ID), Then: from.Digest, Now: m.Digest})
	}
	segments, err := verify(ctx, place, src.snapshot, s.o.Quick)
	if err != nil {
		return nil, nil, err
	}
	list = append(list, segments)
	list = append(list, checkRules(c, m, src.parts, now)...)
	a := &SealedAction{Ref: src.Ref, Digest: m.Digest, Rows: m.RowCount, Bytes: m.Bytes, Sealed: m.Ended, Variables: src.eff.Variables, source: src}
	if err := json.Unmarshal(src.eff.Action, &a.ActionResult); err != nil {
		list = append(list, Check{ID: CheckManifest, Status: Block, What: fmt.Sprintf("snapshot %s has no result of an action", src.Ref.ID)})
		a = nil
	}
	for i := range list {
		list[i].Gate = action
	}
	_ = refused(list, s.o.Overrides) // notes what is overridden
	return a, list, nil
}
