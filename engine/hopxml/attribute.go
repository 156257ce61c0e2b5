package hopxml

import (
	"fmt"
	"slices"
	"strings"
)

// Attributes is the two-level map that Hop keeps on a pipeline, a workflow, a
// transform and an action: the one place where data of other programs survives
// a save by Hop. Groups and keys are compared exactly.
type Attributes []AttributeGroup

// AttributeGroup is one group, in file order.
type AttributeGroup struct {
	Name    string
	Entries []Attribute
}

// Attribute is one key and its value.
type Attribute struct{ Key, Value string }

// Get gives a value as Hop would: of repeated groups and keys the last counts.
func (a Attributes) Get(group, key string) (string, bool) {
	for _, e := range slices.Backward(a.Group(group)) {
		if e.Key == key {
			return e.Value, true
		}
	}
	return "", false
}

// Group gives the entries of a group, nil when it is absent.
func (a Attributes) Group(name string) []Attribute {
	for _, g := range slices.Backward(a) {
		if g.Name == name {
			return g.Entries
		}
	}
	return nil
}

func readAttributes(e *Element) Attributes {
	var all Attributes
	for _, g := range e.All("group") {
		group := AttributeGroup{Name: g.Child("name").Text()}
		for _, a := range g.All("attribute") {
			group.Entries = append(group.Entries, Attribute{a.Child("key").Text(), a.Child("value").Text()})
		}
		all = append(all, group)
	}
	return all
}

func lastGroup(attributes *Element, group string) *Element {
	for _, g := range slices.Backward(attributes.All("group")) {
		if g.Child("name").Text() == group {
			return g
		}
	}
	return nil
}

func lastEntry(group *Element, key string) *Element {
	for _, a := range slices.Backward(group.All("attribute")) {
		if a.Child("key").Text() == key {
			return a
		}
	}
	return nil
}

// SetAttribute sets one attribute of the root, a transform or an action.
// Group, key and value must not be empty or blank: Hop reads such a value as
// null and then cannot save the file. To take one away use RemoveAttribute.
func SetAttribute(owner ID, group, key, value string) Edit {
	return func(d *Document) (*Document, error) {
		for _, s := range []string{group, key, value} {
			if strings.TrimSpace(clean(s)) == "" {
				return nil, fmt.Errorf("attribute %q of group %q with value %q: group, key and value must not be empty: %w", key, group, value, ErrInvalid)
			}
		}
		next, attributes, err := d.ensure(owner, "attributes")
		if err != nil {
			return nil, err
		}
		entry := Branch("attribute", Leaf("key", key), Leaf("value", value))
		g := lastGroup(attributes, group)
		if g == nil {
			return Insert(attributes.id, AtEnd(), Branch("group", Leaf("name", group), entry))(next)
		}
		if a := lastEntry(g, key); a != nil {
			return SetChild(a.id, "value", value, Canonical())(next)
		}
		return Insert(g.id, AtEnd(), entry)(next)
	}
}

// RemoveAttribute removes one attribute, and its group and the content of
// <attributes> when nothing is left in them. An absent one is no error.
func RemoveAttribute(owner ID, group, key string) Edit {
	return removeAttributes(owner, func(g, k string) bool { return g == group && k == key })
}

// RemoveAttributeGroup removes a whole group; an absent one is no error.
func RemoveAttributeGroup(owner ID, group string) Edit {
	return removeAttributes(owner, func(g, _ string) bool { return g == group })
}

func removeAttributes(owner ID, drop func(group, key string) bool) Edit {
	return func(d *Document) (*Document, error) {
		path, err := d.path(owner)
		if err != nil {
			return nil, err
		}
		attributes := path[len(path)-1].elem.Child("attributes")
		var edits []Edit
		for _, g := range attributes.All("group") {
			edits = append(edits, dropEntries(g, drop)...)
		}
		if len(edits) == 0 {
			return d, nil
		}
		d, err = d.Apply(edits...)
		if err != nil {
			return nil, err
		}
		return d.emptied(attributes.id)
	}
}

// dropEntries removes entries of a group, the group itself when none stays.
func dropEntries(g *Element, drop func(group, key string) bool) []Edit {
	name, entries := g.Child("name").Text(), g.All("attribute")
	var edits []Edit
	for _, a := range entries {
		if drop(name, a.Child("key").Text()) {
			edits = append(edits, Remove(a.id))
		}
	}
	if len(edits) > 0 && len(edits) == len(entries) {
		return []Edit{Remove(g.id)}
	}
	return edits
}

// emptied makes <x> without anything but white space to <x/>.
func (d *Document) emptied(id ID) (*Document, error) {
	path, err := d.path(id)
	if err != nil {
		return nil, err
	}
	e := path[len(path)-1].elem
	for i := range e.content {
		if !e.content[i].isBlank() {
			return d, nil
		}
	}
	c := e.edited()
	c.content = nil
	c.shut()
	return d.replaced(path, c), nil
}

// Groups of root attributes whose keys start with the name of a node: our gate
// marks, and Hop's debug levels and row breakpoints.
var nodeKeyedGroups = []string{GateGroup, "debug_plugin"}

// GateGroup is the root attribute group of gate marks, and the group of a
// node's own attributes that anchors the gate's id. Keys of the root group are
// made by NodeKey.
const GateGroup = "replay-gate"

const nodeKeySeparator = " : "

// NodeKey is the attribute key of a setting for a node.
func NodeKey(node, setting string) string { return node + nodeKeySeparator + setting }

// SplitNodeKey takes a key apart at its last " : ", since a name may hold one.
// Compare the name with EqualName.
func SplitNodeKey(key string) (node, setting string, ok bool) {
	i := strings.LastIndex(key, nodeKeySeparator)
	if i < 0 {
		return "", "", false
	}
	return key[:i], key[i+len(nodeKeySeparator):], true
}

// EqualName compares names of transforms, actions and elements as Hop does,
// without case.
func EqualName(a, b string) bool { return strings.EqualFold(a, b) }

func isKeyOf(group, key, node string) bool {
	name, _, ok := SplitNodeKey(key)
	return ok && slices.Contains(nodeKeyedGroups, group) && EqualName(name, node)
}

func renameNodeKeys(d *Document, from, to string) []Edit {
	var edits []Edit
	for _, g := range d.root.Child("attributes").All("group") {
		for _, a := range g.All("attribute") {
			key := a.Child("key")
			if isKeyOf(g.Child("name").Text(), key.Text(), from) {
				_, setting, _ := SplitNodeKey(key.Text())
				edits = append(edits, SetText(key.id, NodeKey(to, setting)))
			}
		}
	}
	return edits
}
