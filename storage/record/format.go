package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
)

const formatVersion = 1

// The format word of each JSON file.
const (
	headFormat  = "sluice-record"
	pageFormat  = "sluice-record-page"
	leaseFormat = "sluice-record-lease"
	claimFormat = "sluice-record-claim"
)

// Bounds. A file that breaks one is refused.
const (
	maxHeadBytes  = 64 << 20
	maxBlobBytes  = 1 << 30
	maxSmallBytes = 1 << 20
	maxSeq        = 999_999
)

// Why a record cannot be used.
var (
	// ErrUnsigned: a key is set, so a record without a MAC is refused.
	ErrUnsigned = errors.New("record is not signed, although a key is set")
	// ErrWrongKey: signed with a key that is not at hand. Set that key.
	ErrWrongKey = errors.New("record is signed with another key")
	// ErrNewerFormat: written by a newer version. Update Sluice.
	ErrNewerFormat = errors.New("record is written in a newer format: update Sluice to read it")
	// ErrFenced: the writer or claimer could not prove for too long that it
	// lives, so others may have taken over. Stop at once.
	ErrFenced = errors.New("heartbeat of the record lost: the remote was not reachable for too long")
	// ErrEnded: the writer has stored the end already.
	ErrEnded = errors.New("record has ended")
	// ErrClaimed: another replay of this execution is under way. Comes as a
	// *ClaimedError.
	ErrClaimed = errors.New("another replay is active")
)

var (
	headPattern = regexp.MustCompile(`^record-([0-9a-f-]{36})-([0-9a-f]{16})-([0-9]{6})\.json$`)
	blobPattern = regexp.MustCompile(`^blob-([0-9a-f]{64})\.bin$`)
)

const (
	rootFolder  = "executions"
	leaseName   = "lease.json"
	claimFolder = "claims"
	jsonSuffix  = ".json"
	lockSuffix  = ".lock"
)

func folder(origin string) string { return path.Join(rootFolder, origin) }

func headName(execution, nonce string, seq int64) string {
	return fmt.Sprintf("record-%s-%s-%06d%s", execution, nonce, seq, jsonSuffix)
}

func blobName(hash string) string { return "blob-" + hash + ".bin" }

type header struct {
	Format  string `json:"format"`
	Version int    `json:"formatVersion"`
}

// head is one record-*.json.
type head struct {
	header
	Origin   string    `json:"origin"`
	Writer   string    `json:"writer"` // nonce
	Seq      int64     `json:"seq"`
	Previous string    `json:"previous,omitempty"` // digest of head Seq-1
	KeyID    string    `json:"keyId,omitempty"`
	Written  time.Time `json:"written"`
	Record
	Pages  []string `json:"pages,omitempty"` // hashes of blobs, each a page of runs
	Tail   []run    `json:"runs,omitempty"`  // the runs behind the pages
	Digest string   `json:"digest,omitempty"`
	MAC    string   `json:"mac,omitempty"`
}

// run is an action run with its rows by hash.
type run struct {
	storage.ActionRun
	RowsBlob string `json:"rowsBlob,omitempty"`
}

// page is a blob of ended runs.
type page struct {
	header
	Runs []run `json:"runs"`
}

// encode signs and encodes a head.
func (h *head) encode(key *snapshot.Key) ([]byte, error) {
	h.header, h.Digest, h.MAC, h.KeyID = header{headFormat, formatVersion}, "", "", ""
	if key != nil {
		h.KeyID = key.ID()
	}
	body, err := canonical(h)
	if err != nil {
		return nil, err
	}
	digest := sum(body)
	if key != nil {
		if h.MAC, err = key.MAC(digest); err != nil {
			return nil, err
		}
	}
	h.Digest = digest
	return canonical(h)
}

func parseHead(data []byte, keys []*snapshot.Key) (*head, error) {
	var h head
	if err := decode(data, headFormat, &h); err != nil {
		return nil, err
	}
	digest, mac := h.Digest, h.MAC
	h.Digest, h.MAC = "", ""
	body, err := canonical(&h)
	if err != nil {
		return nil, err
	}
	if sum(body) != digest {
		return nil, corrupt("its digest does not match")
	}
	h.Digest, h.MAC = digest, mac
	if len(h.Executions) == 0 {
		return nil, corrupt("it has no execution")
	}
	return &h, h.checkKey(keys)
}

func (h *head) checkKey(keys []*snapshot.Key) error {
	if len(keys) == 0 {
		return nil
	}
	if h.MAC == "" {
		return ErrUnsigned
	}
	for _, k := range keys {
		if k.ID() != h.KeyID {
			continue
		}
		want, err := k.MAC(h.Digest)
		if err != nil {
			return err
		}
		if !hmac.Equal([]byte(want), []byte(h.MAC)) {
			return corrupt("its MAC does not match")
		}
		return nil
	}
	return fmt.Errorf("%w (key %s)", ErrWrongKey, h.KeyID)
}

// canonical encodes v the one way this package writes it.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode parses one file strictly: exactly the bytes that canonical gives for
// the result.
func decode(data []byte, format string, v any) error {
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		return corrupt("not JSON (%v)", err)
	}
	switch {
	case h.Format != format:
		return corrupt("format is %q, not %q", h.Format, format)
	case h.Version > formatVersion:
		return fmt.Errorf("format version %d, this program knows %d: %w", h.Version, formatVersion, ErrNewerFormat)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return corrupt("not a %s file (%v)", format, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return corrupt("something follows the JSON object")
	}
	again, err := canonical(v)
	if err != nil {
		return corrupt("cannot be encoded again (%v)", err)
	}
	if !bytes.Equal(again, data) {
		return corrupt("not in canonical form")
	}
	return nil
}

func checkCompact(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil || !bytes.Equal(b.Bytes(), raw) || string(raw) == "null" {
		return fmt.Errorf("extra facts are not compact JSON: %w", storage.ErrBadName)
	}
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), storage.ErrCorrupt)
}

// parseHeadName takes the name of a head apart.
func parseHeadName(name string) (execution, nonce string, seq int64, ok bool) {
	m := headPattern.FindStringSubmatch(path.Base(name))
	if m == nil {
		return "", "", 0, false
	}
	seq, err := strconv.ParseInt(m[3], 10, 64)
	return m[1], m[2], seq, err == nil
}

// encodeSummed encodes a small file whose last member is a sum.
func encodeSummed(v any, field *string) ([]byte, error) {
	*field = ""
	body, err := canonical(v)
	if err != nil {
		return nil, err
	}
	*field = sum(body)
	return canonical(v)
}

func decodeSummed(data []byte, format string, v any, field *string) error {
	if err := decode(data, format, v); err != nil {
		return err
	}
	stored := *field
	*field = ""
	body, err := canonical(v)
	*field = stored
	if err != nil {
		return err
	}
	if sum(body) != stored {
		return corrupt("its sum does not match")
	}
	return nil
}
