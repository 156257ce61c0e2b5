package database_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/database"
)

func TestSplitCutsAtSemicolonsOutsideQuotesAndComments(t *testing.T) {
	cases := map[string]struct {
		script string
		want   []string
	}{
		"empty":              {" ;; \n", nil},
		"one":                {"select 1", []string{"select 1"}},
		"two":                {"select 1; select 2 ;", []string{"select 1", "select 2"}},
		"quotes":             {`insert into t values ('a;''b', ";");delete from t`, []string{`insert into t values ('a;''b', ";")`, "delete from t"}},
		"comments":           {"-- one; two\nselect 1 /* ; */;/* only; */\n-- rest", []string{"-- one; two\nselect 1 /* ; */"}},
		"dollar quotes":      {"select $q$ ; $q$; select $1", []string{"select $q$ ; $q$", "select $1"}},
		"unfinished quote":   {"select 'a; b", []string{"select 'a; b"}},
		"trigger":            {"create temp trigger g after insert on t begin delete from u; update u set a=1; END; select 1", []string{"create temp trigger g after insert on t begin delete from u; update u set a=1; END", "select 1"}},
		"table, not trigger": {"create table trigger_log(a); select 1", []string{"create table trigger_log(a)", "select 1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, database.Split(c.script)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlaceholdersAreCountedOutsideOfTexts(t *testing.T) {
	if n := database.Placeholders("select ?, '?', \"?\" -- ?\n from t where a=?/*?*/"); n != 2 {
		t.Errorf("got %d, want 2", n)
	}
}

func TestNamedParametersBecomeQuestionMarks(t *testing.T) {
	cases := map[string]struct {
		query, want string
		names       []string
		wrong       bool
	}{
		"none":     {query: "select 1", want: "select 1"},
		"two":      {query: "select {a}, '{b}' where x={ c }", want: "select ?, '{b}' where x=?", names: []string{"a", "c"}},
		"mixed":    {query: "select {a}, ?", wrong: true},
		"unclosed": {query: "select {a", wrong: true},
		"nameless": {query: "select {}", wrong: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, names, err := database.Named(c.query)
			if (err != nil) != c.wrong {
				t.Fatalf("error %v", err)
			}
			if err == nil && (got != c.want || !cmp.Equal(names, c.names)) {
				t.Errorf("got %q %v", got, names)
			}
		})
	}
}

func TestVerbSkipsCommentsAndParentheses(t *testing.T) {
	for statement, want := range map[string]string{
		"  -- x\n select 1": "SELECT", "(select 1)": "SELECT", "/* c */ Insert into": "INSERT", "": "", "-- only": "",
	} {
		if got := database.Verb(statement); got != want {
			t.Errorf("%q: got %q, want %q", statement, got, want)
		}
	}
}
