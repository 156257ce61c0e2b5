package app

import (
	"slices"
	"testing"
)

func TestWhatOpensTheDesktop(t *testing.T) {
	for _, c := range []struct {
		args  []string
		opens bool
	}{
		{nil, true},
		{[]string{"a.hpl"}, true},
		{[]string{"dir/A.HWF", "b.hpl"}, true},
		{[]string{"run", "a.hpl"}, false},
		{[]string{"a.hpl", "--json"}, false},
		{[]string{"--help"}, false},
		{[]string{"hpl"}, false},
	} {
		files, ok := designed(c.args)
		if ok != c.opens || ok && !slices.Equal(files, c.args) {
			t.Errorf("%q: %q, %v", c.args, files, ok)
		}
	}
}
