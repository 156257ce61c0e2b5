package snapshot

import (
	"encoding/json"
	"fmt"
	"time"

	"sluice/storage"
)

// Origin says where rows come from. The caller fills it; this package only
// keeps it, in open.json and the manifest.
type Origin struct {
	ExecutionID     string `json:"executionId"`
	RootExecutionID string `json:"rootExecutionId"`
	CallPath        string `json:"callPath"` // of the pipeline inside the root execution, with ordinals
	Project         string `json:"project,omitempty"`
	File            string `json:"file,omitempty"`
	Node            string `json:"node,omitempty"`
	AppVersion      string `json:"appVersion,omitempty"`
	// EngineVersion and Semantics (transform type → version) tell whether the
	// same file would make the same rows today.
	EngineVersion string         `json:"engineVersion,omitempty"`
	Semantics     map[string]int `json:"semantics,omitempty"`
}

// Record is open.json: what was known when the snapshot was begun. It is
// written first and deleted last; a folder without it is not ours.
type Record struct {
	header
	SnapshotID string `json:"snapshotId"`
	GateID     string `json:"gateId"`
	Origin     Origin `json:"origin"`
	Writer     Host   `json:"writer"`
	Nonce      string `json:"nonce"`
	// Liveness is "lock" when the writer holds the operating system's lock on
	// open.json, else "lease".
	Liveness        string `json:"liveness"`
	HeartbeatMillis int64  `json:"heartbeatMillis"`
	KeyID           string `json:"keyId,omitempty"`
	// Fingerprint is the upstream table, node → setting → value, as compact
	// JSON. Settings are the gate's own, as it ran.
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
	Settings    json.RawMessage `json:"settings,omitempty"`
	Started     time.Time       `json:"started"`
}

// Host is the process that writes.
type Host struct {
	Name   string `json:"host"`
	PID    int    `json:"pid"`
	BootID string `json:"bootId,omitempty"`
}

const (
	livenessLock  = "lock"
	livenessLease = "lease"
)

// Bounds of the heartbeat, so that no file makes an observer wait for ever or
// not at all.
const (
	minHeartbeat = 100 * time.Millisecond
	maxHeartbeat = time.Hour
)

func (r *Record) heartbeat() time.Duration {
	return time.Duration(r.HeartbeatMillis) * time.Millisecond
}

func parseRecord(data []byte, ref storage.SnapshotRef) (*Record, error) {
	var r Record
	if err := decode(data, openFormat, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", openName, err)
	}
	switch beat := r.heartbeat(); {
	case r.SnapshotID != ref.ID || r.GateID != ref.Gate:
		return nil, corrupt("%s belongs to snapshot %s/%s", openName, r.GateID, r.SnapshotID)
	case !isHex(r.Nonce, 16):
		return nil, corrupt("%s has no nonce", openName)
	case beat < minHeartbeat || beat > maxHeartbeat:
		return nil, corrupt("%s has a heartbeat of %s", openName, beat)
	case r.Liveness != livenessLock && r.Liveness != livenessLease:
		return nil, corrupt("%s has liveness %q", openName, r.Liveness)
	}
	return &r, nil
}

// lease is lease.json, the only file that is overwritten.
type lease struct {
	header
	SnapshotID string `json:"snapshotId"`
	Nonce      string `json:"nonce"`
	Seq        int64  `json:"seq"`
	Sum        string `json:"sum,omitempty"`
}

func (l lease) encode() ([]byte, error) {
	l.header, l.Sum = header{leaseFormat, formatVersion}, ""
	return encodeSummed(&l, &l.Sum)
}

func parseLease(data []byte) (*lease, error) {
	var l lease
	if err := decodeSummed(data, leaseFormat, &l, &l.Sum); err != nil {
		return nil, fmt.Errorf("%s: %w", leaseName, err)
	}
	return &l, nil
}

// Tombstone is interrupted.json. Its mere existence forbids a replay, whether
// or not it can be parsed.
type Tombstone struct {
	header
	SnapshotID string                `json:"snapshotId"`
	Status     storage.SnapshotState `json:"status"` // INTERRUPTED or PRUNED
	Reason     string                `json:"reason"`
	By         Host                  `json:"by"`
	Nonce      string                `json:"nonce"` // of whoever wrote it: only they may withdraw it
	At         time.Time             `json:"at"`
	// What a pruned snapshot held, from its manifest.
	Rows   int64  `json:"rows,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Digest string `json:"digest,omitempty"`
	Sum    string `json:"sum,omitempty"`
}

func (t Tombstone) encode() ([]byte, error) {
	t.header, t.Sum = header{tombstoneFormat, formatVersion}, ""
	return encodeSummed(&t, &t.Sum)
}

func parseTombstone(data []byte) (*Tombstone, error) {
	var t Tombstone
	if err := decodeSummed(data, tombstoneFormat, &t, &t.Sum); err != nil {
		return nil, fmt.Errorf("%s: %w", tombstoneName, err)
	}
	if t.Status != storage.SnapshotInterrupted && t.Status != storage.SnapshotPruned {
		return nil, corrupt("%s has status %q", tombstoneName, t.Status)
	}
	return &t, nil
}

// Pin is pin-<id>.json: somebody needs this snapshot.
type Pin struct {
	header
	ID      string    `json:"id"` // letters, digits, - and _; an execution id, or a name
	By      Host      `json:"by"`
	Reason  string    `json:"reason,omitempty"`
	Created time.Time `json:"created"`
	// Expires is when the pin stops holding, zero for never. Retention adds
	// an hour, since two machines' clocks differ.
	Expires time.Time `json:"expires,omitzero"`
	Sum     string    `json:"sum,omitempty"`
}

// pinGrace covers the difference of two machines' clocks.
const pinGrace = time.Hour

func (p Pin) encode() ([]byte, error) {
	p.header, p.Sum = header{pinFormat, formatVersion}, ""
	return encodeSummed(&p, &p.Sum)
}

func parsePin(data []byte) (*Pin, error) {
	var p Pin
	if err := decodeSummed(data, pinFormat, &p, &p.Sum); err != nil {
		return nil, fmt.Errorf("pin: %w", err)
	}
	return &p, nil
}

// holds tells whether the pin still counts at now.
func (p *Pin) holds(now time.Time) bool {
	return p.Expires.IsZero() || now.Before(p.Expires.Add(pinGrace))
}

// encodeSummed encodes v twice: without its last member, sum, to compute it,
// and with it.
func encodeSummed(v any, field *string) ([]byte, error) {
	body, err := canonical(v)
	if err != nil {
		return nil, err
	}
	*field = sum(body)
	return canonical(v)
}

// decodeSummed is decode with a check of the sum.
func decodeSummed(data []byte, format string, v any, field *string) error {
	if err := decode(data, format, v); err != nil {
		return err
	}
	stored := *field
	*field = ""
	body, err := canonical(v)
	if err != nil {
		return err
	}
	*field = stored
	if sum(body) != stored {
		return corrupt("its sum does not match")
	}
	return nil
}
