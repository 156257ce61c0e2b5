package presenter

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine/replay"
)

// leastReason is how long the reason of an override is at least, in characters.
const leastReason = 10

// ReplayChoices are what a person has chosen in the replay dialog.
type ReplayChoices struct {
	Start        string
	Given        map[string]string
	Acknowledged map[string]bool
	Overridden   map[string]bool
	Reason       string
	Original     bool // the definition as run
	Quick        bool
}

// NewReplayChoices begins at the first failed step, with the recorded values.
func NewReplayChoices() *ReplayChoices {
	return &ReplayChoices{Start: replay.FirstFailed, Given: map[string]string{}, Acknowledged: map[string]bool{}, Overridden: map[string]bool{}}
}

// Options are the choices as the pre-flight takes them. Overrides count only with
// a reason.
func (c *ReplayChoices) Options() replay.Options {
	o := replay.Options{Start: c.Start, Given: maps.Clone(c.Given), Acknowledged: chosen(c.Acknowledged), Reason: c.Reason, Quick: c.Quick, Definition: replay.Current}
	if c.Original {
		o.Definition = replay.Original
	}
	if c.ReasonProblem() == "" {
		o.Overrides = chosen(c.Overridden)
	}
	return o
}

// Names are the checks that are acknowledged.
func (c *ReplayChoices) Names() []string { return chosen(c.Acknowledged) }

func chosen(set map[string]bool) []string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if set[k] {
			list = append(list, k)
		}
	}
	return list
}

// ReasonProblem tells what is wrong with the reason; "" when it will do.
func (c *ReplayChoices) ReasonProblem() string {
	if len(chosen(c.Overridden)) > 0 {
		return OverrideProblem(c.Reason)
	}
	return ""
}

// OverrideProblem tells why a text is no reason for an override; "" when it is one.
func OverrideProblem(reason string) string {
	if len([]rune(strings.TrimSpace(reason))) < leastReason {
		return fmt.Sprintf("An override needs a reason of at least %d characters; it is recorded", leastReason)
	}
	return ""
}

// ReplayCommand is the command that does what the dialog would do.
func ReplayCommand(p *replay.Plan, c *ReplayChoices) string {
	args := []string{"sluice", "replay", p.Execution}
	if c.Start != replay.FirstFailed {
		args = append(args, "--from", shellQuoted(c.Start))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Given)) {
		args = append(args, "--var", shellQuoted(name+"="+c.Given[name]))
	}
	for _, id := range chosen(c.Acknowledged) {
		args = append(args, "--ack", shellQuoted(id))
	}
	for _, id := range chosen(c.Overridden) {
		args = append(args, "--override", shellQuoted(id))
	}
	if c.Reason != "" {
		args = append(args, "--reason", shellQuoted(c.Reason))
	}
	if c.Original {
		args = append(args, "--definition", replay.Original)
	}
	if c.Quick {
		args = append(args, "--quick")
	}
	if p.Verdict == replay.Ready {
		args = append(args, "--plan", p.Token)
	}
	return strings.Join(args, " ")
}

func shellQuoted(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'$`\\|&;<>()*?#~!{}[]") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Values longer than this are shown from a little before their first difference.
const (
	longValue  = 48
	diffBefore = 16
)

// ShortDiff shortens two long values to where they differ.
func ShortDiff(then, now string) (shortThen, shortNow string) {
	a, b := []rune(then), []rune(now)
	if max(len(a), len(b)) <= longValue || len(a) == 0 || len(b) == 0 {
		return then, now
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if same <= diffBefore {
		return then, now
	}
	cut := same - diffBefore
	return "…" + string(a[cut:]), "…" + string(b[cut:])
}
