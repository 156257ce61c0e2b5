package flow

import (
	"context"
	"time"

	"sluice/engine/action"
	"sluice/engine/transform"
)

// Delay lets time pass.
var Delay = action.Define[DelaySettings](action.About{
	ID:          "DELAY",
	Name:        "Wait for",
	Category:    action.CategoryFlow,
	Summary:     "Wait for some time.",
	KeepsErrors: true,
	ReadsOnly:   true,
})

// TimeUnit is the unit of a delay.
type TimeUnit string

// Choices implements transform.Choices.
func (TimeUnit) Choices() []transform.Choice {
	return []transform.Choice{{Code: "0", Label: "seconds"}, {Code: "1", Label: "minutes"}, {Code: "2", Label: "hours"}}
}

var timeUnits = map[TimeUnit]time.Duration{"0": time.Second, "1": time.Minute, "2": time.Hour}

// DelaySettings lists the settings in the order the form shows them.
type DelaySettings struct {
	Time transform.Expr[int64] `hop:"maximumTimeout" default:"0" min:"0" label:"Time to wait"`
	Unit TimeUnit              `hop:"scaletime" default:"0"`
}

// Run implements action.Settings.
func (s *DelaySettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	n, err := s.Time.Or(env, 0)
	if err != nil {
		return err
	}
	r.OK = true
	if n <= 0 {
		return nil
	}
	return wait(ctx, time.Duration(n)*timeUnits[s.Unit])
}
