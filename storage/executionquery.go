package storage

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ExecutionQuery filters a list. Zero fields do not filter. The newest come
// first.
type ExecutionQuery struct {
	States    []State
	Kinds     []ExecutionKind
	Name      string    // part of the name or file, letter case ignored (A-Z)
	IDPrefix  string    // as NormalizeIDPrefix reads it
	From, To  time.Time // created in [From, To)
	RootsOnly bool
	Origin    string // executions of one chain of replays
	// After is the Next of the page before, "" for the first page.
	After string
	Limit int // executions per page; 0 is DefaultPageSize, at most MaxPageSize
}

// Page sizes.
const (
	DefaultPageSize = 200
	MaxPageSize     = 100_000
)

// PageSize is the limit that counts.
func PageSize(limit int) int {
	if limit <= 0 {
		return DefaultPageSize
	}
	return min(limit, MaxPageSize)
}

// ExecutionPage is one page of a list. Next is "" on the last one.
type ExecutionPage struct {
	Executions []ExecutionHead
	Next       string
}

// Matches tells whether an execution is in the list; After and Limit are the
// caller's business. The id prefix must be normalised.
func (q *ExecutionQuery) Matches(h *ExecutionHead) bool {
	low, high := IDRange(q.From, q.To)
	switch {
	case len(q.States) > 0 && !slices.Contains(q.States, h.State),
		len(q.Kinds) > 0 && !slices.Contains(q.Kinds, h.Kind),
		!strings.HasPrefix(h.ID, q.IDPrefix),
		q.RootsOnly && h.Parent != "",
		q.Origin != "" && h.Origin != q.Origin,
		low != "" && h.ID < low,
		high != "" && h.ID >= high:
		return false
	}
	name := asciiLower(q.Name)
	return name == "" || strings.Contains(asciiLower(h.Name), name) || strings.Contains(asciiLower(h.File), name)
}

// asciiLower is what SQLite's LIKE and lower() do.
func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func containsFold(text, part string) bool {
	return part == "" || strings.Contains(asciiLower(text), asciiLower(part))
}

// OnlyID gives the one id that a shortened one fits; candidates are those that
// it fits, a few are enough. ErrNotFound, or ErrAmbiguous with examples.
func OnlyID(prefix string, candidates []string) (string, error) {
	switch len(candidates) {
	case 0:
		return "", fmt.Errorf("execution %s: %w", prefix, ErrNotFound)
	case 1:
		return candidates[0], nil
	}
	return "", fmt.Errorf("execution %s: %w: %s", prefix, ErrAmbiguous, strings.Join(candidates, ", "))
}
