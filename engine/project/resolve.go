package project

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/engine/project/jsondoc"
)

// token is one way to write a reference: everything between open and the next
// close is the name.
type token struct{ open, close string }

var (
	windowsToken  = token{"%%", "%%"}
	unixToken     = token{"${", "}"}
	hexToken      = token{"$[", "]"}
	resolverToken = token{"#{", "}"}
	fieldToken    = token{"?{", "}"}
)

// Values that contain references are substituted again, at most maxDepth deep
// as in Hop. Hop has no bound on breadth: a few dozen variables that name each
// other twice would fill the memory, so the text that one Resolve may build
// and the nested values it may look at are bounded as well.
const (
	maxDepth         = 50
	maxResolvedBytes = 64 << 20
	maxNested        = 1 << 20
)

// Resolve substitutes %%NAME%%, then ${NAME}, then $[hex], then
// #{resolver:path:key}. An unknown name stays as it was written, a defined
// empty variable gives nothing, and a token that is not closed ends the search
// for its kind. Names do not nest: ${A${B}} asks for "A${B".
//
// The error says which variable never ends (its value leads back to itself),
// or is what a resolver answered. The text is then returned unchanged.
func (v *Variables) Resolve(text string) (string, error) {
	if !mayReference(text) {
		return text, nil
	}
	resolved, err := v.substituteVariables(text)
	if err != nil {
		return text, err
	}
	resolved, err = v.substituteResolvers(substituteHex(resolved))
	if err != nil {
		return text, err
	}
	return resolved, nil
}

func (v *Variables) substituteVariables(text string) (string, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	lookup := func(name string) (string, bool) {
		value, ok := v.values[name]
		return value, ok
	}
	s := substitution{lookup: lookup}
	windows, err := s.run(text, windowsToken, 0)
	if err != nil {
		return text, err
	}
	return s.run(windows, unixToken, 0)
}

// SubstituteFields replaces each ?{FIELD} by what value says. A field that is
// unknown or null (ok is false) stays as it was written. Only transforms that
// document this syntax use it.
func SubstituteFields(text string, value func(field string) (string, bool)) (string, error) {
	s := substitution{lookup: value}
	resolved, err := s.run(text, fieldToken, 0)
	if err != nil {
		return text, err
	}
	return resolved, nil
}

// substitution carries the bounds of one Resolve.
type substitution struct {
	lookup func(name string) (string, bool)
	nested int
	built  int
	reads  func(name string) // optional observer of every name asked for
}

func (s *substitution) run(text string, t token, depth int) (string, error) {
	at := strings.Index(text, t.open)
	if at < 0 {
		return text, nil
	}
	var out strings.Builder
	rest := text
	for at >= 0 {
		name, after, closed := strings.Cut(rest[at+len(t.open):], t.close)
		if !closed {
			break
		}
		value, err := s.value(name, t, depth)
		if err != nil {
			return "", err
		}
		out.WriteString(rest[:at])
		out.WriteString(value)
		s.built += at + len(value)
		if s.built > maxResolvedBytes {
			return "", fmt.Errorf("resolve variable %q: the text grows beyond %d MiB; check the variables that its value names", name, maxResolvedBytes>>20)
		}
		rest = after
		at = strings.Index(rest, t.open)
	}
	out.WriteString(rest)
	return out.String(), nil
}

func (s *substitution) value(name string, t token, depth int) (string, error) {
	if s.reads != nil {
		s.reads(name)
	}
	value, ok := s.lookup(name)
	if !ok {
		return t.open + name + t.close, nil
	}
	if !strings.Contains(value, t.open) {
		return value, nil
	}
	s.nested++
	if depth > maxDepth || s.nested > maxNested {
		return "", fmt.Errorf("resolve variable %q: its value leads back to itself or nests more than %d deep; give it a value that does not name it", name, maxDepth)
	}
	return s.run(value, t, depth+1)
}

// substituteHex replaces $[41,0D] by those bytes. Hop turns each byte into
// text on its own, so a byte above 7F is not text and what is not a number is
// byte 0.
func substituteHex(text string) string {
	at := strings.Index(text, hexToken.open)
	if at < 0 {
		return text
	}
	var out strings.Builder
	rest := text
	for at >= 0 {
		list, after, closed := strings.Cut(rest[at+len(hexToken.open):], hexToken.close)
		if !closed {
			break
		}
		out.WriteString(rest[:at])
		for _, digits := range splitHexList(list) {
			out.WriteString(hexText(digits))
		}
		rest = after
		at = strings.Index(rest, hexToken.open)
	}
	out.WriteString(rest)
	return out.String()
}

