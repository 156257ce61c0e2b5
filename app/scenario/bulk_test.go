package scenario_test

import (
	"strings"
	"testing"
)

func TestAllThatFailedIsReplayedInOrder(t *testing.T) {
	s := newShop(t)
	s.sluice("replay", "--failed").want(ready, "Nothing waits")
	s.edit("load.hpl", "WHERE status = '${STATUS}'", "WHERE id = ${ONE}")
	one := s.fails(s.path("load.hpl"), "--var", "ONE=1")
	two := s.fails(s.path("load.hpl"), "--var", "ONE=2")
	again := s.fails2(two) // the warehouse is still down
	s.write("other.hpl", pipelineOf("other", "orders>keep keep>target", orders, keep, target))
	stuck := s.fails(s.path("other.hpl")) // has no gate
	s.sourceGone()
	s.warehouseUp()
	a := s.sluice("replay", "--failed", "--since", "1h").want(blocked, "1 of 3: "+one, "2 of 3: "+again, "3 of 3: "+stuck, "2 of 3 replayed", "no gate was reached")
	if strings.Index(a.errs, one) > strings.Index(a.errs, again) {
		t.Errorf("the order of the loads is lost:\n%s", a.errs)
	}
	s.wantLoaded(original[:2])
	s.sluice("replay", "--failed").want(blocked, "BLOCKED") // only that one is left
	s.sluice("replay", "--failed", "--since", "1ms").want(ready, "Nothing waits")
	s.wantLoaded(original[:2])
	s.sluice("replay", "--failed", one).want(unusable, "name none")
	s.sluice("replay", "--since", "1h").want(unusable, "--failed")
	s.sluice("replay").want(unusable, "name an execution")
	s.sluice("replay", "--failed", "--since", "yesterday").want(unusable, "24h")
	s.sluice("replay", one, two, "--plan", "x").want(unusable, "one execution")
}

// fails2 replays an execution that fails again, and gives the replay's id.
func (s *shop) fails2(id string) string {
	s.t.Helper()
	a := s.sluice("replay", id, "--json", "--log-level", "error").want(failed)
	return between(a.out, `"execution_id": "`, `"`)
}

// TestEachOfTwoLoadsIsOverriddenByItself: one check of each place.
func TestEachOfTwoLoadsIsOverriddenByItself(t *testing.T) {
	s := newShop(t)
	s.write("second.hpl", pipelineOf("second", "orders>keep keep>target", orders, keep, target))
	s.sluice("gate", "mark", s.path("second.hpl"), "--transform", "orders").want(ready)
	fork := strings.Replace(actionOf("fork", "DUMMY", ""), "<parallel>N</parallel>", "<parallel>Y</parallel>", 1)
	s.write("night.hwf", workflowOf("Start>fork fork>one fork>two", fork, runs("one", "load.hpl"), runs("two", "second.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	for _, file := range []string{"load.hpl", "second.hpl"} {
		s.edit(file, "<limit>0</limit>", "<limit>9</limit>")
	}
	p := s.preflight(blocked, id)
	p.wantCheck(t, "upstream@one#1", "BLOCK", "limit")
	p.wantCheck(t, "upstream@two#1", "BLOCK", "limit")
	s.sluice("replay", id, "--override", "upstream@one#1", "--reason", "nine are more than there were").want(blocked, "upstream@two#1")
	s.wantLoaded(nil)
	s.sluice("replay", id, "--override", "upstream@one#1", "--override", "upstream@two#1", "--reason", "nine are more than there were").want(ready)
	if n := len(s.loaded()); n != 12 {
		t.Errorf("%d rows", n)
	}
	s.sluice("executions", "list", "--limit", "1", "--json").want(ready, "nine are more than there were")
}

// TestTheFirstLineIsTheVerdictAndWhy.
func TestTheFirstLineIsTheVerdictAndWhy(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	first := func(code int, args ...string) string {
		t.Helper()
		line, _, _ := strings.Cut(s.sluice(append([]string{"preflight", id}, args...)...).want(code).out, "\n")
		return line
	}
	for want, got := range map[string]string{
		"READY: the replay of " + id[:8]: first(ready), "6 sealed rows": first(ready),
		"NEEDS ACKNOWLEDGEMENT: the replay of " + id[:8]: first(needsAck, "--quick"), "acknowledged quick": first(needsAck, "--quick"),
		"BLOCKED: the replay of " + id[:8]: first(blocked, "--var", "STATUS=shipped"), "variable:STATUS": first(blocked, "--var", "STATUS=shipped"),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the first line is %q, want %q in it", got, want)
		}
	}
	a := s.sluice("preflight", id, "--quick").want(needsAck)
	_, command, ok := strings.Cut(a.out, "\n  sluice replay ")
	if !ok {
		t.Fatalf("no command to replay with:\n%s", a.out)
	}
	s.sourceGone()
	s.warehouseUp()
	s.sluice(append([]string{"replay"}, strings.Fields(command)...)...).want(ready) // as it was printed
	s.wantLoaded(original)
}
