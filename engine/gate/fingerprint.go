package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/storage/snapshot"
)

// fingerprintVersion is raised when the same file gives another table.
const fingerprintVersion = 1

// Fingerprint is everything at and above a node that can change its rows, after
// substitution: node → setting → value. Positions, notes, gates, row-neutral
// settings and names of targets are not in it; variables that belong to a
// machine and secrets stay symbolic.
type Fingerprint struct {
	Version int    `json:"version"`
	Node    string `json:"node"` // whose rows it stands for
	Zone    string `json:"zone"` // restored by a replay, not compared
	// Behaviour are Hop's variables that change what values mean.
	Behaviour map[string]string           `json:"behaviour,omitempty"`
	Nodes     map[string]*FingerprintNode `json:"nodes"`
	// Unknown says what could not be computed. It never equals anything.
	Unknown []string `json:"unknown,omitempty"`
}

// FingerprintNode is one transform of a fingerprint.
type FingerprintNode struct {
	Type      string            `json:"type"`
	Semantics int               `json:"semantics,omitempty"`
	Settings  map[string]string `json:"settings,omitempty"`
	// Inputs are the hops into it: "PORT of NODE", in order.
	Inputs []string `json:"inputs,omitempty"`
}

// JSON is the canonical form that open.json keeps.
func (f *Fingerprint) JSON() (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Sum names the table: SHA-256 in hex over all but the zone.
func (f *Fingerprint) Sum() (string, error) {
	c := *f
	c.Zone = ""
	data, err := c.JSON()
	if err != nil {
		return "", err
	}
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:]), nil
}

// ParseFingerprint reads what JSON gave.
func ParseFingerprint(data json.RawMessage) (*Fingerprint, error) {
	f := &Fingerprint{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("fingerprint: %w", err)
	}
	if f.Version > fingerprintVersion {
		return nil, fmt.Errorf("the fingerprint has version %d and this program knows %d: update Sluice", f.Version, fingerprintVersion)
	}
	return f, nil
}

// Secrets makes a secret comparable without keeping it: "<key id>:<hmac>" under
// a key of this installation.
type Secrets interface {
	Sum(secret string) string
	KeyID() string
}

// scene is what fingerprints of one preparation are computed from.
type scene struct {
	p       *pipeline.Preparation
	scope   *project.Variables // machine-bound variables and secrets are not in it
	policy  *project.SecretPolicy
	secrets Secrets
	home    string
	nodes   map[string]*FingerprintNode // by lower-case name, as far as computed
	texts   map[string][]string         // what each node reads variables in
	unknown map[string][]string
	marks   map[string][]snapshot.SourceMark // see marksOnce
}

func newScene(p *pipeline.Preparation, secrets Secrets) *scene {
	s := &scene{
		p: p, policy: project.NewSecretPolicy(project.DefaultSecretPatterns()), secrets: secrets,
		nodes: map[string]*FingerprintNode{}, texts: map[string][]string{}, unknown: map[string][]string{},
		marks: map[string][]snapshot.SourceMark{},
	}
	vars := p.Options.Vars
	s.scope = vars.Child()
	s.scope.SetResolver(nil)
	for _, name := range s.scope.Names() {
		if MachineBound(name) || s.policy.IsSecret(vars, name) {
			s.scope.Unset(name)
		}
	}
	s.home, _ = vars.Get(project.VariableProjectHome)
	return s
}

// machineNames are variables whose value says where or when something runs, and
// nothing about rows.
var machineNames = []string{
	project.VariableProjectHome, project.VariableParentProjectHome, project.VariableConfigFolder,
	project.VariableMetadataFolder, project.VariableUnitTestsFolder, project.VariableDatasetsFolder,
	project.VariableEnvironmentName, VariableSnapshots, "HOME", "USER", "LOGNAME", "USERNAME", "HOSTNAME", "PWD", "TMP", "TEMP", "TMPDIR", "PATH",
}

var machinePrefixes = []string{"Internal.", "java.", "user.", "os.", "file.", "line.", "path.", "sun."}

