package recorder

import (
	"context"
	"errors"
	"time"

	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/storage"
)

// Begin implements pipeline.Watcher.
func (r *Recorder) Begin(ctx context.Context, p *pipeline.Preparation) error {
	run, o := p.Run, p.Options
	file := run.File
	if file == "" {
		file = p.Pipeline.Document.Name()
	}
	content := p.Pipeline.Document.Bytes()
	err := r.begin(ctx, storage.NewExecution{
		Execution: storage.Execution{
			ExecutionHead: storage.ExecutionHead{
				ID: o.ID, Parent: run.ParentID, CallPath: string(run.CallPath), Kind: storage.KindPipeline, Name: nameOf(p.Graph.Name, file), File: file,
			},
			RunConfiguration: p.Config.Name,
			Parameters:       r.parameters(o.Vars, p.Graph.Parameters),
			Variables:        r.variables(o.Vars),
		},
		Content: WithoutSecrets(content),
	})
	if errors.Is(err, errUnknownParent) {
		return nil
	}
	if err == nil {
		o.Log = r.logger(o.Log, o.ID, run.RootID)
	}
	return err
}

// Running implements pipeline.Watcher.
func (r *Recorder) Running(p *pipeline.Preparation, e *pipeline.Execution) {
	r.mu.Lock()
	l := r.live[e.ID()]
	if l != nil {
		l.stop = e.Stop
	}
	r.mu.Unlock()
	if l == nil {
		return
	}
	r.bound(context.Background(), l.id)
	sinks := sinksOf(p)
	done, ended := make(chan struct{}), make(chan struct{})
	l.sampler = func() {
		close(done)
		<-ended
		r.failed("counters", r.o.Store.SaveMetrics(context.Background(), l.id, metricsOf(e, sinks)))
	}
	go func() {
		defer close(ended)
		tick := time.NewTicker(r.o.SampleEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			list := metricsOf(e, sinks)
			r.failed("counters", r.o.Store.SaveMetrics(context.Background(), l.id, list))
			if n%progressEvery == 0 {
				r.note(context.Background(), storage.LogEntry{Execution: l.id, Root: l.root, Data: progressOf(list)})
			}
		}
	}()
}

// progressEvery is how many samples lie between two entries of progress.
const progressEvery = 5

// End implements pipeline.Watcher.
func (r *Recorder) End(ctx context.Context, p *pipeline.Preparation, result transform.Result, err error) {
	state, message := stateOf(result, err)
	r.end(ctx, p.Options.ID, state, message, storage.Counts{Read: result.Input, Committed: result.Output, Erroneous: result.Rejected})
}

// stateOf gives the end of an execution and why it ended so.
func stateOf(r transform.Result, err error) (storage.State, string) {
	switch {
	case errors.Is(err, pipeline.ErrStopped), errors.Is(err, context.Canceled):
		return storage.StateStopped, err.Error()
	case err != nil:
		return storage.StateFailed, err.Error()
	case !r.OK:
		return storage.StateFailed, ""
	}
	return storage.StateSucceeded, ""
}

// sinksOf tells which transforms write outside, by name.
func sinksOf(p *pipeline.Preparation) map[string]transform.Target {
	sinks := map[string]transform.Target{}
	for _, n := range p.Graph.Nodes {
		if n.Disabled || !n.Definition.Sink || n.Settings == nil {
			continue
		}
		sinks[n.Name] = transform.TargetOf(n.Settings, p.Options.Vars)
	}
	return sinks
}

func metricsOf(e *pipeline.Execution, sinks map[string]transform.Target) []storage.TransformMetrics {
	var list []storage.TransformMetrics
	for _, m := range e.Metrics() {
		t := storage.TransformMetrics{
			Transform: m.Name, Copy: m.Copy, State: m.State.String(), Read: m.Read, Written: m.Written, Input: m.Input, Output: m.Output,
			Updated: m.Updated, Rejected: m.Rejected, Errors: m.Errors, Started: m.Started, Ended: m.Ended,
		}
		if sink, ok := sinks[m.Name]; ok {
			facts := storage.SinkFacts{Target: sink.Name, Idempotent: sink.Idempotent, How: sink.How, Committed: m.State == pipeline.Finished}
			ended := m.State == pipeline.Failed || m.State == pipeline.Stopped
			if !sink.TakenBack || !ended {
				facts.Rows = m.Output + m.Updated
			}
			t.Sink = &facts
		}
		list = append(list, t)
	}
	return list
}

func progressOf(list []storage.TransformMetrics) storage.ProgressEntry {
	var p storage.ProgressEntry
	for _, m := range list {
		p.Read, p.Committed, p.Erroneous = max(p.Read, m.Input), max(p.Committed, m.Output), p.Erroneous+m.Rejected
	}
	return p
}
