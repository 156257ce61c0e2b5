package recorder

import (
	"context"
	"time"

	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/storage"
)

// fileSum is the hash of a file as it was at a time.
type fileSum struct {
	size     int64
	modified time.Time
	sum      string
}

// files gives result files with their size and hash. A file that is gone by now
// has none: a replay says so before it relies on it.
func (r *Recorder) files(ctx context.Context, store files.Store, list []transform.ResultFile) []storage.ResultFile {
	var out []storage.ResultFile
	for _, f := range list {
		rf := storage.ResultFile{Path: f.Path, Type: f.Type, Origin: f.Origin, Parent: f.Parent, Comment: f.Comment, Modified: f.Timestamp}
		if s, err := r.sumOf(ctx, store, f.Path); err == nil {
			rf.Size, rf.SHA256 = s.size, s.sum
		}
		out = append(out, rf)
	}
	return out
}

// sumOf hashes a file, unless it is as it was when it was hashed before.
func (r *Recorder) sumOf(ctx context.Context, store files.Store, path string) (fileSum, error) {
	info, err := store.Stat(ctx, path)
	if err != nil {
		return fileSum{}, err
	}
	r.mu.Lock()
	s, ok := r.sums[path]
	r.mu.Unlock()
	if ok && s.size == info.Size && s.modified.Equal(info.ModTime) {
		return s, nil
	}
	s = fileSum{size: info.Size, modified: info.ModTime}
	if s.sum, err = files.Hash(ctx, store, path); err != nil {
		return s, err
	}
	r.mu.Lock()
	r.sums[path] = s
	r.mu.Unlock()
	return s, nil
}
