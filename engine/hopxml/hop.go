package hopxml

import (
	"fmt"
	"slices"
	"strings"
)

// Hop is an arrow between two transforms or actions.
type Hop struct {
	ID      ID
	Element *Element

	From, To     string // names as the nodes spell them; as the hop does when unbound
	FromID, ToID ID     // the nodes; 0 for an unknown name

	Enabled bool

	// Error, in a pipeline: the hop carries the rejected rows of From, because
	// an error handling entry says so.
	Error bool

	// Evaluation and Unconditional, in a workflow, give the Condition.
	Evaluation, Unconditional bool
}

// Condition says when a workflow hop is followed.
type Condition uint8

// The conditions of a workflow hop.
const (
	Always Condition = iota
	OnSuccess
	OnFailure
)

// Condition of a workflow hop.
func (h Hop) Condition() Condition {
	switch {
	case h.Unconditional:
		return Always
	case h.Evaluation:
		return OnSuccess
	default:
		return OnFailure
	}
}

// hopsElement is the parent of the hops.
func (d *Document) hopsElement() string {
	if d.Kind() == WorkflowKind {
		return "hops"
	}
	return "order"
}

// readHops splits the hops into those between known nodes and the others,
// which Hop ignores.
func (d *Document) readHops() (bound, unbound []Hop) {
	nodes := d.nodesByName()
	for _, e := range d.root.Child(d.hopsElement()).All("hop") {
		h := Hop{
			ID: e.id, Element: e,
			From: e.Child("from").Text(), To: e.Child("to").Text(),
			Enabled:       e.Child("enabled").Flag(),
			Evaluation:    e.Child("evaluation").Flag(),
			Unconditional: e.Child("unconditional").Flag(),
		}
		from, to := nodes[foldName(h.From)], nodes[foldName(h.To)]
		h.FromID, h.ToID = from.ID(), to.ID()
		if from == nil || to == nil {
			unbound = append(unbound, h)
			continue
		}
		h.From, h.To = from.Child("name").Text(), to.Child("name").Text()
		bound = append(bound, h)
	}
	return bound, unbound
}

// hopBetween finds a hop by the names of its ends.
func (d *Document) hopBetween(from, to string) *Element {
	for _, e := range d.root.Child(d.hopsElement()).All("hop") {
		if EqualName(e.Child("from").Text(), from) && EqualName(e.Child("to").Text(), to) {
			return e
		}
	}
	return nil
}

// AddHop adds a hop between two nodes, named without regard to case. Enabled
// counts, and Evaluation and Unconditional in a workflow. A second hop between
// the same nodes and a hop to the node itself are refused.
func AddHop(h Hop) Edit {
	return func(d *Document) (*Document, error) {
		from, to := d.node(h.From), d.node(h.To)
		switch {
		case from == nil || to == nil:
			return nil, fmt.Errorf("hop from %q to %q: no such %s: %w", h.From, h.To, d.nodeWord(), ErrNotFound)
		case from == to:
			return nil, fmt.Errorf("hop from %q to itself: %w", h.From, ErrInvalid)
		case d.hopBetween(h.From, h.To) != nil:
			return nil, fmt.Errorf("hop from %q to %q exists already: %w", h.From, h.To, ErrInvalid)
		}
		draft := Branch("hop", Leaf("from", from.Child("name").Text()), Leaf("to", to.Child("name").Text()), Leaf("enabled", flagText(h.Enabled)))
		if d.Kind() == WorkflowKind {
			draft.Children = append(draft.Children, Leaf("evaluation", flagText(h.Evaluation)), Leaf("unconditional", flagText(h.Unconditional)))
		}
		d, hops, err := d.ensure(d.root.id, d.hopsElement())
		if err != nil {
			return nil, err
		}
		return Insert(hops.id, AtEnd(), draft)(d)
	}
}

// RemoveHop removes a hop, and the error handling that used it.
func RemoveHop(id ID) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(id)
		if err != nil {
			return nil, err
		}
		e := path[len(path)-1].elem
		from, to := e.Child("from").Text(), e.Child("to").Text()
		d = d.without(path)
		if d.hopBetween(from, to) != nil {
			return d, nil // a second one in a damaged file
		}
		for _, entry := range d.root.Child(errorHandlingElement).All("error") {
			if EqualName(entry.Child("source_transform").Text(), from) && EqualName(entry.Child("target_transform").Text(), to) {
				if d, err = Remove(entry.id)(d); err != nil {
					return nil, err
				}
			}
		}
		return d, nil
	}
}

// EnableHop switches a hop on or off.
func EnableHop(id ID, on bool) Edit { return SetFlag(id, "enabled", on) }

// SetCondition says when a workflow hop is followed.
func SetCondition(id ID, c Condition) Edit {
	return Join(SetFlag(id, "evaluation", c != OnFailure), SetFlag(id, "unconditional", c == Always))
}

const errorHandlingElement = "transform_error_handling"

