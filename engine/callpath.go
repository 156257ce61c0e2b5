package engine

import (
	"fmt"
	"path"
	"strings"
)

// CallPath names a place in the tree of calls below a root execution; "" is the
// root itself. Each part is the node that started a child, the turn of that node
// in its execution (from 1), and, from the second child of one turn on, which one
// it is: "Load all#1/Orders#2:3". The path of a run that is tried again stays.
type CallPath string

var pathEscape = strings.NewReplacer("%", "%25", "/", "%2F")

// Child gives the path of a child that a node starts; turn and child count from 1.
func (p CallPath) Child(node string, turn, child int) CallPath {
	part := fmt.Sprintf("%s#%d", pathEscape.Replace(node), turn)
	if child > 1 {
		part += fmt.Sprintf(":%d", child)
	}
	return CallPath(path.Join(string(p), part))
}

// Parent gives the path of the execution that started this one; "" for the root
// and for what the root started.
func (p CallPath) Parent() CallPath {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return ""
	}
	return p[:i]
}

var pathUnescape = strings.NewReplacer("%25", "%", "%2F", "/")

// Node gives the transform or action that started the execution; "" for the root.
func (p CallPath) Node() string {
	part := string(p[strings.LastIndexByte(string(p), '/')+1:])
	if i := strings.LastIndexByte(part, '#'); i >= 0 {
		part = part[:i]
	}
	return pathUnescape.Replace(part)
}

// Under says whether the execution is, or is somewhere below, the other one.
func (p CallPath) Under(other CallPath) bool {
	return other == "" || p == other || strings.HasPrefix(string(p), string(other)+"/")
}
