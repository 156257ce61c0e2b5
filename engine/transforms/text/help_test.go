package text_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/engine/files"
	"sluice/engine/transform"
)

// store keeps files in memory; what it is not asked for goes to the local disk.
type store struct {
	files.Store
	texts map[string]string
}

func (s *store) Open(ctx context.Context, location string) (io.ReadCloser, error) {
	if t, ok := s.texts[location]; ok {
		return io.NopCloser(strings.NewReader(t)), nil
	}
	return s.Store.Open(ctx, location)
}

func (s *store) Stat(ctx context.Context, location string) (files.Info, error) {
	if t, ok := s.texts[location]; ok {
		return files.Info{Path: location, Name: location, Size: int64(len(t)), URI: "mem:" + location}, nil
	}
	return s.Store.Stat(ctx, location)
}

func (s *store) Create(_ context.Context, location string, o files.CreateOptions) (files.Writer, error) {
	w := &writer{store: s, name: location}
	if o.Append {
		w.WriteString(s.texts[location])
	}
	return w, nil
}

type writer struct {
	bytes.Buffer
	store *store
	name  string
}

func (w *writer) Commit() error {
	w.store.texts[w.name] = w.String()
	return nil
}

func (w *writer) Abort() error { return nil }

// with gives an environment hook that puts files in memory. The returned map
// shows what was written by the last run.
func with(texts map[string]string) (func(*transform.Env), *store) {
	s := &store{}
	return func(env *transform.Env) {
		s.Store, s.texts = env.Files, maps.Clone(texts)
		if s.texts == nil {
			s.texts = map[string]string{}
		}
		env.Files = s
	}, s
}

func (s *store) names() []string { return slices.Sorted(maps.Keys(s.texts)) }

func mustContain(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("want an error with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}
