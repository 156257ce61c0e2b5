package recorder

import "sluice/engine/transform"

var scopeNames = map[transform.Scope]string{
	transform.ScopeParent: "parent", transform.ScopeGrandParent: "grandparent", transform.ScopeRoot: "root", transform.ScopeProcess: "process",
}

// ScopeOf is the scope that a record names (storage.Variable.Above); false when it
// names none.
func ScopeOf(name string) (transform.Scope, bool) {
	for scope, known := range scopeNames {
		if name == known {
			return scope, true
		}
	}
	return transform.ScopePipeline, false
}
