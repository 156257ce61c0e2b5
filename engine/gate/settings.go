package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/parquet"
	"sluice/engine/transform"
	"sluice/storage/snapshot"
)

// The settings of a gate as the file names them, behind "NAME : ".
const (
	KeyID             = "id"
	KeyLocation       = "location"
	KeyCompression    = "compression"
	KeyCompatible     = "compatible"
	KeyRelease        = "release"
	KeyMinRows        = "min-rows"
	KeyMaxRows        = "max-rows"
	KeyRequire        = "require"
	KeyNotNull        = "not-null"
	KeyUnique         = "unique"
	KeyMaxAge         = "max-age"
	KeyPolicy         = "policy"
	KeyLimitRows      = "limit-rows"
	KeyLimitBytes     = "limit-bytes"
	KeyMinFree        = "min-free"
	KeyKeepExecutions = "keep-executions"
	KeyKeepAge        = "keep-age"
	KeyOnFailure      = "on-failure"
)

// KeyInfo describes one setting to a person.
type KeyInfo struct{ Key, Default, Help string }

// Keys lists the settings that a person may set, in the order of a form. All of
// them accept variables.
func Keys() []KeyInfo {
	return []KeyInfo{
		{KeyLocation, "${" + VariableSnapshots + "}", "where snapshots are stored: remote:path, a folder or a URI"},
		{KeyRelease, "sealed", "sealed: what is downstream starts when the snapshot is sealed; streaming: rows flow on while they are spooled"},
		{KeyCompression, "snappy", "snappy, zstd or none"},
		{KeyCompatible, "no", "yes: Parquet that old readers open too"},
		{KeyMinRows, "", "the least number of rows of a whole extraction"},
		{KeyMaxRows, "", "the greatest number of rows of a whole extraction"},
		{KeyRequire, "", "fields that must be there, with commas; NAME:TYPE also asks for the type"},
		{KeyNotNull, "", "fields that must not be null, with commas"},
		{KeyUnique, "", "fields that together identify a row, with commas"},
		{KeyMaxAge, "", "a snapshot that is older is not replayed, such as 36h or 7d"},
		{KeyPolicy, "allow", "allow, younger-than DURATION, ask or never"},
		{KeyLimitRows, "", "the extraction fails beyond so many rows"},
		{KeyLimitBytes, "", "the extraction fails when its snapshot takes more"},
		{KeyMinFree, "256MiB", "the extraction fails when less space is left at the location"},
		{KeyKeepExecutions, "5", "snapshots of so many executions are kept"},
		{KeyKeepAge, "14d", "older snapshots are removed"},
		{KeyOnFailure, "seal", "what the extraction does when something else fails: seal goes on to its end, stop ends it"},
	}
}

// VariableSnapshots names the variable with the default location.
const VariableSnapshots = "SLUICE_SNAPSHOTS"

// Release says when the rows of a gate reach what is downstream.
type Release string

// The release modes.
const (
	ReleaseSealed    Release = "sealed"
	ReleaseStreaming Release = "streaming"
)

// PolicyKind says whether a gate may be replayed.
type PolicyKind string

// The kinds of replay policy.
const (
	PolicyAllow   PolicyKind = "allow"
	PolicyYounger PolicyKind = "younger-than"
	PolicyAsk     PolicyKind = "ask"
	PolicyNever   PolicyKind = "never"
)

// Policy is a gate's rule for replays.
type Policy struct {
	Kind PolicyKind
	Age  time.Duration // of PolicyYounger
}

// Limits bound one snapshot; 0 is no limit.
type Limits struct {
	Rows, Bytes int64
	MinFree     int64 // bytes that stay free at the location
}

// Config is a gate's settings with their variables replaced.
type Config struct {
	ID         string
	Location   string // "" is the default one
	Codec      parquet.Codec
	Compatible bool
	Release    Release
	Contract   Contract
	Policy     Policy
	Limits     Limits
	Retention  snapshot.Policy
	// StopOnFailure ends the extraction when something else fails.
	StopOnFailure bool
	// Raw is what was set, variables replaced, for the snapshot's record.
	Raw map[string]string
}

