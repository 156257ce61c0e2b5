package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// Status of a check.
type Status string

// The statuses. Info is only shown.
const (
	OK    Status = "OK"
	Info  Status = "INFO"
	Warn  Status = "WARN"
	Block Status = "BLOCK"
)

// The ids of checks; those of one variable or of one path carry its name behind a
// colon.
const (
	CheckGate      = "gate"
	CheckSnapshot  = "snapshot"
	CheckSealed    = "sealed"
	CheckManifest  = "manifest"
	CheckSegments  = "segments"
	CheckUpstream  = "upstream"
	CheckVariable  = "variable"
	CheckSecret    = "secret"
	CheckContract  = "contract"
	CheckAge       = "age"
	CheckPolicy    = "policy"
	CheckOpenPath  = "open-path"
	CheckMixedTime = "mixed-time"
)

// Check is one line of the list that a person sees before a replay.
type Check struct {
	ID          string `json:"id"`
	Gate        string `json:"gate"` // name of the node
	Status      Status `json:"status"`
	Overridable bool   `json:"overridable,omitempty"`
	Overridden  bool   `json:"overridden,omitempty"`
	What        string `json:"what"`
	Then        string `json:"then,omitempty"`
	Now         string `json:"now,omitempty"`
	Do          string `json:"do,omitempty"`
}

// String is the line for a terminal.
func (c Check) String() string {
	s := fmt.Sprintf("%-5s %s: %s", c.Status, c.ID, c.What)
	if c.Then != "" || c.Now != "" {
		s += fmt.Sprintf(" (then %s, now %s)", shown(c.Then), shown(c.Now))
	}
	if c.Overridden {
		return s + " [overridden]"
	}
	if c.Do != "" {
		s += " → " + c.Do
	}
	return s
}

// RefusedError says that a start from a gate is not safe.
type RefusedError struct{ Checks []Check }

// Error names every check that blocks.
func (e *RefusedError) Error() string {
	var lines []string
	for _, c := range e.Checks {
		if c.Status == Block && !c.Overridden {
			line := c.What
			if c.Then != "" || c.Now != "" {
				line += fmt.Sprintf(" (then %s, now %s)", shown(c.Then), shown(c.Now))
			}
			lines = append(lines, line)
		}
	}
	return "replay refused: " + strings.Join(lines, "; ")
}

// refused gives a RefusedError when a check blocks, after overrides.
func refused(list []Check, overrides []string) error {
	blocked := false
	for i := range list {
		c := &list[i]
		if c.Status != Block {
			continue
		}
		kind, _, _ := strings.Cut(c.ID, ":")
		c.Overridden = c.Overridable && (slices.Contains(overrides, c.ID) || slices.Contains(overrides, kind))
		blocked = blocked || !c.Overridden
	}
	if blocked {
		return &RefusedError{Checks: list}
	}
	return nil
}

// InterruptedMessage is why an interrupted snapshot is never replayed.
const InterruptedMessage = "the source was partially extracted, stage it again from scratch"

const doAgain = "run the pipeline from its sources again"

// whyNot makes the check of a snapshot that cannot be loaded.
func whyNot(err error) Check {
	c := Check{Status: Block, ID: CheckSnapshot, What: err.Error(), Do: snapshot.Hint(err)}
	switch {
	case errors.Is(err, snapshot.ErrInterrupted):
		c.ID, c.What, c.Do = CheckSealed, InterruptedMessage, doAgain
	case errors.Is(err, snapshot.ErrPruned), errors.Is(err, snapshot.ErrOpen):
		c.ID = CheckSealed
	case errors.Is(err, storage.ErrCorrupt), errors.Is(err, snapshot.ErrWitness), errors.Is(err, snapshot.ErrUnsigned), errors.Is(err, snapshot.ErrWrongKey), errors.Is(err, snapshot.ErrNewerFormat):
		c.ID = CheckManifest
	}
	return c
}

// quickBelow is the size up to which a snapshot on another machine is verified
// in full.
const quickBelow = 2 << 30

// levelOf is the rule of verification.
func levelOf(place *Place, m *snapshot.Manifest, quick bool) snapshot.Level {
	switch {
	case quick:
		return snapshot.Quick
	case place.Remote.Capabilities().Local || m.Bytes < quickBelow:
		return snapshot.Full
	}
	return snapshot.Stored
}

// verify proves the segments.
func verify(ctx context.Context, place *Place, sn *snapshot.Snapshot, quick bool) (Check, error) {
	level := levelOf(place, sn.Manifest, quick)
	v, err := sn.Verify(ctx, level, nil)
	if ctx.Err() != nil {
		return Check{}, context.Cause(ctx)
	}
	c := Check{ID: CheckSegments, Status: OK}
	switch {
	case err != nil && (v == nil || len(v.Problems) == 0):
		c.Status, c.What, c.Do = Block, err.Error(), snapshot.Hint(err)
	case err != nil:
		var names []string
		for _, p := range v.Problems {
			names = append(names, fmt.Sprintf("%s: %v", p.Name, p.Err))
		}
		c.Status, c.What, c.Do = Block, strings.Join(names, "; "), doAgain
	case v.Level == snapshot.Quick:
		c.Status, c.What = Warn, fmt.Sprintf("only the sizes of %s were compared; each is hashed before its rows leave", segmentsText(v.Segments))
	default:
		c.What = fmt.Sprintf("%s, %d bytes, verified: %s", segmentsText(v.Segments), v.Bytes, v.Level)
	}
	return c, nil
}

