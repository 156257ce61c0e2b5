package presenter

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/app/workspace"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// RemoteContents are the snapshots at a location.
type RemoteContents struct {
	Gates []GateContents // the one with the newest snapshot first
	More  int            // gates that are not listed
	Bytes int64          // of what is listed
}

// GateContents are the snapshots of one gate.
type GateContents struct {
	ID     string
	Title  string // "orders / 9f3a1c22b7e0"
	Count  int
	Newest []snapshot.Summary // newest first, at most maxNewest
}

const (
	maxContentGates = 20
	maxNewest       = 3
)

// ListContents lists the snapshots at a location. It reads the remote.
func ListContents(ctx context.Context, p *workspace.Places, where string) (*RemoteContents, error) {
	place, err := p.Place(ctx, where)
	if err != nil {
		return nil, err
	}
	gates, err := place.Store.Gates(ctx)
	if err != nil {
		return nil, err
	}
	out := &RemoteContents{More: max(0, len(gates)-maxContentGates)}
	for _, id := range gates[:min(len(gates), maxContentGates)] {
		list, err := place.Store.List(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			continue
		}
		for _, s := range list {
			out.Bytes += s.Stored
		}
		out.Gates = append(out.Gates, GateContents{ID: id, Title: gateTitle(id, list), Count: len(list), Newest: list[:min(len(list), maxNewest)]})
	}
	slices.SortStableFunc(out.Gates, func(a, b GateContents) int { return cmp.Compare(b.Newest[0].Ref.ID, a.Newest[0].Ref.ID) })
	return out, nil
}

// Newest is the newest snapshot of a gate; false when it has none here.
func (c *RemoteContents) Newest(gate string) (snapshot.Summary, bool) {
	for _, g := range c.Gates {
		if g.ID == gate {
			return g.Newest[0], true
		}
	}
	return snapshot.Summary{}, false
}

// gateTitle names a gate by the file that sealed last, its node and its id.
func gateTitle(id string, list []snapshot.Summary) string {
	for _, s := range list {
		if s.Origin.File != "" {
			file := filepath.Base(filepath.ToSlash(s.Origin.File))
			return strings.TrimSuffix(file, filepath.Ext(file)) + " / " + cmp.Or(s.Origin.Node, id)
		}
	}
	return id
}

// SealedWhen is when a snapshot was sealed, else how it stands.
func SealedWhen(s snapshot.Summary, now time.Time) string {
	switch s.State {
	case storage.SnapshotSealed:
		return When(s.Ended, now)
	case storage.SnapshotOpen:
		return "being written"
	case storage.SnapshotPruned:
		return "removed"
	}
	return "never"
}
