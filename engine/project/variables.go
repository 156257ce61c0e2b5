package project

import (
	"maps"
	"slices"
	"sync"
)

// Variables is one flat scope of variables. Make one with [NewVariables] or as
// the [Variables.Child] of another. All methods are safe for concurrent use,
// because a transform may set variables while others resolve their settings.
type Variables struct {
	mu       sync.RWMutex
	values   map[string]string
	secrets  map[string]bool // names whose value was a decoded password
	resolver Resolver
}

// Resolver looks up the value that stands for #{name:path}. Found is false
// when it has none; the text then stays as it is. The scope is the one that is
// being resolved; a resolver may read it and resolve texts with it.
type Resolver func(scope *Variables, name, path string) (value string, found bool, err error)

// NewVariables returns an empty scope. [SystemVariables] gives the content
// that Hop puts under every scope.
func NewVariables() *Variables {
	return &Variables{values: map[string]string{}, secrets: map[string]bool{}}
}

// Child returns a copy: later changes of either scope do not reach the other,
// as in Hop. The copy uses the same resolver.
func (v *Variables) Child() *Variables {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return &Variables{
		values:   maps.Clone(v.values),
		secrets:  maps.Clone(v.secrets),
		resolver: v.resolver,
	}
}

// Get returns the value of a variable and whether it is defined. Names are
// case-sensitive; a defined variable may be empty.
func (v *Variables) Get(name string) (string, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	value, ok := v.values[name]
	return value, ok
}

// Set defines a variable. An empty name is ignored, as in Hop.
func (v *Variables) Set(name, value string) {
	if name == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[name] = value
	delete(v.secrets, name)
}

// SetSecret defines a variable and marks its value as secret, whatever its
// name; see [SecretPolicy]. Setting it again with Set takes the mark away.
func (v *Variables) SetSecret(name string, value Secret) {
	if name == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[name] = value.Reveal()
	v.secrets[name] = true
}

// SetAll defines every variable of the map at one instant: no reader sees
// half of it. Empty names are ignored.
func (v *Variables) SetAll(values map[string]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, value := range values {
		if name != "" {
			v.values[name] = value
			delete(v.secrets, name)
		}
	}
}

// Unset removes a variable; Hop does the same when a variable is set to null.
func (v *Variables) Unset(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.values, name)
	delete(v.secrets, name)
}

// Names returns the defined names in ascending byte order.
func (v *Variables) Names() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.Sorted(maps.Keys(v.values))
}

// All returns a copy that belongs to the caller. It holds secrets in clear.
func (v *Variables) All() map[string]string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return maps.Clone(v.values)
}

// SetResolver installs what answers #{name:path} in this scope and in the
// children made from now on. Nil leaves such texts as they are.
func (v *Variables) SetResolver(resolver Resolver) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.resolver = resolver
}

func (v *Variables) markedSecret(name string) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.secrets[name]
}