// checkUpstream compares the table of the snapshot with today's.
func checkUpstream(r *snapshot.Record, now *Fingerprint) []Check {
	block := func(what, do string) []Check {
		return []Check{{ID: CheckUpstream, Status: Block, Overridable: true, What: what, Do: do}}
	}
	then, err := ParseFingerprint(r.Fingerprint)
	if err != nil {
		return block("the upstream as it ran is not known: "+err.Error(), doAgain)
	}
	if unknown := slices.Concat(then.Unknown, now.Unknown); len(unknown) > 0 {
		return block("what is above the gate cannot be compared: "+strings.Join(unknown, "; "), "repair what is named, or "+doAgain)
	}
	var list []Check
	for _, c := range Diff(then, now) {
		check := Check{ID: CheckUpstream, Status: Block, Overridable: true, Then: c.Then, Now: c.Now, Do: "undo the change, or " + doAgain}
		check.What = fmt.Sprintf("upstream logic changed at %q", c.Node)
		if c.Setting != "" {
			check.What = fmt.Sprintf("upstream logic changed: %q, setting %s", c.Node, c.Setting)
		}
		if c.Moved {
			check.Status, check.Overridable, check.Do = Warn, false, ""
		}
		list = append(list, check)
	}
	if len(list) == 0 {
		list = append(list, Check{ID: CheckUpstream, Status: OK, What: "what is above the gate is as it was"})
	}
	return list
}

// checkRules applies contract, age and policy of the gate as they are today.
func checkRules(c Config, m *snapshot.Manifest, parts []pipeline.PartSpec, now time.Time) []Check {
	var list []Check
	add := func(id string, err error) {
		if err != nil {
			list = append(list, Check{ID: id, Status: Block, Overridable: true, What: err.Error(), Do: doAgain})
		}
	}
	var rows int64
	for i, p := range parts {
		if governs(p.Port) {
			rows += m.Parts[i].Rows
			add(CheckContract, c.Contract.CheckSchema(p.Schema))
		}
	}
	add(CheckContract, c.Contract.CheckRows(rows))
	age := now.Sub(m.Ended)
	if c.Contract.MaxAge > 0 && age > c.Contract.MaxAge {
		add(CheckAge, fmt.Errorf("the snapshot is %s old, at most %s is allowed", formatAge(age), formatAge(c.Contract.MaxAge)))
	}
	switch p := c.Policy; {
	case p.Kind == PolicyNever:
		add(CheckPolicy, errors.New("the policy of this gate is never to replay it"))
	case p.Kind == PolicyAsk:
		list = append(list, Check{ID: CheckPolicy, Status: Block, Overridable: true, What: "the policy of this gate is to ask before each replay", Do: "confirm it with --override policy --reason TEXT"})
	case p.Kind == PolicyYounger && age > p.Age:
		add(CheckPolicy, fmt.Errorf("the snapshot is %s old, the policy of this gate replays those younger than %s", formatAge(age), formatAge(p.Age)))
	}
	return list
}

// checkVariables compares what the upstream read with what it would read. The
// recorded values are the default: restore gives those that the scope is to take.
func (s *scene) checkVariables(recorded []snapshot.Variable, given map[string]string) (list []Check, restore map[string]string) {
	restore = map[string]string{}
	for _, v := range recorded {
		id := CheckVariable + ":" + v.Name
		value, _ := s.p.Options.Vars.Get(v.Name)
		if v.Secret != "" {
			list = append(list, s.checkSecret(v)...)
			continue
		}
		resolved, err := s.scope.Resolve(value)
		if err != nil {
			resolved = value
		}
		if now := s.portable(resolved); now == v.Value {
			continue
		} else if _, explicit := given[v.Name]; explicit {
			list = append(list, Check{
				ID: id, Status: Block, Overridable: true, What: fmt.Sprintf("variable %s, which the upstream reads, has another value", v.Name),
				Then: v.Value, Now: now, Do: "leave it out, or " + doAgain,
			})
		} else {
			list = append(list, Check{ID: id, Status: Info, What: fmt.Sprintf("variable %s has another value here; the recorded one is used", v.Name), Then: v.Value, Now: now})
			restore[v.Name] = v.Value
		}
	}
	return list, restore
}

func (s *scene) checkSecret(v snapshot.Variable) []Check {
	text := v.Name
	if !strings.HasPrefix(text, "#{") {
		text = "${" + text + "}"
	}
	value, err := s.p.Options.Vars.Resolve(text)
	now := s.secrets.Sum(value)
	c := Check{ID: CheckSecret + ":" + v.Name, Status: Warn, What: fmt.Sprintf("the secret %s has another value than it had; the present one is used", v.Name)}
	switch {
	case err != nil:
		c.What = fmt.Sprintf("the secret %s cannot be read: %v", v.Name, err)
	case !sameKey(v.Secret, now):
		c.Status, c.What = Info, fmt.Sprintf("the secret %s was recorded by another installation and cannot be compared", v.Name)
	case v.Secret == now:
		return nil
	}
	return []Check{c}
}

func segmentsText(n int) string {
	if n == 1 {
		return "1 segment"
	}
	return fmt.Sprintf("%d segments", n)
}
