package presenter_test

import (
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/replay"
)

func TestShortDiffShowsWhereValuesDiffer(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ name, then, now, wantThen, wantNow string }{
		{"short ones stay", "a", "b", "a", "b"},
		{"one is not set", "", long, "", long},
		{"the beginning differs", "a" + long, "b" + long, "a" + long, "b" + long},
		{"the end differs", long + "then", long + "now", "…" + strings.Repeat("x", 16) + "then", "…" + strings.Repeat("x", 16) + "now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if then, now := presenter.ShortDiff(c.then, c.now); then != c.wantThen || now != c.wantNow {
				t.Errorf("%q and %q", then, now)
			}
		})
	}
}

func TestVerdictAndCommand(t *testing.T) {
	warn := replay.Check{Check: gate.Check{ID: "second-write:load", Status: gate.Warn}, Acknowledge: true}
	block := replay.Check{Check: gate.Check{ID: "upstream", Status: gate.Block, Overridable: true}}
	for _, c := range []struct {
		name   string
		plan   replay.Plan
		text   string
		tone   scene.Tone
		change func(*presenter.ReplayChoices)
		want   string
	}{
		{"ready", replay.Plan{Execution: "id", Verdict: replay.Ready, Token: "tok"}, "Ready to replay", scene.ToneOK, func(*presenter.ReplayChoices) {}, "sluice replay id --plan tok"},
		{
			"a warning",
			replay.Plan{Execution: "id", Checks: []replay.Check{warn}},
			"Acknowledge 1 warning", scene.ToneWarn,
			func(c *presenter.ReplayChoices) { c.Acknowledged["second-write:load"] = true }, "sluice replay id --ack second-write:load",
		},
		{
			"blocked",
			replay.Plan{Execution: "id", Checks: []replay.Check{warn, block}},
			"Blocked by 1 check", scene.ToneError,
			func(c *presenter.ReplayChoices) {
				c.Start, c.Given["DAY"], c.Overridden["upstream"], c.Reason, c.Original = "Load orders", "a b", true, "it's fine", true
			},
			`sluice replay id --from 'Load orders' --var 'DAY=a b' --override upstream --reason 'it'\''s fine' --definition original`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if text, tone := presenter.VerdictText(&c.plan); text != c.text || tone != c.tone {
				t.Errorf("verdict %q", text)
			}
			choices := presenter.NewReplayChoices()
			c.change(choices)
			if got := presenter.ReplayCommand(&c.plan, choices); got != c.want {
				t.Errorf("command %s\nwant    %s", got, c.want)
			}
		})
	}
}

func TestAnOverrideNeedsAReason(t *testing.T) {
	c := presenter.NewReplayChoices()
	c.Overridden["upstream"] = true
	if c.ReasonProblem() == "" || len(c.Options().Overrides) != 0 {
		t.Error("an override without a reason counts")
	}
	c.Reason = "long enough a reason"
	if o := c.Options(); c.ReasonProblem() != "" || len(o.Overrides) != 1 || o.Reason != c.Reason {
		t.Errorf("options %+v", o)
	}
}