// Resolve replaces the variables in the settings of a gate and reads them. The
// error names the gate, the setting and its value.
func (g *Gate) Resolve(r transform.Resolver) (Config, error) {
	c := Config{
		ID: g.ID, Codec: parquet.Snappy, Release: ReleaseSealed, Policy: Policy{Kind: PolicyAllow},
		Contract: Contract{MinRows: -1, MaxRows: -1}, Limits: Limits{MinFree: 256 << 20},
		Retention: snapshot.DefaultPolicy, Raw: map[string]string{},
	}
	for _, key := range slices.Sorted(maps.Keys(g.Settings)) {
		value, err := r.Resolve(g.Settings[key])
		if err == nil {
			err = c.set(key, strings.TrimSpace(value))
		}
		if err != nil {
			return c, &engine.Error{
				Transform: g.Node, Message: fmt.Sprintf("gate setting %s: %v", key, err),
				Hint: "correct it with: sluice gate mark FILE --transform " + shellQuote(g.Node) + " --set " + key + "=VALUE",
			}
		}
		if key != KeyID {
			c.Raw[key] = value
		}
	}
	if c.Location == "" {
		location, err := r.Resolve("${" + VariableSnapshots + "}")
		if err != nil {
			return c, err
		}
		if !strings.Contains(location, "${"+VariableSnapshots+"}") {
			c.Location = strings.TrimSpace(location)
		}
	}
	return c, nil
}

func (c *Config) set(key, value string) (err error) {
	switch key {
	case KeyID:
	case KeyLocation:
		c.Location = value
	case KeyCompression:
		c.Codec, err = parquet.ParseCodec(strings.ToLower(value))
	case KeyCompatible:
		c.Compatible, err = parseYes(value)
	case KeyRelease:
		c.Release = Release(strings.ToLower(value))
		if c.Release != ReleaseSealed && c.Release != ReleaseStreaming {
			err = fmt.Errorf("%q; write sealed or streaming", value)
		}
	case KeyMinRows:
		c.Contract.MinRows, err = parseCount(value)
	case KeyMaxRows:
		c.Contract.MaxRows, err = parseCount(value)
	case KeyRequire:
		c.Contract.Fields, err = parseFields(value)
	case KeyNotNull:
		c.Contract.NotNull = parseNames(value)
	case KeyUnique:
		c.Contract.Unique = parseNames(value)
	case KeyMaxAge:
		c.Contract.MaxAge, err = ParseAge(value)
	case KeyPolicy:
		c.Policy, err = parsePolicy(value)
	case KeyLimitRows:
		c.Limits.Rows, err = parseCount(value)
	case KeyLimitBytes:
		c.Limits.Bytes, err = ParseBytes(value)
	case KeyMinFree:
		c.Limits.MinFree, err = ParseBytes(value)
	case KeyKeepExecutions:
		var n int64
		n, err = parseCount(value)
		c.Retention.Executions = int(min(n, 1<<30))
	case KeyKeepAge:
		c.Retention.MaxAge, err = ParseAge(value)
	case KeyOnFailure:
		c.StopOnFailure = strings.EqualFold(value, "stop")
		if !c.StopOnFailure && !strings.EqualFold(value, "seal") {
			err = fmt.Errorf("%q; write seal or stop", value)
		}
	default:
		err = fmt.Errorf("there is no such setting; there are %s", strings.Join(keyNames(), ", "))
	}
	return err
}

func keyNames() []string {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Key)
	}
	return names
}

func parseYes(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "y", "yes", "true":
		return true, nil
	case "n", "no", "false":
		return false, nil
	}
	return false, fmt.Errorf("%q; write yes or no", text)
}

func parsePolicy(text string) (Policy, error) {
	kind, rest, _ := strings.Cut(strings.ToLower(text), " ")
	p := Policy{Kind: PolicyKind(kind)}
	switch p.Kind {
	case PolicyAllow, PolicyAsk, PolicyNever:
		if strings.TrimSpace(rest) == "" {
			return p, nil
		}
	case PolicyYounger:
		var err error
		p.Age, err = ParseAge(rest)
		return p, err
	}
	return p, fmt.Errorf("%q; write allow, younger-than DURATION, ask or never", text)
}

func parseFields(text string) ([]ContractField, error) {
	var fields []ContractField
	for _, n := range parseNames(text) {
		f := ContractField{Name: n}
		if name, kind, ok := cutLast(n, ":"); ok {
			t := batch.ParseType(strings.TrimSpace(kind))
			if t == batch.None {
				return nil, fmt.Errorf("%q is no type of a field", kind)
			}
			f = ContractField{Name: strings.TrimSpace(name), Type: t}
		}
		fields = append(fields, f)
	}
	return fields, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// shellQuote writes a name so that a person can paste it into a shell.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
