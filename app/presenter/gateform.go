package presenter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/app/workspace"
	"sluice/engine/gate"
)

// GateField is a field of a gate's contract.
type GateField struct {
	Name, Type             string // no type: any
	Required, NotNull, Key bool
}

// CutHop is a hop whose rows a gate seals.
type CutHop struct{ To, Output string }

// GateForm are the settings of a gate while they are edited. Nothing changes before
// Apply.
type GateForm struct {
	Node     string
	ID       string // "" while it is no gate yet
	Settings map[string]string
	// Fields are the contract's, unless Plain: then variables are in them, and the
	// settings are edited as they are written.
	Fields []GateField
	Plain  bool
	// Policy and Age are the replay policy: Age is that of younger-than.
	Policy, Age string
	Cuts        []CutHop

	f      *File
	fields []GateField // as they were
	policy [2]string   // kind and age
	before map[string]string
}

// GateForm opens the settings of the gate at a node, which need not be one yet.
func (f *File) GateForm(node string) (*GateForm, error) {
	g, err := f.GateOf(node)
	if err != nil {
		return nil, err
	}
	m := &GateForm{Node: node, Settings: map[string]string{}, f: f, Policy: string(gate.PolicyAllow)}
	if g != nil {
		m.Node, m.ID = g.Node, g.ID
		maps.Copy(m.Settings, g.Settings)
		delete(m.Settings, gate.KeyID)
	}
	m.before = maps.Clone(m.Settings)
	m.readFields()
	m.readPolicy()
	for _, h := range f.view.hops {
		if !strings.EqualFold(h.From, node) || !h.Enabled {
			continue
		}
		c := CutHop{To: h.To, Output: "main"}
		if h.Error {
			c.Output = "error"
		} else if f.IsPipeline() {
			from, to := f.view.nodes[f.view.byID[h.FromID]], f.view.nodes[f.view.byID[h.ToID]]
			if label := f.outputLabel(from, to); label != "" {
				c.Output = label
			}
		} else {
			c.Output = ""
		}
		m.Cuts = append(m.Cuts, c)
	}
	return m, nil
}

// variable tells whether a setting is known only when the pipeline runs.
func variable(s string) bool { return strings.ContainsAny(s, "$%#") }

