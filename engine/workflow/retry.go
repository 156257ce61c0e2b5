package workflow

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sluice/engine/action"
	"sluice/engine/hopxml"
	"sluice/engine/project"
)

// RetryGroup is the group of an action's attributes that says how often it is
// tried again.
const RetryGroup = "sluice-retry"

// The keys of RetryGroup. Values may hold variables.
const (
	retryCount    = "count"     // further tries after the first
	retryDelay    = "delay"     // before the first of them: seconds, or like 500ms, 2m
	retryFactor   = "factor"    // by which each delay is longer than the one before
	retryMaxDelay = "max_delay" // no delay is longer, unless the server asks for it
	retryOn       = "on"        // classes, separated by commas
)

// The classes of failures in the file. Without any, connection and throttled are
// meant. A failure for want of authorisation is never tried again.
const (
	onConnection = "connection"
	onThrottled  = "throttled"
	onAny        = "any"
)

const (
	defaultRetryDelay    = "5s"
	defaultRetryFactor   = "2"
	defaultRetryMaxDelay = "5m"
	defaultRetryClasses  = onConnection + "," + onThrottled
	maxRetries           = 1000
)

// Retry is the retry of one action as the file says it; the zero value tries
// once.
type Retry struct{ Count, Delay, Factor, MaxDelay, On string }

// retryPlan is a Retry with its variables resolved.
type retryPlan struct {
	count                      int
	delay, maxDelay            time.Duration
	factor                     float64
	connection, throttled, any bool
}

func readRetry(a hopxml.Attributes) (Retry, error) {
	r := Retry{}
	known := map[string]*string{retryCount: &r.Count, retryDelay: &r.Delay, retryFactor: &r.Factor, retryMaxDelay: &r.MaxDelay, retryOn: &r.On}
	for _, e := range a.Group(RetryGroup) {
		field := known[strings.ToLower(e.Key)]
		if field == nil {
			return r, fmt.Errorf("key %q of attributes group %s is not known; use count, delay, factor, max_delay and on", e.Key, RetryGroup)
		}
		*field = e.Value
	}
	if strings.Contains(r.Count+r.Delay+r.Factor+r.MaxDelay+r.On, "${") {
		return r, nil
	}
	_, err := r.plan(project.NewVariables())
	return r, err
}

// plan resolves and checks the retry.
func (r Retry) plan(scope *project.Variables) (retryPlan, error) {
	var p retryPlan
	if r == (Retry{}) {
		return p, nil
	}
	var text [5]string
	for i, v := range [5][2]string{{r.Count, "0"}, {r.Delay, defaultRetryDelay}, {r.Factor, defaultRetryFactor}, {r.MaxDelay, defaultRetryMaxDelay}, {r.On, defaultRetryClasses}} {
		value, err := scope.Resolve(v[0])
		if err != nil {
			return p, err
		}
		if text[i] = strings.TrimSpace(value); text[i] == "" {
			text[i] = v[1]
		}
	}
	var err error
	if p.count, err = strconv.Atoi(text[0]); err != nil || p.count < 0 || p.count > maxRetries {
		return p, fmt.Errorf("count %q is not a number from 0 to %d", text[0], maxRetries)
	}
	if p.delay, err = parseDelay(text[1]); err != nil {
		return p, err
	}
	if p.factor, err = strconv.ParseFloat(text[2], 64); err != nil || p.factor < 1 || math.IsInf(p.factor, 0) {
		return p, fmt.Errorf("factor %q is not a number from 1 on", text[2])
	}
	if p.maxDelay, err = parseDelay(text[3]); err != nil {
		return p, err
	}
	return p, p.classes(text[4])
}

func parseDelay(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < math.MaxInt64/float64(time.Second) {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("delay %q is not a time; write it like 10, 500ms or 2m", text)
	}
	return d, nil
}

func (p *retryPlan) classes(text string) error {
	for c := range strings.SplitSeq(text, ",") {
		switch strings.ToLower(strings.TrimSpace(c)) {
		case onConnection:
			p.connection = true
		case onThrottled:
			p.throttled = true
		case onAny:
			p.any = true
		default:
			return fmt.Errorf("class %q is not known; use connection, throttled or any", c)
		}
	}
	return nil
}

// next says whether a failure is tried again after attempt tries, and after
// which time. A failure without an error (an outcome that is false) is only
// tried again for class any.
func (p *retryPlan) next(attempt int, err error) (time.Duration, bool) {
	if attempt > p.count {
		return 0, false
	}
	class, asked := action.Classify(err)
	again := p.any
	switch class {
	case action.FailureUnauthorized:
		return 0, false
	case action.FailureConnection:
		again = again || p.connection
	case action.FailureThrottled:
		again = again || p.throttled
	}
	wait := float64(p.delay) * math.Pow(p.factor, float64(attempt-1))
	return max(time.Duration(min(wait, float64(p.maxDelay))), asked), again
}

// pause waits; it is false when ctx or stop ended it.
func pause(ctx context.Context, d time.Duration, stop <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
	case <-ctx.Done():
	}
	return false
}
