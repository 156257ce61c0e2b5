package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// RetentionPolicy says which records may go. The unit is a root execution with
// all its children. A limit of 0 is no limit; with no limit nothing goes.
type RetentionPolicy struct {
	MaxAge  time.Duration // since the end
	Count   int           // newest roots that stay, of all
	PerName int           // newest roots that stay per kind, file and name
	// Roots, when not empty, names the roots that go, whatever their age.
	Roots []string
	// Needed tells why a root must stay although it could go ("" lets it go):
	// its snapshots are still needed. It is asked for the plan and once more
	// before the removal. Nil keeps nothing.
	Needed func(root ExecutionHead) (why string, err error)
}

// ExecutionRetention removes old records: a plan that can be printed, then its
// execution. A dry run is the plan alone.
type ExecutionRetention interface {
	PlanRetention(ctx context.Context, p RetentionPolicy) (RetentionPlan, error)
	// Remove does what the plan says, in small steps, and checks each root once
	// more. What it has removed by then is counted even when it fails; the next
	// Remove continues.
	Remove(ctx context.Context, plan RetentionPlan) (Removed, error)
}

// RetentionPlan is what retention would do.
type RetentionPlan struct {
	Remove []RetentionItem // newest first, so that a replay goes before what it replays
	Keep   []RetentionItem // roots that the limits would remove, and why they stay
	needed func(root ExecutionHead) (string, error)
}

// RetentionItem is one root execution with the reason.
type RetentionItem struct {
	ExecutionHead
	Why string
}

func (i RetentionItem) String() string {
	return fmt.Sprintf("%s %s %s: %s", i.ID, i.State, i.Name, i.Why)
}

// Removed counts what Remove has done.
type Removed struct {
	Executions, LogEntries int64
	// Kept are roots of the plan that became needed in between.
	Kept []RetentionItem
}

// Needs asks the plan's predicate once more.
func (p *RetentionPlan) Needs(root ExecutionHead) (string, error) {
	if p.needed == nil {
		return "", nil
	}
	return p.needed(root)
}

// PlanRemoval decides from all roots that a store has, and those of them that
// have an execution in their tree which has not ended. It is pure but for the
// policy's predicate.
func PlanRemoval(roots []ExecutionHead, live map[string]bool, p RetentionPolicy, now time.Time) (RetentionPlan, error) {
	roots = slices.Clone(roots)
	slices.SortFunc(roots, func(a, b ExecutionHead) int { return strings.Compare(b.ID, a.ID) })
	plan := RetentionPlan{needed: p.Needed}
	neededBy := map[string]string{} // replayed root → kept replay
	perName := map[string]int{}
	// Newest first, so a replay is decided before what it replays.
	for i, h := range roots {
		key := string(h.Kind) + "\x00" + h.File + "\x00" + h.Name
		perName[key]++
		why := p.exceeds(&h, i, perName[key], now)
		stay := ""
		if why != "" {
			var err error
			if stay, err = p.stays(h, live, neededBy); err != nil {
				return RetentionPlan{}, fmt.Errorf("execution %s: is it still needed: %w", h.ID, err)
			}
		}
		if why != "" && stay == "" {
			plan.Remove = append(plan.Remove, RetentionItem{h, why})
			continue
		}
		if why != "" {
			plan.Keep = append(plan.Keep, RetentionItem{h, stay})
		}
		if h.ReplayOf != "" {
			neededBy[h.ReplayOf] = h.ID
		}
	}
	return plan, nil
}

func (p *RetentionPolicy) exceeds(h *ExecutionHead, rank, rankOfName int, now time.Time) string {
	switch {
	case len(p.Roots) > 0:
		if slices.Contains(p.Roots, h.ID) {
			return "named for removal"
		}
	case p.MaxAge > 0 && !h.Ended.IsZero() && now.Sub(h.Ended) > p.MaxAge:
		return fmt.Sprintf("ended %s ago, more than %s", now.Sub(h.Ended).Round(time.Second), p.MaxAge)
	case p.Count > 0 && rank >= p.Count:
		return fmt.Sprintf("beyond the newest %d", p.Count)
	case p.PerName > 0 && rankOfName > p.PerName:
		return fmt.Sprintf("beyond the newest %d of %s", p.PerName, h.Name)
	}
	return ""
}

func (p *RetentionPolicy) stays(h ExecutionHead, live map[string]bool, neededBy map[string]string) (string, error) {
	switch {
	case !h.State.Ended() || live[h.ID]:
		return "has not ended", nil
	case neededBy[h.ID] != "":
		return "replayed by " + neededBy[h.ID] + ", which is kept", nil
	case p.Needed != nil:
		return p.Needed(h)
	}
	return "", nil
}
