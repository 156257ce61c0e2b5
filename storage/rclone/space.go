package rclone

import (
	"context"
	"errors"
	"fmt"
	"path"

	"sluice/storage"
)

// FreeSpace asks the backend about the nearest folder that exists, as a
// location is often made by its first object.
func (r *Remote) FreeSpace(ctx context.Context) (int64, error) {
	for at := r; ; {
		free, err := at.freeSpace(ctx)
		if !errors.Is(err, storage.ErrNotFound) {
			return free, err
		}
		up, err := at.place.parent(ctx)
		if err != nil {
			return 0, err
		}
		at = &Remote{place: up, limits: r.limits, backoff: r.backoff}
	}
}

// freeSpace is ErrNotFound where the backend knows only about folders that
// exist, and this one does not.
func (r *Remote) freeSpace(ctx context.Context) (int64, error) {
	about := r.place.fs.Features().About
	if about == nil {
		return 0, fmt.Errorf("free space: %w", errors.ErrUnsupported)
	}
	var free int64
	err := r.retry(ctx, "free space", "", func(ctx context.Context, _ int) error {
		usage, err := about(ctx)
		switch {
		case err != nil:
			return err
		case usage.Free == nil:
			return errors.ErrUnsupported
		}
		free = *usage.Free
		return nil
	})
	return free, err
}

// parent is the place one folder up. ErrUnsupported at the root.
func (p *place) parent(ctx context.Context) (*place, error) {
	up := p.location
	up.Path = path.Dir(up.Path)
	if up.Path == "." {
		up.Path = ""
	}
	if up.Path == p.location.Path {
		return nil, fmt.Errorf("free space of %s: %w", p.where, errors.ErrUnsupported)
	}
	return p.client.place(ctx, up)
}
