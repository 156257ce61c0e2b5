package transform

import (
	"fmt"
	"slices"
	"strings"
)

// Registry finds definitions by type id. It is immutable and safe to share.
type Registry struct {
	list []Definition
	byID map[string]int
}

// NewRegistry joins families. Two definitions with one id are an error of the
// program and panic.
func NewRegistry(families ...[]Definition) *Registry {
	r := &Registry{byID: map[string]int{}}
	for _, d := range slices.Concat(families...) {
		for _, id := range append([]string{d.ID}, d.Aliases...) {
			key := strings.ToLower(id)
			if _, taken := r.byID[key]; taken {
				panic(fmt.Sprintf("transform: type id %s is defined twice", id))
			}
			r.byID[key] = len(r.list)
		}
		r.list = append(r.list, d)
	}
	return r
}

// Find gives the definition of a type id; case does not matter.
func (r *Registry) Find(id string) (Definition, bool) {
	i, ok := r.byID[strings.ToLower(strings.TrimSpace(id))]
	if !ok {
		return Definition{}, false
	}
	return r.list[i], true
}

// All lists the definitions in family order.
func (r *Registry) All() []Definition { return slices.Clone(r.list) }