// splitHexList splits at commas the way Java does: empty parts at the end do
// not count, but an empty list is one empty part.
func splitHexList(list string) []string {
	parts := strings.Split(list, ",")
	if len(parts) == 1 {
		return parts
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func hexText(digits string) string {
	n, err := strconv.ParseInt(digits, 16, 32)
	if err != nil {
		return "\x00"
	}
	b := byte(n)
	if b >= utf8.RuneSelf {
		return string(utf8.RuneError)
	}
	return string(rune(b))
}

// substituteResolvers replaces #{name:path:key}. The path is everything up to
// the next colon; a key picks one value of the JSON object that the resolver
// answered. What cannot be resolved stays as it was written.
func (v *Variables) substituteResolvers(text string) (string, error) {
	v.mu.RLock()
	resolver := v.resolver
	v.mu.RUnlock()
	if resolver == nil || !strings.Contains(text, resolverToken.open) {
		return text, nil
	}
	var out strings.Builder
	rest := text
	for {
		before, inner, opened := strings.Cut(rest, resolverToken.open)
		expression, after, closed := strings.Cut(inner, resolverToken.close)
		if !opened || !closed {
			out.WriteString(rest)
			return out.String(), nil
		}
		value, err := v.answer(resolver, expression)
		if err != nil {
			return text, err
		}
		out.WriteString(before)
		out.WriteString(value)
		rest = after
	}
}

func (v *Variables) answer(resolver Resolver, expression string) (string, error) {
	literal := resolverToken.open + expression + resolverToken.close
	parts := strings.Split(expression, ":")
	path, key := "", ""
	if len(parts) > 1 {
		path = parts[1]
	}
	if len(parts) > 2 {
		key = parts[2]
	}
	value, found, err := resolver(v, parts[0], path)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", literal, err)
	}
	if !found || value == "" {
		return literal, nil
	}
	if key == "" {
		return value, nil
	}
	doc, err := jsondoc.Parse(literal, []byte(value))
	if err != nil {
		return "", fmt.Errorf("resolve %s: the answer is not a JSON object, so it has no key %q; leave the key out or correct the resolver", literal, key)
	}
	return doc.Root().Get(key).Text(), nil
}

func mayReference(text string) bool {
	return strings.ContainsAny(text, "%$#") &&
		(strings.Contains(text, windowsToken.open) || strings.Contains(text, unixToken.open) ||
			strings.Contains(text, hexToken.open) || strings.Contains(text, resolverToken.open))
}

// References returns the names that the text itself refers to as ${NAME} or
// %%NAME%%, each once, in the order of their first use. Names that only the
// values of those variables refer to are not among them; see
// [Variables.Reads].
func References(text string) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, t := range []token{windowsToken, unixToken} {
		eachToken(text, t, add)
	}
	// The two kinds are searched one after the other; tell them in text order.
	slices.SortStableFunc(names, func(a, b string) int {
		return firstUse(text, a) - firstUse(text, b)
	})
	return names
}

// ResolverReferences returns the expressions inside #{...}, each once, in text
// order. They read what no variable holds, so whoever compares two runs has to
// treat them as values that may change.
func ResolverReferences(text string) []string {
	var expressions []string
	eachToken(text, resolverToken, func(expression string) {
		if !slices.Contains(expressions, expression) {
			expressions = append(expressions, expression)
		}
	})
	return expressions
}

// Reads returns every name that resolving the text looks up in this scope,
// through the values of other variables too and whether defined or not, each
// once, in the order of lookup. An error is that of Resolve.
func (v *Variables) Reads(text string) ([]string, error) {
	var names []string
	seen := map[string]bool{}
	scope := v.All()
	s := substitution{
		lookup: func(name string) (string, bool) {
			value, ok := scope[name]
			return value, ok
		},
		reads: func(name string) {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		},
	}
	windows, err := s.run(text, windowsToken, 0)
	if err != nil {
		return names, err
	}
	_, err = s.run(windows, unixToken, 0)
	return names, err
}

func eachToken(text string, t token, visit func(name string)) {
	for {
		_, inner, opened := strings.Cut(text, t.open)
		if !opened {
			return
		}
		name, after, closed := strings.Cut(inner, t.close)
		if !closed {
			return
		}
		visit(name)
		text = after
	}
}

func firstUse(text, name string) int {
	first := len(text)
	for _, t := range []token{windowsToken, unixToken} {
		if at := strings.Index(text, t.open+name+t.close); at >= 0 && at < first {
			first = at
		}
	}
	return first
}
