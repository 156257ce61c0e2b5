package gate

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Change is one difference between the upstream as it ran and as it is now.
type Change struct {
	Node, Setting string // the setting is empty for a whole node
	Then, Now     string
	// Moved is a difference that only warns: another host of a database, or a
	// changed secret.
	Moved bool
}

// String names node, setting and both values.
func (c Change) String() string {
	where := fmt.Sprintf("%q", c.Node)
	if c.Setting != "" {
		where += ", " + c.Setting
	}
	return fmt.Sprintf("%s: was %s, is %s", where, shown(c.Then), shown(c.Now))
}

const maxShown = 200

func shown(value string) string {
	if value == "" {
		return "not set"
	}
	if r := []rune(value); len(r) > maxShown {
		value = string(r[:maxShown]) + "…"
	}
	return fmt.Sprintf("%q", value)
}

// Diff lists what changed from then to now, by node and setting. A renamed node
// is no change. Secrets under another installation's key are not compared.
func Diff(then, now *Fingerprint) []Change {
	renamed := renames(then, now)
	var list []Change
	seen := map[string]bool{}
	for name, a := range then.Nodes {
		current := name
		if n, ok := renamed[name]; ok {
			current = n
		}
		b, found := find(now, current)
		if b == nil {
			list = append(list, Change{Node: name, Then: a.Type, Now: ""})
			continue
		}
		seen[found] = true
		list = append(list, diffNode(found, a, b, renamed)...)
	}
	for name, b := range now.Nodes {
		if !seen[name] {
			list = append(list, Change{Node: name, Then: "", Now: b.Type})
		}
	}
	list = append(list, diffTables("pipeline", then.Behaviour, now.Behaviour, nil)...)
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].Node != list[j].Node {
			return list[i].Node < list[j].Node
		}
		return list[i].Setting < list[j].Setting
	})
	return list
}

func find(f *Fingerprint, name string) (*FingerprintNode, string) {
	if n := f.Nodes[name]; n != nil {
		return n, name
	}
	for k, n := range f.Nodes {
		if strings.EqualFold(k, name) {
			return n, k
		}
	}
	return nil, ""
}

func diffNode(name string, a, b *FingerprintNode, renamed map[string]string) []Change {
	var list []Change
	if !strings.EqualFold(a.Type, b.Type) {
		return []Change{{Node: name, Setting: "type", Then: a.Type, Now: b.Type}}
	}
	if a.Semantics != b.Semantics {
		list = append(list, Change{Node: name, Setting: "version of " + a.Type, Then: fmt.Sprint(a.Semantics), Now: fmt.Sprint(b.Semantics)})
	}
	list = append(list, diffTables(name, a.Settings, b.Settings, renamed)...)
	was := make([]string, len(a.Inputs))
	for i, in := range a.Inputs {
		was[i] = renameInput(in, renamed)
	}
	if !slices.EqualFunc(was, b.Inputs, strings.EqualFold) {
		list = append(list, Change{Node: name, Setting: "hops into it", Then: strings.Join(a.Inputs, "; "), Now: strings.Join(b.Inputs, "; ")})
	}
	return list
}

func renameInput(in string, renamed map[string]string) string {
	for old, name := range renamed {
		before, after, ok := strings.Cut(in, inputSeparator+old)
		if ok && (after == "" || strings.HasPrefix(after, ", share ")) {
			return before + inputSeparator + name + after
		}
	}
	return in
}

func diffTables(node string, a, b, renamed map[string]string) []Change {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	var list []Change
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		then, now := a[k], b[k]
		if n, ok := renamed[then]; ok && n == now || then == now {
			continue
		}
		c := Change{Node: node, Setting: k, Then: then, Now: now}
		if strings.HasPrefix(then, secretPrefix) && strings.HasPrefix(now, secretPrefix) {
			if !sameKey(then, now) {
				continue
			}
			c.Then, c.Now, c.Moved = "a secret", "another secret", true
		}
		c.Moved = c.Moved || strings.HasSuffix(k, connectionHost) || strings.HasSuffix(k, connectionPort)
		list = append(list, c)
	}
	return list
}

// sameKey says whether two sums of secrets were made under one key.
func sameKey(a, b string) bool {
	x, _, _ := strings.Cut(strings.TrimPrefix(a, secretPrefix), ":")
	y, _, _ := strings.Cut(strings.TrimPrefix(b, secretPrefix), ":")
	return x == y
}

// renames pairs nodes that are only in one table and otherwise the same. What
// could be several pairs is none.
func renames(then, now *Fingerprint) map[string]string {
	pairs := map[string]string{}
	var gone, come []string
	for name := range then.Nodes {
		if n, _ := find(now, name); n == nil {
			gone = append(gone, name)
		}
	}
	for name := range now.Nodes {
		if n, _ := find(then, name); n == nil {
			come = append(come, name)
		}
	}
	for _, old := range gone {
		var fits []string
		for _, name := range come {
			a, b := then.Nodes[old], now.Nodes[name]
			if strings.EqualFold(a.Type, b.Type) && maps.Equal(a.Settings, b.Settings) && len(a.Inputs) == len(b.Inputs) {
				fits = append(fits, name)
			}
		}
		if len(fits) == 1 {
			pairs[old] = fits[0]
		}
	}
	taken := map[string]int{}
	for _, name := range pairs {
		taken[name]++
	}
	maps.DeleteFunc(pairs, func(_, name string) bool { return taken[name] > 1 })
	return pairs
}