// MachineBound tells of variables whose value says where or when something runs, and
// nothing about rows.
func MachineBound(name string) bool {
	return slices.Contains(machineNames, name) || slices.ContainsFunc(machinePrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// behaviours are read by batch.ReadSemantics.
var behaviours = []string{
	"HOP_EMPTY_STRING_DIFFERS_FROM_NULL", "HOP_LENIENT_STRING_TO_NUMBER_CONVERSION", "HOP_AGGREGATION_MIN_NULL_IS_VALUED",
	"HOP_AGGREGATION_ALL_NULLS_ARE_ZERO", "HOP_SPLIT_FIELDS_REMOVE_ENCLOSURE", "HOP_JSON_INPUT_INCLUDE_NULLS",
}

func (s *scene) behaviour() map[string]string {
	out := map[string]string{}
	for _, name := range s.scope.Names() {
		value, _ := s.scope.Get(name)
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(name, "HOP_DEFAULT_") && strings.HasSuffix(name, "_FORMAT") && value != "":
			out[name] = value
		case slices.Contains(behaviours, name) && value != "" && !strings.EqualFold(value, "N"):
			out[name] = value
		}
	}
	return out
}

// Upstream gives the nodes that feed a node and the node itself, in the order of
// the file. Transforms that it waits for change no rows.
func Upstream(g *pipeline.Graph, name string) []*pipeline.Node {
	keep := map[string]bool{strings.ToLower(name): true}
	for changed := true; changed; {
		changed = false
		for _, h := range g.Hops {
			from := strings.ToLower(h.From)
			if keep[strings.ToLower(h.To)] && !keep[from] {
				keep[from], changed = true, true
			}
		}
	}
	var list []*pipeline.Node
	for _, n := range g.Nodes {
		if keep[strings.ToLower(n.Name)] {
			list = append(list, n)
		}
	}
	return list
}

// fingerprint computes the table of a node.
func (s *scene) fingerprint(name string) *Fingerprint {
	f := &Fingerprint{Version: fingerprintVersion, Node: name, Behaviour: s.behaviour(), Nodes: map[string]*FingerprintNode{}}
	f.Zone = zoneName(s.p.Options.Location)
	for _, n := range Upstream(s.p.Graph, name) {
		f.Nodes[n.Name] = s.node(n)
		f.Unknown = append(f.Unknown, s.unknown[strings.ToLower(n.Name)]...)
	}
	return f
}

func (s *scene) node(n *pipeline.Node) *FingerprintNode {
	key := strings.ToLower(n.Name)
	if f := s.nodes[key]; f != nil {
		return f
	}
	f := &FingerprintNode{Type: n.Type, Semantics: n.Definition.Semantics, Settings: map[string]string{}}
	s.nodes[key] = f
	v := &nodeVisit{scene: s, node: n, key: key, out: f.Settings, targets: map[string]bool{}}
	f.Inputs = s.inputs(n)
	for _, o := range transform.PortsOf(n.Settings, s.links(n)).Outputs {
		v.targets[strings.ToLower(o.Target)] = true
	}
	v.settings()
	if t := s.p.Pipeline.Transform(n.Name); t != nil {
		v.elements(t.Element)
	}
	if n.Copies != "1" {
		v.set("copies", n.Copies)
		if f.Settings["copies"] == "1" {
			delete(f.Settings, "copies")
		}
	}
	if e := n.Errors; e != nil {
		named := e.Named()
		for k, value := range map[string]string{
			"errors>count": named.CountField, "errors>description": named.DescriptionField, "errors>field": named.FieldField,
			"errors>code": named.CodeField, "errors>max": e.MaxErrors, "errors>max_percent": e.MaxPercent, "errors>min_rows": e.MinRows,
		} {
			if value != "" {
				v.set(k, value)
			}
		}
	}
	return f
}

// links are the hops of a node, as far as ports depend on them.
func (s *scene) links(n *pipeline.Node) transform.Links {
	l := transform.Links{Transform: n.Name, Error: n.Errors}
	for _, h := range s.p.Graph.Hops {
		if strings.EqualFold(h.To, n.Name) {
			l.Inputs = append(l.Inputs, transform.Input{From: h.From})
		}
		if strings.EqualFold(h.From, n.Name) && (n.Errors == nil || !strings.EqualFold(n.Errors.Target, h.To)) {
			l.Outputs = append(l.Outputs, h.To)
		}
	}
	return l
}

// inputs tells from which port of which node rows come, and which share of them
// when the node deals them out.
func (s *scene) inputs(n *pipeline.Node) []string {
	var list []string
	for _, h := range s.p.Graph.Hops {
		if !strings.EqualFold(h.To, n.Name) {
			continue
		}
		from := s.p.Graph.Node(h.From)
		if from == nil || from.Settings == nil {
			continue
		}
		list = append(list, s.input(from, n))
	}
	return list
}

func (s *scene) input(from, to *pipeline.Node) string {
	if from.Errors != nil && strings.EqualFold(from.Errors.Target, to.Name) {
		return inputText(string(transform.Error), from.Name)
	}
	l := s.links(from)
	ports := transform.PortsOf(from.Settings, l)
	var named []string
	open, targeted := []string{}, map[string]bool{}
	for _, o := range ports.Outputs {
		switch {
		case o.Target == "":
			open = append(open, string(o.ID))
		case strings.EqualFold(o.Target, to.Name):
			named = append(named, string(o.ID))
		}
		targeted[strings.ToLower(o.Target)] = true
	}
	if len(named) > 0 {
		return inputText(strings.Join(named, "+"), from.Name)
	}
	text := inputText(strings.Join(open, "+"), from.Name)
	if !from.Distribute {
		return text
	}
	at, total := 0, 0
	for _, o := range l.Outputs {
		if targeted[strings.ToLower(o)] {
			continue
		}
		total++
		if strings.EqualFold(o, to.Name) {
			at = total
		}
	}
	if total > 1 {
		text += ", share " + strconv.Itoa(at) + " of " + strconv.Itoa(total)
	}
	return text
}

const inputSeparator = " of "

func inputText(port, from string) string { return port + inputSeparator + from }

// longest value that is kept as it is.
const maxValueBytes = 16 << 10

func short(value string) string {
	if len(value) <= maxValueBytes {
		return value
	}
	s := sha256.Sum256([]byte(value))
	return fmt.Sprintf("sha256:%s (%d bytes)", hex.EncodeToString(s[:]), len(value))
}

// cosmetic are children of a <transform> that change no rows, or that the table
// holds in another form.
var cosmetic = map[string]bool{
	"name": true, "type": true, "description": true, "distribute": true, "custom_distribution": true, "copies": true,
	"partitioning": true, "attributes": true, "gui": true, "cluster_schema": true, "remotesteps": true, "remotetransforms": true,
}

// settingNames collects the element paths that tags describe, without numbers,
// in lower case, aliases included.
func settingNames(list []transform.Setting, prefix []string, into map[string]bool) {
	for i := range list {
		set := &list[i]
		for _, path := range append([][]string{set.Path}, set.Aliases...) {
			at := slices.Concat(prefix, path)
			if set.Kind == transform.KindTable || set.Kind == transform.KindGroup {
				settingNames(set.Items, at, into)
				continue
			}
			into[strings.ToLower(strings.Join(at, ">"))] = true
		}
	}
}

// leaf is an element without elements.
type leaf struct{ path, key, text string }

// leaves gives the leaves below an element; children with one name are numbered.
func leaves(e *hopxml.Element, path, key string, visit func(leaf)) {
	count, seen := map[string]int{}, map[string]int{}
	children := e.Elements()
	for _, c := range children {
		count[strings.ToLower(c.Name())]++
	}
	for _, c := range children {
		name := strings.ToLower(c.Name())
		seen[name]++
		at, k := path+name, key+name
		if count[name] > 1 {
			at += "[" + strconv.Itoa(seen[name]) + "]"
		}
		if len(c.Elements()) == 0 {
			visit(leaf{at, k, c.Text()})
			continue
		}
		leaves(c, at+">", k+">", visit)
	}
}
