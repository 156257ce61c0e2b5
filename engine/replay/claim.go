package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/record"
)

// claims are the remotes at which the replay is claimed: all that any execution of
// the chain has used, so that replays of different ones of them meet.
func (r *Replay) claims(ctx context.Context) ([]storage.Remote, error) {
	seen := map[string]bool{}
	for _, l := range r.Source.Snapshots {
		seen[l.Location] = true
	}
	list := slices.Clone(r.Claims)
	for _, rec := range r.Plan.source.Chain {
		for _, l := range rec.Snapshots {
			if seen[l.Location] {
				continue
			}
			seen[l.Location] = true
			remote, err := r.Ground.Session(gate.SessionOptions{}).Remote(ctx, l.Location)
			if err != nil {
				return nil, fmt.Errorf("claim the replay at %s: %w", l.Location, err)
			}
			list = append(list, remote)
		}
	}
	return list, nil
}

// claim takes the right to replay at one location. A claim whose owner was killed
// is removed once it stood still for ten of its heartbeats; where the location has
// locks that is known at once.
func (r *Replay) claim(ctx context.Context, remote storage.Remote, origin, id string) (*record.Claim, error) {
	c, err := record.TakeClaim(ctx, remote, r.Claiming, origin, id)
	other, claimed := errors.AsType[*record.ClaimedError](err)
	if err == nil || !claimed {
		return c, err
	}
	if log := r.Claiming.Logger; log != nil {
		log.Info("Watching whether the other replay still lives, for ten of its heartbeats at most", "execution_id", other.Execution, "host", other.Host, "pid", other.PID)
	}
	broken, werr := record.BreakDead(ctx, remote, r.Claiming, origin)
	if werr != nil {
		return nil, errors.Join(err, fmt.Errorf("does the other replay still live: %w", werr))
	}
	if len(broken) == 0 {
		return nil, err
	}
	return record.TakeClaim(ctx, remote, r.Claiming, origin, id)
}
