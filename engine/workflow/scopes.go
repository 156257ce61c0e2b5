package workflow

import (
	"sluice/engine/action"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// scopes sets variables for an action: its own, the workflow's, and those above
// (reference 5.6).
type scopes struct {
	exec *Execution
	own  *project.Variables
	run  *ActionRun
}

var above = map[action.Scope]transform.Scope{
	action.ScopeParent:      transform.ScopeParent,
	action.ScopeGrandParent: transform.ScopeGrandParent,
	action.ScopeRoot:        transform.ScopeRoot,
	action.ScopeProcess:     transform.ScopeProcess,
}

// Set implements action.Scopes.
func (s *scopes) Set(name, value string, scope action.Scope) error {
	up := s.exec.run.Scopes
	if up == nil && (scope == action.ScopeParent || scope == action.ScopeGrandParent) {
		return action.ErrNoParent
	}
	s.own.Set(name, value)
	s.exec.setVariable(name, value)
	s.run.set(name, value)
	if up == nil || scope == action.ScopeWorkflow {
		return nil
	}
	s.run.setAbove(name, above[scope])
	return up.SetVariable(name, value, above[scope])
}

// Variable implements action.Scopes.
func (s *scopes) Variable(name string, scope action.Scope) (string, bool) {
	if up := s.exec.run.Scopes; up != nil && scope != action.ScopeWorkflow {
		return up.Variable(name, above[scope])
	}
	return s.exec.vars.Get(name)
}

// enclosing are the scopes above a child of the workflow: the workflow and what
// runs it.
type enclosing struct {
	exec *Execution
	run  *ActionRun // the action that started the child
}

// SetVariable implements transform.Scopes.
func (s *enclosing) SetVariable(name, value string, scope transform.Scope) error {
	if scope == transform.ScopePipeline {
		return nil
	}
	s.exec.setVariable(name, value)
	if s.run != nil {
		s.run.set(name, value)
	}
	up := s.exec.run.Scopes
	if up == nil || scope == transform.ScopeParent {
		return nil
	}
	if scope == transform.ScopeGrandParent {
		scope = transform.ScopeParent
	}
	if s.run != nil {
		s.run.setAbove(name, scope)
	}
	return up.SetVariable(name, value, scope)
}

// Variable implements transform.Scopes.
func (s *enclosing) Variable(name string, scope transform.Scope) (string, bool) {
	up := s.exec.run.Scopes
	if up == nil || scope == transform.ScopeParent || scope == transform.ScopePipeline {
		return s.exec.vars.Get(name)
	}
	if scope == transform.ScopeGrandParent {
		scope = transform.ScopeParent
	}
	return up.Variable(name, scope)
}
