package replay

import (
	"strings"
	"time"

	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/workflow"
	"sluice/storage/record"
)

// The names of start points beside nodes and gates.
const (
	FirstFailed = "first-failed"
	FromStart   = "start"
)

// The definitions that a replay can run by.
const (
	Current  = "current"
	Original = "original"
)

// Options are the choices of a person.
type Options struct {
	// Start is FirstFailed (also when empty), FromStart, or names an action
	// ("Load", "Load#2", "Night#1/Load") or a gate ("Orders",
	// "Load#1/Orders").
	Start string
	// Given are variables and parameters with a value chosen for this replay.
	Given        map[string]string
	Overrides    []string // checks that are overridden; they count with a Reason only
	Reason       string
	Acknowledged []string // checks that were read
	Quick        bool     // compare only the sizes of segments before the start
	Definition   string   // Current (also when empty) or Original
}

// overrides are those that count: they need a reason, which is recorded.
func (o *Options) overrides() []string {
	if strings.TrimSpace(o.Reason) == "" {
		return nil
	}
	return o.Overrides
}

// Ground is the project as it is now.
type Ground struct {
	Pipelines *pipeline.Runner
	Workflows *workflow.Runner
	Scope     *project.Variables
	// Session makes gates with the places and secrets of this installation.
	Session func(gate.SessionOptions) *gate.Session
	Secrets gate.Secrets
	// Records are the options to read the records of other machines with.
	Records record.Options
	Now     func() time.Time
}
