//go:build !headless

package desktop

import (
	"context"
	"strings"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/pipeline"
	"sluice/engine/project"
)

// defaultCacheRows is what the dialog proposes.
const defaultCacheRows = "10000"

// askCache asks how many rows of the selected transform are cached for development.
func (e *editor) askCache() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	if !e.file.IsPipeline() {
		e.d.frame.note("The output of transforms can be cached; workflows have none")
		return
	}
	value := defaultCacheRows
	if rows, cached := e.file.CacheOf(name); cached {
		value = "all"
		if rows > 0 {
			value = presenter.Grouped(rows)
		}
	}
	rows := func(s string) (int64, bool) {
		if strings.EqualFold(strings.TrimSpace(s), "all") {
			return 0, true
		}
		n, err := project.ParseLong(strings.ReplaceAll(strings.TrimSpace(s), ",", ""))
		return n, err == nil && n > 0
	}
	check := func(s string) string {
		if _, ok := rows(s); !ok {
			return "Give a number of rows, or all"
		}
		return ""
	}
	e.d.input("Cache output of "+name+" (development)", "Rows to keep, or all. Run from cache then leaves out what is above. Never used by a replay.", value, "Cache", check, func(s string) {
		n, _ := rows(s)
		if e.try("cache output", e.file.MarkCache(name, n)) {
			e.d.frame.note("The next run caches the output of " + name)
			e.d.event("cache marked %s", name)
		}
	})
}

// removeCache ends the caching of the selected transform.
func (e *editor) removeCache() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	if _, cached := e.file.CacheOf(name); !cached {
		e.d.frame.note("The output of " + name + " is not cached")
		return
	}
	if e.try("stop caching", e.file.UnmarkCache(name)) {
		e.d.event("cache unmarked %s", name)
	}
}

// runFromCache runs with the cached outputs that are not stale.
func (e *editor) runFromCache() {
	switch v := e.runView(); {
	case v != nil && v.State.Active():
	case !e.file.HasCaches():
		e.d.frame.note("Nothing is cached in this pipeline: select a transform and choose Cache output")
	default:
		o := e.options
		o.FromCache = true
		e.run(o, pipeline.Run{}, nil)
	}
}

// clearCache removes the cached rows of the selected transform.
func (e *editor) clearCache() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	v, ok := e.file.Gates().Cache(name)
	if !ok || v.State == "" {
		e.d.frame.note("Nothing of " + name + " is cached")
		return
	}
	open := e.d.workspace(e.file.Path(), e.home)
	background(e.d, func() (int64, error) {
		ws, err := open(nil, "")
		if err != nil {
			return 0, err
		}
		return presenter.ClearCache(context.Background(), ws, v)
	}, func(n int64, err error) {
		if err != nil {
			e.d.fail("Clear the cache of "+name, err)
			return
		}
		e.d.frame.note("Cleared: " + workspace.FormatBytes(n))
		e.d.event("cache cleared %s", name)
		e.lookAtGates(0)
	})
}
