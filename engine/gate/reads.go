package gate

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"sluice/engine/project"
	"sluice/storage/snapshot"
)

// scriptReads finds variables that scripts ask for by name.
var scriptReads = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:getVariable|getEnvironmentVar|getParameterValue)\s*\(\s*["']([^"']+)["']`)
})

// variables lists what the upstream of a node reads, values as they are now:
// secrets only as sums, machine-bound ones and those without a value not at all.
func (s *scene) variables(node string) []snapshot.Variable {
	vars := s.p.Options.Vars
	names, expressions := map[string]bool{}, map[string]bool{}
	for _, n := range Upstream(s.p.Graph, node) {
		s.node(n)
		for _, text := range s.texts[strings.ToLower(n.Name)] {
			s.read(text, names, expressions)
		}
	}
	var list []snapshot.Variable
	for name := range names {
		value, defined := vars.Get(name)
		switch {
		case !defined || MachineBound(name):
		case s.policy.IsSecret(vars, name):
			list = append(list, snapshot.Variable{Name: name, Secret: s.secrets.Sum(value)})
		default:
			resolved, err := s.scope.Resolve(value)
			if err != nil {
				resolved = value
			}
			list = append(list, snapshot.Variable{Name: name, Value: s.portable(resolved)})
		}
	}
	// What a resolver answers may be anything, so it is kept like a secret.
	for e := range expressions {
		text := "#{" + e + "}"
		if value, err := vars.Resolve(text); err == nil && value != text {
			list = append(list, snapshot.Variable{Name: text, Secret: s.secrets.Sum(value)})
		}
	}
	slices.SortFunc(list, func(a, b snapshot.Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (s *scene) read(text string, names, expressions map[string]bool) {
	found, err := s.p.Options.Vars.Reads(text)
	if err == nil {
		for _, n := range found {
			names[n] = true
			if value, ok := s.p.Options.Vars.Get(n); ok {
				for _, e := range project.ResolverReferences(value) {
					expressions[e] = true
				}
			}
		}
	}
	for _, m := range scriptReads().FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	for _, e := range project.ResolverReferences(text) {
		expressions[e] = true
	}
}

// secretPolicy recognises secrets by the usual names.
var secretPolicy = sync.OnceValue(func() *project.SecretPolicy { return project.NewSecretPolicy(project.DefaultSecretPatterns()) })
