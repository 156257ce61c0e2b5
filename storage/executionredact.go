package storage

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Redactor takes secrets out of a text that is about to be stored. It is
// called from many goroutines. Nil changes nothing.
type Redactor func(text string) string

// Text redacts one text.
func (r Redactor) Text(text string) string {
	if r == nil || text == "" {
		return text
	}
	return r(text)
}

// RedactedText stands where a secret was.
const RedactedText = "••••••"

// minSecretBytes is the least length of a value that is looked for: replacing
// shorter ones would destroy the text and give them away by their place.
const minSecretBytes = 4

// SecretValues are the secrets of running executions. Its Redact method is a
// Redactor. The zero value is ready; it is safe for many goroutines and never
// prints what it holds.
type SecretValues struct {
	mu       sync.RWMutex
	values   map[string]bool
	replacer *strings.Replacer
}

// Add makes values be taken out from now on, also in the forms that they have
// inside a URL, an XML or a JSON text. Values of fewer than 4 bytes are not.
func (s *SecretValues) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]bool{}
	}
	for _, v := range values {
		if len(v) < minSecretBytes {
			continue
		}
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v), url.UserPassword("u", v).String()[2:], xmlForm.Replace(v), jsonForm.Replace(v)} {
			s.values[form] = true
		}
	}
	list := make([]string, 0, len(s.values))
	for v := range s.values {
		list = append(list, v)
	}
	// Of two values that begin alike, the longer one goes first.
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	pairs := make([]string, 0, 2*len(list))
	for _, v := range list {
		pairs = append(pairs, v, RedactedText)
	}
	s.replacer = strings.NewReplacer(pairs...)
}

var (
	xmlForm  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
	jsonForm = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
)

// Redact takes the secrets out of text.
func (s *SecretValues) Redact(text string) string {
	s.mu.RLock()
	r := s.replacer
	s.mu.RUnlock()
	if r == nil {
		return text
	}
	return r.Replace(text)
}

// String hides the secrets.
func (s *SecretValues) String() string { return "secret values" }

// hmacPattern is "<key id>:<hmac>".
var hmacPattern = lazily(`^[0-9A-Za-z_-]{1,64}:[0-9a-f]{32,128}$`)

// checkVariables refuses secrets in clear.
func checkVariables(what string, list []Variable) error {
	for _, v := range list {
		if v.Secret && v.Value != "" && !hmacPattern().MatchString(v.Value) {
			return fmt.Errorf("%s %s: %w", what, v.Name, ErrSecretInClear)
		}
	}
	return nil
}

func (r Redactor) variables(list []Variable) []Variable {
	if r == nil {
		return slices.Clone(list)
	}
	out := make([]Variable, len(list))
	for i, v := range list {
		if !v.Secret {
			v.Value = r.Text(v.Value)
		}
		out[i] = v
	}
	return out
}

// Clean checks a new execution and gives a redacted copy, as every
// implementation stores it. The content is redacted too.
func (n NewExecution) Clean(r Redactor) (NewExecution, error) {
	if err := CheckExecutionID(n.ID); err != nil {
		return n, err
	}
	for _, id := range []string{n.Parent, n.ReplayOf} {
		if id == "" {
			continue
		}
		if err := CheckExecutionID(id); err != nil {
			return n, err
		}
	}
	switch {
	case n.State == "":
		n.State = StateQueued
	case n.State != StateQueued && n.State != StateRunning:
		return n, fmt.Errorf("a new execution is %s or %s, not %s: %w", StateQueued, StateRunning, n.State, ErrTransition)
	}
	if n.Kind == "" || n.Name == "" {
		return n, fmt.Errorf("execution %s needs a kind and a name: %w", n.ID, ErrBadName)
	}
	var err error
	if n.Execution, err = n.Redacted(r); err != nil {
		return n, err
	}
	if n.Content != nil {
		n.Content = []byte(r.Text(string(n.Content)))
	}
	return n, nil
}

// Redacted gives a copy without secrets. ErrSecretInClear when a value that is
// marked secret is no HMAC.
func (e Execution) Redacted(r Redactor) (Execution, error) {
	err := errors.Join(checkVariables("parameter", e.Parameters), checkVariables("variable", e.Variables))
	e.Parameters, e.Variables = r.variables(e.Parameters), r.variables(e.Variables)
	e.File, e.Reason, e.Message = r.Text(e.File), r.Text(e.Reason), r.Text(e.Message)
	if e.Replay != nil {
		err = errors.Join(err, checkVariables("overridden variable", e.Replay.Variables))
		c := *e.Replay
		c.Variables, c.Overrides = r.variables(c.Variables), slices.Clone(c.Overrides)
		for i := range c.Overrides {
			c.Overrides[i].Reason = r.Text(c.Overrides[i].Reason)
		}
		e.Replay = &c
	}
	return e, err
}

// Clean checks an action run and gives a redacted copy; its rows are shared.
func (a ActionRun) Clean(r Redactor) (ActionRun, error) {
	if a.Root == "" || a.Node == "" || a.Execution == "" || a.Ordinal < 1 || a.State == "" {
		return a, fmt.Errorf("action run %s needs root, execution, node, state and an ordinal from 1: %w", a.ActionKey, ErrBadName)
	}
	if err := checkVariables("variable", a.Before); err != nil {
		return a, err
	}
	if err := checkVariables("variable", a.After); err != nil {
		return a, err
	}
	a.Before, a.After, a.Message = r.variables(a.Before), r.variables(a.After), r.Text(a.Message)
	a.Files = slices.Clone(a.Files)
	for i := range a.Files {
		f := &a.Files[i]
		f.Path, f.Comment = r.Text(f.Path), r.Text(f.Comment)
	}
	if a.Result != nil {
		c := *a.Result
		c.LogText = r.Text(c.LogText)
		a.Result = &c
	}
	return a, nil
}

// Clean gives a redacted copy.
func (m TransformMetrics) Clean(r Redactor) TransformMetrics {
	if m.Sink != nil {
		c := *m.Sink
		c.Target = r.Text(c.Target)
		m.Sink = &c
	}
	return m
}

// Clean checks a link and gives a redacted copy.
func (l SnapshotLink) Clean(r Redactor) (SnapshotLink, error) {
	if l.Execution == "" || l.Ref.Gate == "" || l.Ref.ID == "" || l.Role == "" {
		return l, fmt.Errorf("snapshot link %s of execution %q needs a role: %w", l.Ref, l.Execution, ErrBadName)
	}
	l.Location, l.Digest = r.Text(l.Location), ""
	return l, nil
}