func names(list string) []string {
	var out []string
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

func (m *GateForm) readFields() {
	s := m.Settings
	if m.Plain = variable(s[gate.KeyRequire] + s[gate.KeyNotNull] + s[gate.KeyUnique]); m.Plain {
		return
	}
	field := func(name string) *GateField {
		for i := range m.Fields {
			if strings.EqualFold(m.Fields[i].Name, name) {
				return &m.Fields[i]
			}
		}
		m.Fields = append(m.Fields, GateField{Name: name})
		return &m.Fields[len(m.Fields)-1]
	}
	for _, n := range names(s[gate.KeyRequire]) {
		name, kind := n, ""
		if i := strings.LastIndex(n, ":"); i >= 0 {
			name, kind = n[:i], n[i+1:]
		}
		f := field(strings.TrimSpace(name))
		f.Type, f.Required = strings.TrimSpace(kind), true
	}
	for _, n := range names(s[gate.KeyNotNull]) {
		field(n).NotNull = true
	}
	for _, n := range names(s[gate.KeyUnique]) {
		field(n).Key = true
	}
	m.fields = slices.Clone(m.Fields)
}

// writeFields brings the contract's fields into the settings, when they changed.
func (m *GateForm) writeFields() {
	if m.Plain {
		return
	}
	if slices.Equal(m.Fields, m.fields) {
		m.restore(gate.KeyRequire, gate.KeyNotNull, gate.KeyUnique)
		return
	}
	var require, notNull, unique []string
	for _, f := range m.Fields {
		name := strings.TrimSpace(f.Name)
		if name == "" {
			continue
		}
		if f.Required {
			if f.Type != "" {
				require = append(require, name+":"+f.Type)
			} else {
				require = append(require, name)
			}
		}
		if f.NotNull {
			notNull = append(notNull, name)
		}
		if f.Key {
			unique = append(unique, name)
		}
	}
	m.Settings[gate.KeyRequire], m.Settings[gate.KeyNotNull], m.Settings[gate.KeyUnique] = strings.Join(require, ", "), strings.Join(notNull, ", "), strings.Join(unique, ", ")
}

// GetFields adds the fields of the output that are not there yet, as required ones.
func (m *GateForm) GetFields(list []Field) {
	for _, f := range list {
		if !slices.ContainsFunc(m.Fields, func(g GateField) bool { return strings.EqualFold(g.Name, f.Name) }) {
			m.Fields = append(m.Fields, GateField{Name: f.Name, Type: f.Type, Required: true})
		}
	}
}

func (m *GateForm) readPolicy() {
	text := strings.TrimSpace(m.Settings[gate.KeyPolicy])
	if kind, age, ok := strings.Cut(text, " "); ok && strings.EqualFold(kind, string(gate.PolicyYounger)) {
		m.Policy, m.Age = string(gate.PolicyYounger), strings.TrimSpace(age)
	} else if text != "" {
		m.Policy = text
	}
	m.policy = [2]string{m.Policy, m.Age}
}

// writePolicy brings the policy into the settings, when it changed.
func (m *GateForm) writePolicy() {
	if m.policy == [2]string{m.Policy, m.Age} {
		m.restore(gate.KeyPolicy)
		return
	}
	m.Settings[gate.KeyPolicy] = m.Policy
	if m.Policy == string(gate.PolicyYounger) {
		m.Settings[gate.KeyPolicy] += " " + strings.TrimSpace(m.Age)
	}
}

// restore takes settings back to what they were.
func (m *GateForm) restore(keys ...string) {
	for _, k := range keys {
		if was, ok := m.before[k]; ok {
			m.Settings[k] = was
		} else {
			delete(m.Settings, k)
		}
	}
}

// Problems are the settings that will not do, by key.
func (m *GateForm) Problems() map[string]string {
	m.writeFields()
	m.writePolicy()
	out := map[string]string{}
	for k, v := range m.Settings {
		if text := CheckGate(m.Node, map[string]string{k: v}); text != "" {
			_, text, _ = strings.Cut(text, "gate setting "+k+": ")
			text, _, _ = strings.Cut(text, " (correct it with:")
			out[k] = capitalized(text)
		}
	}
	return out
}

func capitalized(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Apply marks the gate with the settings, as one step of undo.
func (m *GateForm) Apply() error {
	m.writeFields()
	m.writePolicy()
	return m.f.MarkGate(m.Node, m.Settings)
}

// ResolveLocation gives the location that a gate's setting stands for.
func ResolveLocation(ctx context.Context, ws *workspace.Workspace, text string) (string, error) {
	g := &gate.Gate{Node: "gate", ID: "000000000000", Settings: map[string]string{gate.KeyLocation: text}}
	c, err := g.Resolve(ws.Scope)
	if err != nil {
		return "", err
	}
	l, err := ws.Places.Parse(ctx, c.Location)
	return l.String(), err
}

// TestLocation writes, reads, lists and removes a small object where a gate would
// store its rows, and says how it went. It closes the connections.
func TestLocation(ctx context.Context, ws *workspace.Workspace, text string) (_ string, err error) {
	defer func() { err = errors.Join(err, ws.Places.Close(context.WithoutCancel(ctx))) }()
	where, err := ResolveLocation(ctx, ws, text)
	if err != nil {
		return "", err
	}
	l, err := ws.Places.Parse(ctx, where)
	if err != nil {
		return "", err
	}
	r := ws.Places.Client().Test(ctx, l)
	if err := r.Err(); err != nil {
		return "", err
	}
	var took time.Duration
	for _, s := range r.Steps {
		took += s.Took
	}
	put := "no atomic put"
	if r.Capabilities.AtomicPut {
		put = "atomic put"
	}
	return fmt.Sprintf("%s · reachable, %s, %s", where, put, Elapsed(took)), nil
}

// Remotes lists the remotes of rclone.conf and the environment, as locations.
func Remotes(ctx context.Context, ws *workspace.Workspace) (_ []string, err error) {
	defer func() { err = errors.Join(err, ws.Places.Close(context.WithoutCancel(ctx))) }()
	list, err := ws.Places.Client().Remotes(ctx)
	var out []string
	for _, r := range list {
		out = append(out, r.Name+":")
	}
	return out, err
}
