package project

import (
	"errors"
	"fmt"
	"strings"
)

// Resolver answers #{name:path} with the variable-resolver object of that
// name. The kind HopPassword (it decodes a password, given as it is or as the
// name of a variable) is built in; other kinds go to others, which may be nil:
// then, and for unknown names, the text stays as it is, as in Hop.
func (m *Metadata) Resolver(others func(scope *Variables, resolver *Object, kind, path string) (value string, found bool, err error)) Resolver {
	return func(scope *Variables, name, path string) (string, bool, error) {
		object, err := m.Load(TypeVariableResolver, name)
		if errors.Is(err, ErrNotFound) {
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
		kinds := object.Root().Get("variable-resolver").Members()
		if len(kinds) == 0 {
			return "", false, object.problemf(nil, "the resolver has no kind under \"variable-resolver\"")
		}
		if kinds[0].Key == "HopPassword" {
			return resolveHopPassword(scope, object, path)
		}
		if others == nil {
			return "", false, nil
		}
		return others(scope, object, kinds[0].Key, path)
	}
}

func resolveHopPassword(scope *Variables, object *Object, argument string) (string, bool, error) {
	// Hop reads an absent boolean of a metadata object as false.
	settings := object.Root().Get("variable-resolver").Get("HopPassword")
	text := argument
	if settings.Get("resolveAsVariable").Bool(false) && argument != "" {
		name := strings.TrimSpace(argument)
		value, defined := scope.Get(name)
		if !defined {
			if settings.Get("failIfVariableNotDefined").Bool(false) {
				return "", false, fmt.Errorf("password variable %q is not defined; set it in the environment or the project", name)
			}
			return "", false, nil
		}
		text = value
	}
	keys, err := PasswordKeysOf(scope)
	if err != nil {
		return "", false, err
	}
	secret, err := DecodePassword(text, keys)
	return secret.Reveal(), err == nil, err
}
