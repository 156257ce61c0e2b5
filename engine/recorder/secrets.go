package recorder

import (
	"regexp"
	"slices"
	"sync"

	"sluice/engine/project"
	"sluice/storage"
)

// variable gives a variable as it may be stored: a secret only as its sum. Its
// value is taken out of every text from now on.
func (r *Recorder) variable(scope *project.Variables, name, value string) storage.Variable {
	v := storage.Variable{Name: name, Value: value}
	if !r.policy.IsSecret(scope, name) && !project.IsEncodedPassword(value) {
		return v
	}
	v.Secret = true
	if value == "" {
		return v
	}
	r.o.Values.Add(value)
	if clear, err := project.DecodePassword(value, project.PasswordKeys{}); err == nil {
		r.o.Values.Add(clear.Reveal())
	}
	v.Value = r.o.Secrets.Sum(value)
	return v
}

func (r *Recorder) variables(scope *project.Variables) []storage.Variable {
	list := make([]storage.Variable, 0, 64)
	all := scope.All()
	for _, name := range scope.Names() {
		list = append(list, r.variable(scope, name, all[name]))
	}
	return list
}

func (r *Recorder) parameters(scope *project.Variables, declared []project.Parameter) []storage.Variable {
	var list []storage.Variable
	for _, p := range declared {
		if value, ok := scope.Get(p.Name); ok {
			list = append(list, r.variable(scope, p.Name, value))
		}
	}
	return list
}

// secretElement finds passwords in a definition: encoded ones anywhere, and the
// text of elements whose name says so, unless it is a variable.
var secretElement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(<[a-z_]*(?:password|passwd|passphrase|secret|token|api_?key)[a-z_]*>)([^<$]+)(</)`)
})

var encodedPassword = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(Encrypted |AES2 )[0-9A-Za-z+/=]{8,}`)
})

// flagText are values of such elements that are no secrets.
var flagText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i)(y|n|true|false|\s*|encrypted\s*)$`)
})

// secretMember does the same for JSON.
var secretMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)("[a-z_]*(?:password|passwd|passphrase|secret|token|api_?key)[a-z_]*"\s*:\s*")([^"$]+)(")`)
})

// WithoutSecrets is a definition, or a metadata file, with its passwords taken
// out.
func WithoutSecrets(definition []byte) []byte {
	out := encodedPassword().ReplaceAll(definition, []byte("${1}"+storage.RedactedText))
	for _, pattern := range []*regexp.Regexp{secretElement(), secretMember()} {
		out = pattern.ReplaceAllFunc(out, func(m []byte) []byte {
			parts := pattern.FindSubmatch(m)
			if flagText().Match(parts[2]) {
				return m
			}
			return slices.Concat(parts[1], []byte(storage.RedactedText), parts[3])
		})
	}
	return out
}
