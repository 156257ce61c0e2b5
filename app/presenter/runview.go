package presenter

import (
	"strings"

	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/storage"
)

// decorate puts the state and the numbers of a run on a node.
func (v *RunView) decorate(s *scene.Node, name string) {
	if v == nil {
		return
	}
	gated, ok := v.Gates[lower(name)]
	if ok && v.State.Active() && s.Gate != scene.GateNone {
		s.Gate = GateView{gate.Standing{State: gated.State}}.Badge()
	}
	if state, ok := v.Actions[strings.ToLower(name)]; ok {
		s.State, s.Metric = state, v.Notes[strings.ToLower(name)]
		if state == scene.StateFailed {
			s.MetricTone = scene.ToneError
		}
		return
	}
	if v.NotReached && !s.Disabled {
		s.State, s.Metric = scene.StateSkipped, "not reached"
		return
	}
	var sum pipeline.Metrics
	found := false
	for _, m := range v.Metrics {
		if !hopxml.EqualName(m.Name, name) {
			continue
		}
		if !found {
			sum, found = m, true
			continue
		}
		sum.Read, sum.Written, sum.Input, sum.Output = sum.Read+m.Read, sum.Written+m.Written, sum.Input+m.Input, sum.Output+m.Output
		sum.Rejected, sum.Errors = sum.Rejected+m.Rejected, sum.Errors+m.Errors
		sum.State = max(sum.State, m.State)
	}
	failed := v.FailedAt != "" && hopxml.EqualName(v.FailedAt, name)
	if !found {
		if failed {
			s.State = scene.StateFailed
		}
		return
	}
	s.State = NodeState(sum, failed)
	if rows := max(sum.Read+sum.Input, sum.Written, sum.Output); rows > 0 {
		s.Metric = Grouped(rows)
		if rate := sum.Rate(v.Now); rate >= 1 {
			s.Metric += " · " + Grouped(int64(rate)) + "/s"
		}
	}
	if gated.State == storage.SnapshotOpen && gated.Rows > 0 && v.State.Active() {
		s.Metric = "spooling " + Grouped(gated.Rows)
	}
	if s.State == scene.StateFailed {
		s.MetricTone = scene.ToneError
	}
}

// NodeState is the badge of a transform of a run.
func NodeState(m pipeline.Metrics, failed bool) scene.State {
	switch {
	case failed || m.State == pipeline.Failed || m.Errors > 0:
		return scene.StateFailed
	case m.State == pipeline.Waiting:
		return scene.StateQueued
	case m.State == pipeline.Running:
		return scene.StateRunning
	case m.State == pipeline.Stopped:
		return scene.StateStopped
	}
	return scene.StateSucceeded
}
