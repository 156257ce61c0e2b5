package replay

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sluice/engine/hopxml"
	"sluice/storage"
)

// settled are elements that change nothing about what runs.
var settled = map[string]bool{
	"xloc": true, "yloc": true, "gui": true, "notepads": true, "description": true, "extended_description": true, "attributes_hac": true,
	"created_user": true, "created_date": true, "modified_user": true, "modified_date": true, "pipeline_version": true, "workflow_version": true,
	"pipeline_status": true, "workflow_status": true,
}

// flatten gives the texts of an element and below by their path. Repeated
// elements are told apart by their <name>, else by number.
func flatten(e *hopxml.Element) map[string]string {
	out := map[string]string{}
	flattenInto(out, "", e)
	return out
}

func flattenInto(out map[string]string, at string, e *hopxml.Element) {
	count := map[string]int{}
	children := e.Elements()
	if len(children) == 0 {
		out[at] = e.Text()
		return
	}
	for _, c := range children {
		name := strings.ToLower(c.Name())
		if settled[name] || name == "attributes" && isGateMark(c) {
			continue
		}
		count[name]++
		path := c.Name()
		if n := c.Child("name").Text(); n != "" && len(c.Elements()) > 1 {
			path += "[" + n + "]"
		} else if count[name] > 1 {
			path += fmt.Sprintf("[%d]", count[name])
		}
		if at != "" {
			path = at + "/" + path
		}
		flattenInto(out, path, c)
	}
}

// isGateMark tells of attributes that only mark gates and their anchors.
func isGateMark(e *hopxml.Element) bool {
	for _, g := range e.All("group") {
		if !strings.HasPrefix(g.Child("name").Text(), "replay-gate") {
			return false
		}
	}
	return true
}

// diffElements lists the settings whose value changed. What was redacted cannot
// be compared, and an element that was absent equals an empty one.
func diffElements(file, node string, then, now *hopxml.Element) []Change {
	a, b := flatten(then), flatten(now)
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	var list []Change
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if a[k] == b[k] || strings.Contains(a[k], storage.RedactedText) {
			continue
		}
		list = append(list, Change{File: file, Node: node, Setting: k, Then: a[k], Now: b[k]})
	}
	return list
}

// differences are the settings of a node that changed. What a newer program writes
// beside is no change: where the type reads the same settings from both, only what
// belongs to the node itself counts.
func (p *planner) differences(file string, workflow bool, node string, then, now *hopxml.Element) []Change {
	list := diffElements(file, node, then, now)
	if len(list) == 0 || !p.readsTheSame(workflow, then, now) {
		return list
	}
	return slices.DeleteFunc(list, func(c Change) bool {
		top, _, _ := strings.Cut(c.Setting, "/")
		usual, own := ofTheNode[top]
		return !own || usual != "" && (c.Then == "" || c.Then == usual) && (c.Now == "" || c.Now == usual)
	})
}

// ofTheNode are the elements of a node that its type does not read, with the value
// of an absent one.
var ofTheNode = map[string]string{
	"type": "", "attributes": "", "partitioning": "", "custom_distribution": "", "distribute": "Y", "copies": "1", "parallel": "N",
}

func (p *planner) readsTheSame(workflow bool, then, now *hopxml.Element) bool {
	id := then.Child("type").Text()
	if now == nil || !strings.EqualFold(id, now.Child("type").Text()) {
		return false
	}
	if workflow {
		d, ok := p.ground.Workflows.Actions.Find(id)
		if !ok {
			return false
		}
		a, _ := d.Decode(then)
		b, _ := d.Decode(now)
		return reflect.DeepEqual(a, b)
	}
	d, ok := p.ground.Pipelines.Registry.Find(id)
	if !ok {
		return false
	}
	a, _ := d.Decode(then)
	b, _ := d.Decode(now)
	return reflect.DeepEqual(a, b)
}

// diffDocuments lists what changed between two definitions of one file, node by
// node.
func (p *planner) diffDocuments(file string, then, now *hopxml.Document) []Change {
	workflow := now.Kind() == hopxml.WorkflowKind
	var list []Change
	seen := map[string]bool{}
	current := nodesOf(now)
	for name, e := range nodesOf(then) {
		seen[name] = true
		if current[name] == nil {
			list = append(list, Change{File: file, Node: name, Then: e.Child("type").Text()})
			continue
		}
		list = append(list, p.differences(file, workflow, name, e, current[name])...)
	}
	for name, e := range current {
		if !seen[name] {
			list = append(list, Change{File: file, Node: name, Now: e.Child("type").Text()})
		}
	}
	list = append(list, diffHops(file, then, now)...)
	for node, of := range map[string]func(*hopxml.Element) *hopxml.Element{
		"error handling": func(root *hopxml.Element) *hopxml.Element { return root.Child("transform_error_handling") },
		"parameters": func(root *hopxml.Element) *hopxml.Element {
			if workflow {
				return root.Child("parameters")
			}
			return root.Child("info").Child("parameters")
		},
	} {
		list = append(list, diffElements(file, node, of(then.Root()), of(now.Root()))...)
	}
	slices.SortFunc(list, func(a, b Change) int {
		return strings.Compare(a.Node+"\x00"+a.Setting, b.Node+"\x00"+b.Setting)
	})
	return list
}

func nodesOf(d *hopxml.Document) map[string]*hopxml.Element {
	out := map[string]*hopxml.Element{}
	list := d.Root().All("transform")
	if d.Kind() == hopxml.WorkflowKind {
		list = d.Root().Child("actions").All("action")
	}
	for _, e := range list {
		out[e.Child("name").Text()] = e
	}
	return out
}

func diffHops(file string, then, now *hopxml.Document) []Change {
	hops := func(d *hopxml.Document) map[string]string {
		out := map[string]string{}
		el := d.Root().Child("order")
		if d.Kind() == hopxml.WorkflowKind {
			el = d.Root().Child("hops")
		}
		for _, h := range el.All("hop") {
			kind := "enabled " + h.Child("enabled").Text()
			if d.Kind() == hopxml.WorkflowKind {
				kind += ", on success " + h.Child("evaluation").Text() + ", always " + h.Child("unconditional").Text()
			}
			out[h.Child("from").Text()+" → "+h.Child("to").Text()] = kind
		}
		return out
	}
	a, b := hops(then), hops(now)
	var list []Change
	for k, v := range a {
		if b[k] != v {
			list = append(list, Change{File: file, Node: "hop " + k, Then: v, Now: b[k]})
		}
	}
	for k, v := range b {
		if _, ok := a[k]; !ok {
			list = append(list, Change{File: file, Node: "hop " + k, Now: v})
		}
	}
	return list
}
