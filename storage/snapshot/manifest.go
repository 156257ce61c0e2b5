package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"time"

	"sluice/storage"
)

// Manifest is SnapshotManifest.json. One that Store.Load returned has been
// verified; do not change it.
type Manifest struct {
	header
	SnapshotID string                `json:"snapshotId"`
	GateID     string                `json:"gateId"`
	Origin     Origin                `json:"origin"`
	Status     storage.SnapshotState `json:"status"` // SEALED or INTERRUPTED
	Reason     string                `json:"reason,omitempty"`
	RowCount   int64                 `json:"rowCount"`
	Bytes      int64                 `json:"bytes"`
	// Schema is the schema of the first part, for readers that know one only.
	Schema   json.RawMessage `json:"schema,omitempty"`
	Parts    []Part          `json:"parts"`
	Segments []Segment       `json:"segments"` // by part, then index
	// ContentDigest is equal for equal schemas and rows, whatever the codec,
	// the segment boundaries and the time. Empty unless SEALED.
	ContentDigest string          `json:"contentDigest,omitempty"`
	Variables     []Variable      `json:"variables,omitempty"`
	Sources       []SourceMark    `json:"sources,omitempty"`
	Effects       json.RawMessage `json:"effects,omitempty"`
	Started       time.Time       `json:"started"`
	Ended         time.Time       `json:"ended"`
	OpenDigest    string          `json:"openDigest"` // SHA-256 of open.json
	Root          string          `json:"root"`       // last link of the chain
	KeyID         string          `json:"keyId,omitempty"`
	Digest        string          `json:"digest,omitempty"` // SHA-256 of all the above
	MAC           string          `json:"mac,omitempty"`    // HMAC-SHA256 over the digest
}

// Part is one stream of rows: one port and copy of the gate's transform.
type Part struct {
	ID     int             `json:"id"` // from 0, without gaps
	Port   string          `json:"port"`
	Copy   int             `json:"copy"`
	Schema json.RawMessage `json:"schema"` // compact JSON
	Rows   int64           `json:"rows"`
	// ContentDigest is the encoder's SHA-256, in hex, over the part's rows in
	// order. It must not depend on codec or segment boundaries.
	ContentDigest string `json:"contentDigest,omitempty"`
}

// Segment is one stored object.
type Segment struct {
	Part   int    `json:"part"`
	Index  int    `json:"index"` // from 0 in its part, without gaps
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
	MD5    string `json:"md5,omitempty"` // where the remote can compute it too
	Chain  string `json:"chain"`
}

// Variable is a variable or parameter that the upstream reads. A secret is
// kept only as an HMAC under a key of the installation.
type Variable struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Secret string `json:"secret,omitempty"` // "<installation key id>:<hmac>"
}

