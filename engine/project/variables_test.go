package project_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/engine/project"
)

func scopeOf(values map[string]string) *project.Variables {
	v := project.NewVariables()
	v.SetAll(values)
	return v
}

func TestResolve(t *testing.T) {
	scope := scopeOf(map[string]string{
		"A": "a", "EMPTY": "", "B": "${A}b", "W": "%%A%%w", "MIX": "${B}-%%A%%", "U_IN_W": "${A}",
		"A${B": "odd", "with blank": "yes", "HEX": "$[41]", "a": "lower", "DEF": "${java.io.tmpdir}/x",
		"java.io.tmpdir": "/t", "${A": "never",
	})
	cases := map[string]struct{ in, want string }{
		"empty text":                          {"", ""},
		"no token":                            {"plain $ % text", "plain $ % text"},
		"unix":                                {"x${A}y", "xay"},
		"windows":                             {"x%%A%%y", "xay"},
		"case matters":                        {"${a}${A}", "lowera"},
		"unknown stays":                       {"${NO}/%%NO%%", "${NO}/%%NO%%"},
		"defined but empty":                   {"[${EMPTY}]", "[]"},
		"name with blank":                     {"${with blank}", "yes"},
		"blank around name is part of it":     {"${ A }", "${ A }"},
		"recursive":                           {"${B}${B}", "abab"},
		"recursive windows":                   {"%%W%%", "aw"},
		"windows before unix":                 {"%%U_IN_W%%", "a"},
		"windows inside a unix value stays":   {"${MIX}", "ab-%%A%%"},
		"names do not nest":                   {"${A${B}}", "odd}"},
		"unclosed unix":                       {"${A} ${B", "a ${B"},
		"unclosed windows":                    {"%%A%% %%B", "a %%B"},
		"unclosed windows leaves unix alone":  {"%%x ${A}", "%%x a"},
		"empty name":                          {"${}", "${}"},
		"four percent signs":                  {"%%%%", "%%%%"},
		"hex":                                 {"$[41]$[0D,0A]$[09]", "A\r\n\t"},
		"hex from a value":                    {"${HEX}", "A"},
		"hex lower case":                      {"$[6f]", "o"},
		"hex that is none is byte 0":          {"$[zz]|$[]|$[ 41]", "\x00|\x00|\x00"},
		"hex empty parts at the end":          {"$[41,,]$[,]", "A"},
		"hex above 7F is not text":            {"$[E9]", "\uFFFD"},
		"hex unclosed":                        {"$[41", "$[41"},
		"parameter default":                   {"${DEF}", "/t/x"},
		"unicode":                             {"é${A}€", "éa€"},
		"resolver without resolvers stays":    {"#{vault:a:b}", "#{vault:a:b}"},
		"token text after unknown goes on":    {"${NO}${A}", "${NO}a"},
		"substituted text is not seen again":  {"$${A}", "$a"},
		"dollar before an unknown name":       {"$${NO}", "$${NO}"},
		"closing token alone":                 {"A}", "A}"},
		"single percent pairs keep their eye": {"100%% of ${A}", "100%% of a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := scope.Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("Resolve(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestResolveEndlessLoop(t *testing.T) {
	cases := map[string]struct {
		values map[string]string
		text   string
		named  []string // the error names one of them
	}{
		"itself":           {map[string]string{"LOOP": "${LOOP}"}, "x${LOOP}", []string{"LOOP"}},
		"windows":          {map[string]string{"LOOP": "%%LOOP%%"}, "%%LOOP%%", []string{"LOOP"}},
		"each other":       {map[string]string{"P": "${Q}", "Q": "${P}"}, "${P}", []string{"P", "Q"}},
		"twice each level": {map[string]string{"LOOP": "${LOOP}${LOOP}"}, "${LOOP}", []string{"LOOP"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := scopeOf(c.values).Resolve(c.text)
			if err == nil {
				t.Fatalf("no error, got %q", got)
			}
			if got != c.text {
				t.Errorf("text changed to %q", got)
			}
			if !slices.ContainsFunc(c.named, func(n string) bool { return strings.Contains(err.Error(), fmt.Sprintf("%q", n)) }) {
				t.Errorf("error %q names none of %v", err, c.named)
			}
		})
	}
}

func TestResolveDepth(t *testing.T) {
	values := map[string]string{"V0": "end"}
	for i := 1; i <= 60; i++ {
		values[fmt.Sprintf("V%d", i)] = fmt.Sprintf("${V%d}", i-1)
	}
	scope := scopeOf(values)
	if got, err := scope.Resolve("${V50}"); err != nil || got != "end" {
		t.Errorf("50 levels: %q, %v", got, err)
	}
	if _, err := scope.Resolve("${V60}"); err == nil {
		t.Error("60 levels: no error")
	}
}

func TestResolveDoesNotExplode(t *testing.T) {
	for name, leaf := range map[string]string{"much text": strings.Repeat("x", 100), "no text": ""} {
		t.Run(name, func(t *testing.T) {
			values := map[string]string{"V0": leaf}
			for i := 1; i <= 45; i++ {
				values[fmt.Sprintf("V%d", i)] = fmt.Sprintf("${V%d}${V%d}", i-1, i-1)
			}
			if _, err := scopeOf(values).Resolve("${V45}"); err == nil {
				t.Error("no error for a text of 2^45 parts")
			}
		})
	}
}

func TestResolveManyReferencesInOneText(t *testing.T) {
	scope := scopeOf(map[string]string{"A": "${B}", "B": "b"})
	got, err := scope.Resolve(strings.Repeat("${A}", 500))
	if err != nil || got != strings.Repeat("b", 500) {
		t.Errorf("got %.20q…, %v", got, err)
	}
}

func TestResolver(t *testing.T) {
	failure := errors.New("vault is sealed")
	scope := scopeOf(map[string]string{"WHERE": "db"})
	scope.SetResolver(func(_ *project.Variables, name, path string) (string, bool, error) {
		switch {
		case name == "vault" && path == "secret/db":
			return `{"user":"u","port":5432}`, true, nil
		case name == "plain":
			return "<" + path + ">", true, nil
		case name == "broken":
			return "", false, failure
		}
		return "", false, nil
	})
	cases := map[string]struct{ in, want string }{
		"whole answer":           {"a #{plain:x} b", "a <x> b"},
		"key":                    {"#{vault:secret/${WHERE}:user}", "u"},
		"number key":             {"#{vault:secret/db:port}", "5432"},
		"absent key is empty":    {"[#{vault:secret/db:none}]", "[]"},
		"unknown resolver stays": {"#{other:x} #{plain:y}", "#{other:x} <y>"},
		"no argument":            {"#{plain}", "<>"},
		"blank in argument":      {"#{plain:Encrypted 12}", "<Encrypted 12>"},
		"unclosed":               {"#{plain:x", "#{plain:x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := scope.Child().Resolve(c.in)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := scope.Resolve("#{broken:x}"); !errors.Is(err, failure) {
		t.Errorf("error %v does not wrap the resolver's", err)
	}
	if _, err := scope.Resolve("#{plain:x:key}"); err == nil || strings.Contains(err.Error(), "<x>") {
		t.Errorf("key of an answer that is not JSON: %v; the answer must not be in it", err)
	}
}

func TestVariablesScopes(t *testing.T) {
	parent := scopeOf(map[string]string{"A": "1"})
	child := parent.Child()
	child.Set("A", "2")
	child.Set("", "ignored")
	parent.Set("B", "late")
	if got, _ := parent.Get("A"); got != "1" {
		t.Errorf("the child changed its parent: %q", got)
	}
	if _, ok := child.Get("B"); ok {
		t.Error("a later change of the parent reached the child")
	}
	if got := child.Names(); !slices.Equal(got, []string{"A"}) {
		t.Errorf("names %v", got)
	}
	all := child.All()
	all["A"] = "3"
	if got, _ := child.Get("A"); got != "2" {
		t.Error("All is not a copy")
	}
	child.Unset("A")
	if _, ok := child.Get("A"); ok {
		t.Error("Unset left the variable")
	}
}

func TestVariablesConcurrently(t *testing.T) {
	scope := scopeOf(map[string]string{"A": "${B}", "B": "b"})
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range 500 {
				scope.Set("C", fmt.Sprint(i))
				scope.SetAll(map[string]string{"D": "d", "E": "e"})
				scope.Unset("E")
			}
		})
		workers.Go(func() {
			for range 500 {
				if got, err := scope.Resolve("${A}/${C}"); err != nil || !strings.HasPrefix(got, "b/") {
					t.Errorf("got %q, %v", got, err)
				}
				_ = scope.Child().Names()
				_, _ = scope.Reads("${A}")
			}
		})
	}
	workers.Wait()
}

func TestReferences(t *testing.T) {
	cases := map[string]struct {
		in   string
		want []string
	}{
		"none":            {"plain", nil},
		"order and once":  {"${B}%%A%%${B}${C}", []string{"B", "A", "C"}},
		"unclosed":        {"${A}${B", []string{"A"}},
		"hex is none":     {"$[41]", nil},
		"windows holding": {"%%x ${A} y%%", []string{"x ${A} y", "A"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := project.References(c.in); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := project.ResolverReferences("#{a:b} ${X} #{c} #{a:b}"); !slices.Equal(got, []string{"a:b", "c"}) {
		t.Errorf("resolver references %q", got)
	}
}

func TestReads(t *testing.T) {
	scope := scopeOf(map[string]string{"A": "${B}/${C}", "B": "b", "W": "${A}"})
	got, err := scope.Reads("%%W%% ${NO}")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"W", "A", "B", "C", "NO"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSubstituteFields(t *testing.T) {
	row := map[string]string{"id": "7", "name": "?{id}!"}
	get := func(field string) (string, bool) { v, ok := row[field]; return v, ok }
	cases := map[string]struct{ in, want string }{
		"field":          {"a?{id}b", "a7b"},
		"recursive":      {"?{name}", "7!"},
		"unknown stays":  {"?{x}", "?{x}"},
		"variables stay": {"${id}?{id}", "${id}7"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := project.SubstituteFields(c.in, get); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("${A}%%B%%$[41,0d]#{r:p:k}", "${B}", "%%A%%")
	f.Add("${A${B}}", "x", "${A}")
	f.Add("%%%%%%", "", "$[")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		scope := scopeOf(map[string]string{"A": a, "B": b})
		got, err := scope.Resolve(text)
		if err != nil {
			if got != text {
				t.Errorf("an error changed the text %q to %q", text, got)
			}
			return
		}
		if !strings.ContainsAny(text, "%$#") && got != text {
			t.Errorf("a text without tokens changed: %q to %q", text, got)
		}
		again, err := scope.Resolve(text)
		if err != nil || again != got {
			t.Errorf("two resolves of %q differ: %q, %q, %v", text, got, again, err)
		}
		reads, err := scope.Reads(text)
		if err != nil {
			t.Errorf("Reads fails where Resolve does not: %v", err)
		}
		trimmed := project.NewVariables()
		for _, name := range reads {
			if value, ok := scope.Get(name); ok {
				trimmed.Set(name, value)
			}
		}
		if same, err := trimmed.Resolve(text); err != nil || same != got {
			t.Errorf("resolving %q with only the variables it reads gives %q, %v instead of %q", text, same, err, got)
		}
	})
}

func TestParseLong(t *testing.T) {
	good := map[string]int64{
		"0": 0, "1000": 1000, "1,000": 1000, "1_000": 1000, "12,345,678": 12345678, "-5": -5, "+5": 5, " 7 ": 7,
		"1k": 1000, "1K": 1000, "10m": 10_000_000, "2g": 2_000_000_000, "2b": 2_000_000_000, "2B": 2_000_000_000,
		"1.5k": 1500, "1e8": 100_000_000, "1E8": 100_000_000, "1.5e3": 1500, "10^8": 100_000_000, "2^10": 1024,
		"10 m": 10_000_000, "9223372036854775807": 9223372036854775807, "-9223372036854775808": -9223372036854775808,
		"1e+3": 1000, "10^0": 1,
	}
	for in, want := range good {
		if got, err := project.ParseLong(in); err != nil || got != want {
			t.Errorf("ParseLong(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", " ", "abc", "1x", "k", "1kk", "1.5", "1,5", "1,00", ",100", "1,", "1e", "1e-3", "^8", "10^", "1e99", "9223372036854775808", "--5", "0x10", "1/3", "${LIMIT}", "1e8^2", "NaN", "Inf"} {
		if got, err := project.ParseLong(in); err == nil {
			t.Errorf("ParseLong(%q) = %d, want an error", in, got)
		} else if !strings.Contains(err.Error(), "whole number") {
			t.Errorf("ParseLong(%q): %v", in, err)
		}
	}
}
