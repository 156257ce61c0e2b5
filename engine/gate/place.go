package gate

import (
	"context"

	"sluice/storage"
	"sluice/storage/snapshot"
)

// Place is an opened location of snapshots.
type Place struct {
	Location storage.Location
	Remote   storage.Remote
	Store    *snapshot.Store
	// Cache is what the store writes segments through to; nil when it has none.
	Cache *snapshot.Cache
}

// Places opens locations as a person wrote them, variables replaced; an empty
// text is the default location of this user.
type Places interface {
	Place(ctx context.Context, location string) (*Place, error)
}

// freeSpace gives the bytes that may still be written, -1 where nobody knows. A
// remote that cannot tell is no obstacle: the put will.
func (p *Place) freeSpace(ctx context.Context) int64 {
	r, ok := p.Remote.(storage.SpaceReporter)
	if !ok {
		return -1
	}
	n, err := r.FreeSpace(ctx)
	if err != nil {
		return -1
	}
	return n
}

// Kind says what a snapshot stands for. Only a gate's can be replayed.
type Kind string

// The kinds of snapshots.
const (
	KindGate   Kind = "gate"   // rows of a transform
	KindAction Kind = "action" // what an action left
	KindCache  Kind = "dev-cache"
	KindSafe   Kind = "safe"
)