// SourceMark is what identified a source when it was read: a file's hash, a
// query's time, an offset.
type SourceMark struct {
	Node  string `json:"node"`
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// chainLink is SHA-256(previous ‖ canonical(segment without chain)).
func chainLink(previous []byte, s Segment) ([]byte, error) {
	link, err := canonical(struct {
		Part   int    `json:"part"`
		Index  int    `json:"index"`
		Name   string `json:"name"`
		Bytes  int64  `json:"bytes"`
		Rows   int64  `json:"rows"`
		SHA256 string `json:"sha256"`
	}{s.Part, s.Index, s.Name, s.Bytes, s.Rows, s.SHA256})
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write(previous)
	h.Write(link)
	return h.Sum(nil), nil
}

// linkChain fills in Chain of every segment and Root, from OpenDigest on.
func (m *Manifest) linkChain() error {
	link, err := hex.DecodeString(m.OpenDigest)
	if err != nil {
		return err
	}
	for i := range m.Segments {
		if link, err = chainLink(link, m.Segments[i]); err != nil {
			return err
		}
		m.Segments[i].Chain = hex.EncodeToString(link)
	}
	m.Root = hex.EncodeToString(link)
	return nil
}

// foldContent makes the snapshot's content digest from those of its parts:
// SHA-256 over the words "sluice content 1", then for each part in order its
// port, copy, schema, rows and digest, each preceded by its length as eight
// bytes, big-endian.
func foldContent(parts []Part) string {
	h := sha256.New()
	field := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	field([]byte("sluice content 1"))
	for _, p := range parts {
		field([]byte(p.Port))
		field([]byte(strconv.Itoa(p.Copy)))
		field(p.Schema)
		field([]byte(strconv.FormatInt(p.Rows, 10)))
		field([]byte(p.ContentDigest))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// seal computes everything derived and gives the bytes of the file.
func (m *Manifest) seal(key *Key) ([]byte, error) {
	m.header = header{manifestFormat, formatVersion}
	m.normalise()
	if err := m.linkChain(); err != nil {
		return nil, err
	}
	if m.Status == storage.SnapshotSealed {
		m.ContentDigest = foldContent(m.Parts)
	}
	m.KeyID, m.Digest, m.MAC = "", "", ""
	if key != nil {
		m.KeyID = key.id
	}
	body, err := canonical(m)
	if err != nil {
		return nil, err
	}
	m.Digest = sum(body)
	if key != nil {
		if m.MAC, err = key.mac(m.Digest); err != nil {
			return nil, err
		}
	}
	data, err := canonical(m)
	if err != nil {
		return nil, err
	}
	if len(data) > maxManifestBytes {
		return nil, fmt.Errorf("manifest of %d bytes, at most %d are allowed", len(data), maxManifestBytes)
	}
	return data, nil
}

func (m *Manifest) normalise() {
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	if m.Segments == nil {
		m.Segments = []Segment{}
	}
	m.Started, m.Ended = m.Started.UTC().Round(0), m.Ended.UTC().Round(0)
	m.Schema = nil
	if len(m.Parts) > 0 {
		m.Schema = m.Parts[0].Schema
	}
}

// ParseManifest reads and verifies the bytes of a manifest by themselves:
// form, bounds, totals, chain, content digest, digest, and the MAC with keys.
// With no keys a MAC is not checked. It says nothing about segments.
func ParseManifest(data []byte, ref storage.SnapshotRef, keys []*Key) (*Manifest, error) {
	m, err := parseManifest(data, ref, keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	return m, nil
}

func parseManifest(data []byte, ref storage.SnapshotRef, keys []*Key) (*Manifest, error) {
	if len(data) > maxManifestBytes {
		return nil, corrupt("more than %d bytes", maxManifestBytes)
	}
	var m Manifest
	if err := decode(data, manifestFormat, &m); err != nil {
		return nil, err
	}
	if m.SnapshotID != ref.ID || m.GateID != ref.Gate {
		return nil, corrupt("belongs to snapshot %s/%s", m.GateID, m.SnapshotID)
	}
	if err := m.checkDigest(keys); err != nil {
		return nil, err
	}
	if err := m.checkShape(); err != nil {
		return nil, err
	}
	return &m, m.checkDerived()
}

func (m *Manifest) checkDigest(keys []*Key) error {
	body := *m
	body.Digest, body.MAC = "", ""
	data, err := canonical(&body)
	if err != nil {
		return err
	}
	if sum(data) != m.Digest {
		return corrupt("its digest does not match")
	}
	if (m.KeyID == "") != (m.MAC == "") {
		return corrupt("it names a key and a MAC only together")
	}
	if len(keys) == 0 {
		return nil
	}
	if m.MAC == "" {
		return ErrUnsigned
	}
	for _, k := range keys {
		if k.id != m.KeyID {
			continue
		}
		mac, err := k.mac(m.Digest)
		if err != nil {
			return err
		}
		if !equalMAC(mac, m.MAC) {
			return corrupt("its MAC does not match")
		}
		return nil
	}
	return fmt.Errorf("%w (%s)", ErrWrongKey, m.KeyID)
}

// checkShape looks at everything a reader would trust: names stay inside the
// folder, numbers have no gaps, totals add up.
func (m *Manifest) checkShape() error {
	if m.Status != storage.SnapshotSealed && m.Status != storage.SnapshotInterrupted {
		return corrupt("status %q", m.Status)
	}
	if !isHex(m.OpenDigest, sha256.Size) || !isHex(m.Root, sha256.Size) {
		return corrupt("openDigest or root is not a SHA-256")
	}
	if m.Parts == nil || m.Segments == nil || len(m.Parts) > maxParts || len(m.Segments) > maxSegments {
		return corrupt("%d parts, %d segments", len(m.Parts), len(m.Segments))
	}
	for i, p := range m.Parts {
		if p.ID != i || p.Copy < 0 || p.Rows < 0 || len(p.Schema) == 0 {
			return corrupt("part %d is not well formed", i)
		}
		if m.Status == storage.SnapshotSealed && !isHex(p.ContentDigest, sha256.Size) {
			return corrupt("part %d has no content digest", i)
		}
	}
	return m.checkSegments()
}

func (m *Manifest) checkSegments() error {
	var rows, bytes int64
	perPart := make([]int64, len(m.Parts))
	for i, s := range m.Segments {
		if err := s.check(); err != nil {
			return err
		}
		if s.Part >= len(m.Parts) {
			return corrupt("segment %s has no part", s.Name)
		}
		// An interrupted writer may have lost a segment in the middle.
		first := i == 0 || m.Segments[i-1].Part != s.Part
		switch {
		case i > 0 && !first && m.Segments[i-1].Index >= s.Index, i > 0 && m.Segments[i-1].Part > s.Part:
			return corrupt("segment %s is out of order", s.Name)
		case m.Status == storage.SnapshotSealed && first && s.Index != 0,
			m.Status == storage.SnapshotSealed && !first && s.Index != m.Segments[i-1].Index+1:
			return corrupt("a segment is missing before %s", s.Name)
		}
		rows += s.Rows
		bytes += s.Bytes
		perPart[s.Part] += s.Rows
	}
	if m.Status != storage.SnapshotSealed {
		return nil
	}
	for i, p := range m.Parts {
		if perPart[i] != p.Rows {
			return corrupt("part %d has %d rows in its segments, %d are stated", i, perPart[i], p.Rows)
		}
	}
	if rows != m.RowCount || bytes != m.Bytes {
		return corrupt("totals do not add up")
	}
	return nil
}

// check looks at one segment entry. The name is derived from the other
// members, so it can point nowhere else.
func (s Segment) check() error {
	switch {
	case s.Part < 0 || s.Part >= maxParts || s.Index < 0 || s.Index >= maxSegments:
		return corrupt("segment numbers %d, %d", s.Part, s.Index)
	case !isHex(s.SHA256, sha256.Size):
		return corrupt("segment %q has no SHA-256", s.Name)
	case s.MD5 != "" && !isHex(s.MD5, 16):
		return corrupt("segment %q has a wrong MD5", s.Name)
	case s.Bytes < 0 || s.Bytes > MaxSegmentBytes || s.Rows < 0:
		return corrupt("segment %q has %d bytes, %d rows", s.Name, s.Bytes, s.Rows)
	case s.Name != path.Base(s.Name):
		return fmt.Errorf("segment name %q points outside the snapshot: %w", s.Name, storage.ErrCorrupt)
	}
	found := segmentPattern().FindStringSubmatch(s.Name)
	if found == nil || s.Name != segmentName(s.Part, s.Index, s.SHA256, found[4]) {
		return corrupt("segment name %q does not match its entry", s.Name)
	}
	return nil
}

// checkDerived recomputes what seal derived.
func (m *Manifest) checkDerived() error {
	again := *m
	again.Segments = append([]Segment(nil), m.Segments...)
	if err := again.linkChain(); err != nil {
		return err
	}
	for i := range m.Segments {
		if again.Segments[i].Chain != m.Segments[i].Chain {
			return corrupt("the chain breaks at segment %s", m.Segments[i].Name)
		}
	}
	switch {
	case again.Root != m.Root:
		return corrupt("the chain does not end in root")
	case m.Status == storage.SnapshotSealed && foldContent(m.Parts) != m.ContentDigest:
		return corrupt("contentDigest does not match its parts")
	case len(m.Parts) > 0 && string(m.Schema) != string(m.Parts[0].Schema), len(m.Parts) == 0 && m.Schema != nil:
		return corrupt("schema is not that of the first part")
	}
	return nil
}

// SegmentsOf gives the segments of one part, in order.
func (m *Manifest) SegmentsOf(part int) []Segment {
	var list []Segment
	for _, s := range m.Segments {
		if s.Part == part {
			list = append(list, s)
		}
	}
	return list
}

// PartOf finds the part of a port and copy.
func (m *Manifest) PartOf(port string, copyNumber int) (Part, bool) {
	for _, p := range m.Parts {
		if p.Port == port && p.Copy == copyNumber {
			return p, true
		}
	}
	return Part{}, false
}
