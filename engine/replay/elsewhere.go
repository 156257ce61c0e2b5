package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/record"
)

// lookElsewhere adds the executions of the chain that ran on other machines: the
// locations of its snapshots know them. What is at hand already is taken from
// there. A location that cannot be asked blocks, since nobody knows what was done.
func (p *planner) lookElsewhere(ctx context.Context) error {
	locations := map[string]bool{}
	for _, r := range p.src.Chain {
		for _, l := range r.Snapshots {
			locations[l.Location] = true
		}
	}
	src := *p.src
	src.Chain, src.elsewhere = slices.Clone(src.Chain), map[string]*record.Loaded{}
	for _, location := range slices.Sorted(maps.Keys(locations)) {
		remote, err := p.ground.Session(gate.SessionOptions{}).Remote(ctx, location)
		if err == nil {
			err = p.addChain(ctx, &src, remote)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			p.plan.add("", gate.Check{
				ID: CheckRecord, Status: gate.Block, What: fmt.Sprintf("whether another machine has replayed it is not known: %v", err),
				Do: "make the location reachable: " + location,
			})
		}
	}
	slices.SortFunc(src.Chain, func(a, b record.Record) int { return strings.Compare(a.Root().ID, b.Root().ID) })
	p.src = &src
	return nil
}

func (p *planner) addChain(ctx context.Context, src *Source, remote storage.Remote) error {
	life, execution, list, err := p.lookAndLoad(ctx, src, remote)
	if err != nil {
		return err
	}
	who := execution
	if who == "" {
		who = "an execution whose heartbeat cannot be read" // torn
	}
	for _, l := range list {
		id := l.Root().ID
		if id == execution {
			who = whoRuns(&l.Root().ExecutionHead)
		}
		switch known := src.byRoot(id); {
		case known == nil:
			src.Chain = append(src.Chain, l.Record)
			src.elsewhere[id] = l
		case !src.local && !known.Ended() && l.Ended() && id != src.Root().ID:
			*known = l.Record // it has ended since it was read
		}
	}
	// What the store of this machine knows to run was told by it.
	known := src.byRoot(execution)
	told := known != nil && src.elsewhere[execution] == nil
	switch {
	case life == record.Alive && !(told && src.local):
		p.plan.note(Check{Check: active(who), Execution: execution})
	case told:
	case life == record.Unknown && (known == nil || !known.Ended()):
		p.plan.add("", gate.Check{ID: CheckActive, Status: gate.Info, What: who + " may be active: the start waits until that is known"})
	}
	return nil
}

// looks bounds how often a chain is looked at that changes meanwhile.
const looks = 4

// lookAndLoad tells whether the chain goes on, and then reads its records: what has
// ended by then is in them. When a replay began in between, or its record does not
// have the end yet that its lease tells of, both are looked at once more.
func (p *planner) lookAndLoad(ctx context.Context, src *Source, remote storage.Remote) (life record.Life, execution string, list []*record.Loaded, err error) {
	origin := src.Root().Origin
	for n := 1; ; n++ {
		if life, execution, err = record.Look(ctx, remote, origin); err != nil {
			return life, execution, nil, err
		}
		list, err = record.Load(ctx, remote, p.ground.Records, origin)
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // it may have been removed
			return life, execution, nil, err
		}
		began := slices.ContainsFunc(list, func(l *record.Loaded) bool {
			r := l.Root()
			told := src.byRoot(r.ID) != nil && src.local
			return !r.State.Ended() && (r.ID != execution || life == record.Ended) && r.ID != src.Root().ID && !told
		})
		if n == looks || !began {
			return life, execution, list, nil
		}
	}
}

func active(who string) gate.Check {
	return gate.Check{ID: CheckActive, Status: gate.Block, What: "another run or replay of this execution is active: " + who, Do: "wait for its end, or stop it"}
}
