package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/storage"
)

// The ids of checks beside those of gates.
const (
	CheckRecord      = "record"       // there is none, or it lacks what is needed
	CheckActive      = "active"       // another run or replay of this root goes on
	CheckReplayed    = "replayed"     // a replay succeeded already
	CheckStart       = "start"        // the start point
	CheckDefinition  = "definition"   // the files as they are now
	CheckSecondWrite = "second-write" // a sink was written already
	CheckSideEffect  = "side-effect"  // a bypassed action has effects that are not repeated
	CheckResult      = "result"       // what a bypassed action left cannot be given back
	CheckQuick       = "quick"        // quick verification
)

const (
	runWhole    = "run it from its start: --from start"
	nothingLeft = "nothing of this execution is left to run"
	chooseStart = "choose a start point: --from"
)

// planner makes one plan.
type planner struct {
	src    *Source
	ground Ground
	o      Options
	plan   *Plan
	start  startAt
	vars   map[string]string // recorded ones that are given back, rebased to this project
	files  []string          // that were read, for the token
}

// Preflight plans a replay and judges whether it is safe. The error is for what
// cannot be judged at all; everything that speaks against the replay is a check.
func Preflight(ctx context.Context, src *Source, g Ground, o Options) (*Plan, error) {
	root := src.Root()
	if o.Definition == "" {
		o.Definition = Current
	}
	if o.Start == "" {
		o.Start = FirstFailed
	}
	o.Overrides = o.overrides()
	p := &planner{src: src, ground: g, o: o, plan: &Plan{
		Execution: root.ID, Origin: root.Origin, Kind: string(root.Kind), Start: o.Start, Definition: o.Definition,
		reuse: map[storage.ActionKey]storage.ActionRun{}, sealed: map[storage.ActionKey]*gate.SealedAction{}, only: map[engine.CallPath]map[string]bool{}, left: map[engine.CallPath]left{},
	}}
	p.plan.File = p.rebase(root.File)
	if err := p.lookElsewhere(ctx); err != nil {
		return nil, err
	}
	p.plan.source = p.src
	if err := p.checkChain(ctx); err != nil {
		return nil, err
	}
	p.variables()
	p.start = parseStart(src, o.Start)
	var err error
	switch root.Kind {
	case storage.KindWorkflow:
		err = p.workflow(ctx, "", p.plan.File, !p.start.whole)
	default:
		err = p.pipeline(ctx, "", root, modeOf(p.start))
	}
	if err != nil {
		return nil, err
	}
	if p.start.gate != "" && !p.start.found {
		p.plan.add("", gate.Check{
			ID: CheckStart, Status: gate.Block, What: fmt.Sprintf("there is no start point %q", o.Start), Do: "choose one of the start points of sluice preflight",
		})
	}
	if o.Quick && len(p.plan.bound) > 0 {
		p.plan.add("", gate.Check{ID: CheckQuick, Status: gate.Warn, What: "only the sizes of segments are compared before the start; each is hashed before its rows leave"})
	}
	p.startPoints()
	p.estimate()
	p.plan.answer(&p.o)
	p.plan.judge()
	return p.plan, p.token()
}

// checkChain looks at the other executions of the chain.
func (p *planner) checkChain(ctx context.Context) error {
	if p.src.Alive != nil {
		running, who, err := p.src.Alive(ctx)
		if err != nil {
			return fmt.Errorf("is another run of this chain active: %w", err)
		}
		told := slices.ContainsFunc(p.plan.Checks, func(c Check) bool { return c.ID == CheckActive && c.Status == gate.Block })
		if running && !told {
			p.plan.note(Check{Check: active(who), Execution: p.src.unended()})
		}
	}
	running := slices.ContainsFunc(p.plan.Checks, func(c Check) bool { return c.ID == CheckActive && c.Status == gate.Block })
	for i := range p.src.Chain {
		r := p.src.Chain[i].Root()
		switch {
		case r.ID == p.src.Root().ID:
		case r.State == storage.StateSucceeded && r.ID > p.src.Root().ID:
			p.plan.note(Check{Execution: r.ID, Check: gate.Check{
				ID: CheckReplayed, Status: gate.Warn,
				What: fmt.Sprintf("replay %s of it has succeeded already at %s", r.ID, r.Ended.UTC().Format("2006-01-02 15:04:05Z")), Do: "replay it again only when its result was lost",
			}})
		case !r.State.Ended() && !running && r.Kind == storage.KindWorkflow: // the sinks of a pipeline are known
			p.plan.note(Check{Execution: r.ID, Check: gate.Check{
				ID: CheckReplayed, Status: gate.Warn, What: fmt.Sprintf("the record of %s of the same chain ends abruptly: what it did is not fully known", whoRuns(&r.ExecutionHead)),
				Do: "look what it has written before you go on",
			}})
		}
	}
	if root := p.src.Root(); p.src.succeeded() {
		p.plan.add("", gate.Check{
			ID: CheckReplayed, Status: gate.Warn, What: fmt.Sprintf("this execution has succeeded already at %s", root.Ended.UTC().Format("2006-01-02 15:04:05Z")),
			Do: "replay it only when its result was lost",
		})
	}
	if !p.src.Ended() {
		p.plan.add("", gate.Check{ID: CheckRecord, Status: gate.Info, What: "the record ends abruptly: the process was killed"})
	}
	return nil
}