// ErrorHandling says where the rejected rows of a transform go. The limits are
// texts since they may hold variables; "" is no limit. Empty names of fields
// are not added to the rows; see FieldNames.
type ErrorHandling struct {
	ID      ID
	Element *Element

	Source, Target     string // names as the transforms spell them
	SourceID, TargetID ID     // the target may be unknown: 0

	Enabled bool // of the hop between the two, when there is one

	CountField, DescriptionsField, FieldsField, CodesField string
	MaxErrors, MaxPercent, MinRows                         string
}

// FieldNames gives the names of the added fields for number of errors,
// descriptions, fields and codes. Where a file names none, Hop adds three.
func (h ErrorHandling) FieldNames() (count, descriptions, fields, codes string) {
	if h.Enabled && h.CountField+h.DescriptionsField+h.FieldsField+h.CodesField == "" {
		return "error_row", "error_description", "", "error_code"
	}
	return h.CountField, h.DescriptionsField, h.FieldsField, h.CodesField
}

func (d *Document) readErrorHandling() []ErrorHandling {
	nodes := d.nodesByName()
	var all []ErrorHandling
	for _, e := range d.root.Child(errorHandlingElement).All("error") {
		h := ErrorHandling{
			ID: e.id, Element: e,
			Source: e.Child("source_transform").Text(), Target: e.Child("target_transform").Text(),
			Enabled:           e.Child("is_enabled").Flag(),
			CountField:        e.Child("nr_valuename").Text(),
			DescriptionsField: e.Child("descriptions_valuename").Text(),
			FieldsField:       e.Child("fields_valuename").Text(),
			CodesField:        e.Child("codes_valuename").Text(),
			MaxErrors:         e.Child("max_errors").Text(),
			MaxPercent:        e.Child("max_pct_errors").Text(),
			MinRows:           e.Child("min_pct_rows").Text(),
		}
		source, target := nodes[foldName(h.Source)], nodes[foldName(h.Target)]
		if source == nil {
			continue
		}
		if hop := d.hopBetween(h.Source, h.Target); hop != nil {
			h.Enabled = hop.Child("enabled").Flag()
		}
		h.Source, h.SourceID = source.Child("name").Text(), source.id
		if target != nil {
			h.Target, h.TargetID = target.Child("name").Text(), target.id
		}
		all = append(all, h)
	}
	return all
}

// SetErrorHandling gives the transform h.Source this error handling, in place
// of the one it has. The hop between the two, which must exist in Hop and
// rules whether it is enabled, is added or set as well. A hop to the former
// target stays and from then on carries good rows: remove it if that is not
// meant.
func SetErrorHandling(h ErrorHandling) Edit {
	return func(d *Document) (*Document, error) {
		if d.node(h.Source) == nil || d.node(h.Target) == nil {
			return nil, fmt.Errorf("error handling from %q to %q: no such transform: %w", h.Source, h.Target, ErrNotFound)
		}
		d, err := d.withErrorHop(h)
		if err != nil {
			return nil, err
		}
		d, list, err := d.ensure(d.root.id, errorHandlingElement)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(list.All("error")) {
			if EqualName(e.Child("source_transform").Text(), h.Source) {
				return d.Apply(h.edits(e)...)
			}
		}
		h.Source, h.Target = d.node(h.Source).Child("name").Text(), d.node(h.Target).Child("name").Text()
		draft := Branch("error")
		for _, s := range h.settings() {
			draft.Children = append(draft.Children, Leaf(s[0], s[1]))
		}
		return Insert(list.id, AtEnd(), draft)(d)
	}
}

func (d *Document) withErrorHop(h ErrorHandling) (*Document, error) {
	if hop := d.hopBetween(h.Source, h.Target); hop != nil {
		return EnableHop(hop.id, h.Enabled)(d)
	}
	return AddHop(Hop{From: h.Source, To: h.Target, Enabled: h.Enabled})(d)
}

func (h ErrorHandling) settings() [][2]string {
	return [][2]string{
		{"source_transform", h.Source},
		{"target_transform", h.Target},
		{"is_enabled", flagText(h.Enabled)},
		{"nr_valuename", h.CountField},
		{"descriptions_valuename", h.DescriptionsField},
		{"fields_valuename", h.FieldsField},
		{"codes_valuename", h.CodesField},
		{"max_errors", h.MaxErrors},
		{"max_pct_errors", h.MaxPercent},
		{"min_pct_rows", h.MinRows},
	}
}

// edits are those that give the entry the values of h where they differ.
func (h ErrorHandling) edits(e *Element) []Edit {
	edits := []Edit{SetFlag(e.id, "is_enabled", h.Enabled)}
	for i, s := range h.settings() {
		was := e.Child(s[0]).Text()
		isName := i < 2 // of a transform: another case names the same
		if s[0] == "is_enabled" || was == clean(s[1]) || isName && EqualName(was, s[1]) {
			continue
		}
		edits = append(edits, SetChild(e.id, s[0], s[1], Canonical()))
	}
	return edits
}

// RemoveErrorHandling removes an entry; its hop becomes a hop for good rows.
func RemoveErrorHandling(id ID) Edit { return Remove(id) }

// foldName is the key of a name in maps: names are compared without case.
func foldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }
