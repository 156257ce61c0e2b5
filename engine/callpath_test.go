package engine_test

import (
	"testing"

	"sluice/engine"
)

func TestCallPathNamesChildren(t *testing.T) {
	root := engine.CallPath("")
	for _, c := range []struct {
		name   string
		path   engine.CallPath
		want   engine.CallPath
		parent engine.CallPath
	}{
		{"first child", root.Child("Load", 1, 1), "Load#1", ""},
		{"second turn", root.Child("Load", 2, 1), "Load#2", ""},
		{"third child of a turn", root.Child("Load", 2, 3), "Load#2:3", ""},
		{"grandchild", root.Child("Load", 1, 1).Child("Orders", 4, 2), "Load#1/Orders#4:2", "Load#1"},
		{"separators in names", root.Child("a/b%2F", 1, 1), "a%2Fb%252F#1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.path != c.want || c.path.Parent() != c.parent {
				t.Errorf("path %q below %q; want %q below %q", c.path, c.path.Parent(), c.want, c.parent)
			}
		})
	}
}

func TestCallPathUnder(t *testing.T) {
	for _, c := range []struct {
		path, other engine.CallPath
		want        bool
	}{
		{"A#1/B#1", "", true},
		{"A#1/B#1", "A#1", true},
		{"A#1", "A#1", true},
		{"A#10", "A#1", false},
		{"", "A#1", false},
	} {
		if got := c.path.Under(c.other); got != c.want {
			t.Errorf("%q under %q: %v, want %v", c.path, c.other, got, c.want)
		}
	}
}

func TestCallPathNamesTheNodeThatStartedIt(t *testing.T) {
	for _, name := range []string{"Load orders", "a/b", "100 %", "#1", "x#2:3"} {
		if got := engine.CallPath("Outer#1").Child(name, 2, 3).Node(); got != name {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := engine.CallPath("").Node(); got != "" {
		t.Errorf("the root: %q", got)
	}
}