// rebase turns a path or text of the recorded project folder into one of the
// project at hand.
func (p *planner) rebase(text string) string {
	var then string
	for _, v := range p.src.Root().Variables {
		if v.Name == project.VariableProjectHome {
			then = v.Value
		}
	}
	now, _ := p.ground.Scope.Get(project.VariableProjectHome)
	if then == "" || now == "" || then == now {
		return text
	}
	return strings.ReplaceAll(text, then, now)
}

// variables decides on the values that the replay uses: those given by a person,
// else those of the record. Secrets and what is bound to a machine are those of
// the project at hand.
func (p *planner) variables() {
	p.vars = map[string]string{}
	root := p.src.Root()
	for _, v := range root.Variables {
		if gate.MachineBound(v.Name) {
			continue
		}
		current, defined := p.ground.Scope.Get(v.Name)
		u := VariableUse{Name: v.Name, Original: p.rebase(v.Value), Current: current, Secret: v.Secret}
		given, chosen := p.o.Given[v.Name]
		switch {
		case chosen:
			u.Used, u.From = given, fromGiven
		case v.Secret:
			u.Original, u.Current, u.From = "", "", fromCurrent
			if defined && p.ground.Secrets != nil && v.Value != "" && p.ground.Secrets.Sum(current) != v.Value {
				u.Original, u.Current = "changed", "changed"
			}
		default:
			u.Used, u.From = u.Original, fromRecorded
			p.vars[v.Name] = u.Used
		}
		p.plan.Variables = append(p.plan.Variables, u)
	}
	for name, value := range p.o.Given {
		if !slices.ContainsFunc(p.plan.Variables, func(u VariableUse) bool { return u.Name == name }) {
			p.plan.Variables = append(p.plan.Variables, VariableUse{Name: name, Used: value, From: fromGiven})
		}
	}
	slices.SortFunc(p.plan.Variables, func(a, b VariableUse) int { return strings.Compare(a.Name, b.Name) })
}

// given are the variables of the root run.
func (p *planner) given() map[string]string {
	out := map[string]string{}
	maps.Copy(out, p.vars)
	maps.Copy(out, p.o.Given)
	return out
}

// recorded gives the definition of an execution as it ran; nil when it was not
// kept or is damaged.
func (p *planner) recorded(ctx context.Context, e *storage.Execution) (*hopxml.Document, error) {
	if e == nil || e.Definition == "" {
		return nil, fmt.Errorf("its definition was not kept: %w", storage.ErrNotFound)
	}
	data, err := p.src.definition(ctx, e)
	if err != nil {
		return nil, err
	}
	return hopxml.Parse(e.File, data)
}

// document reads the definition that the replay uses for a file.
func (p *planner) document(ctx context.Context, file string, e *storage.Execution) (*hopxml.Document, error) {
	if p.o.Definition == Original {
		d, err := p.recorded(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("definition as run: %w", err)
		}
		if strings.Contains(string(d.Bytes()), storage.RedactedText) {
			return nil, errors.New("the definition as run has passwords, which are never recorded: use the current one")
		}
		return d.Named(file), nil
	}
	path, ok := project.LocalPath(file)
	if !ok {
		return nil, fmt.Errorf("%s is not on this machine", file)
	}
	d, err := p.ground.Pipelines.Document(path)
	if err == nil {
		p.files = append(p.files, sum(d.Bytes()))
	}
	return d, err
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// estimate adds up the steps.
func (p *planner) estimate() {
	e := &p.plan.Estimate
	for _, s := range p.plan.Steps {
		switch s.Decision {
		case Reuse:
			e.ReusedSteps++
			if s.Snapshot != "" {
				e.ReusedRows += s.Rows
				e.ReusedBytes += s.Bytes
			}
		case Run:
			e.RunSteps++
			if s.Kind == KindAction {
				if a := p.src.run(s.CallPath, s.Node, s.Ordinal); a != nil && !a.Ended.IsZero() && s.CallPath == "" {
					e.Took += a.Ended.Sub(a.Started)
				}
			}
		case Skip:
			e.SkippedSteps++
		}
	}
}

// token is a hash of everything that the plan was made from: a replay with it
// refuses to start when anything has moved since.
func (p *planner) token() error {
	digest, err := p.src.digest()
	if err != nil {
		return err
	}
	slices.Sort(p.files)
	bound := []string{}
	for _, b := range p.plan.bound {
		bound = append(bound, b.Snapshot+" "+b.Digest)
	}
	body, err := json.Marshal(map[string]any{
		"record": digest, "files": p.files, "bound": bound, "variables": p.given(), "start": p.o.Start, "definition": p.o.Definition,
		"steps": p.plan.Steps,
	})
	if err != nil {
		return err
	}
	p.plan.Token = sum(body)[:16]
	return nil
}
