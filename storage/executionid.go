package storage

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

var (
	executionIDPattern = lazily(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	idPrefixPattern    = lazily(`^[0-9a-f-]{1,36}$`)
)

// NewExecutionID makes a UUIDv7 (RFC 9562): the milliseconds of now, then
// random bits, so that sorting by id is sorting by time.
func NewExecutionID(now time.Time, random io.Reader) (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[6:]); err != nil {
		return "", fmt.Errorf("new execution id: %w", err)
	}
	for i, ms := 0, now.UnixMilli(); i < 6; i++ {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return hyphens(hex.EncodeToString(u[:])), nil
}

func hyphens(digits string) string {
	var b strings.Builder
	for i, c := range []byte(digits) {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			b.WriteByte('-')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// CheckExecutionID refuses what is not a UUIDv7 in its text form, with
// ErrBadName.
func CheckExecutionID(id string) error {
	if !executionIDPattern().MatchString(id) {
		return fmt.Errorf("execution id %q is not a UUIDv7: %w", id, ErrBadName)
	}
	return nil
}

// ExecutionTime is the moment, UTC in milliseconds, at which the execution
// with this id was created; zero when it is not an id.
func ExecutionTime(id string) time.Time {
	if !executionIDPattern().MatchString(id) {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// lowestID is the least id that an execution created at t can have.
func lowestID(t time.Time) string {
	ms := min(max(t.UnixMilli(), 0), 1<<48-1)
	return hyphens(fmt.Sprintf("%012x", ms))
}

// IDRange is the half-open range of ids of executions created in [from, to);
// a zero time is no bound, and "" is none in the result.
func IDRange(from, to time.Time) (low, high string) {
	if !from.IsZero() {
		low = lowestID(from)
	}
	if !to.IsZero() {
		high = lowestID(to)
	}
	return low, high
}

// NormalizeIDPrefix reads a shortened id as a person writes it: upper case,
// and with or without hyphens. ErrBadName when it cannot begin an id.
func NormalizeIDPrefix(text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if !idPrefixPattern().MatchString(text) || len(strings.ReplaceAll(text, "-", "")) > 32 {
		return "", fmt.Errorf("%q is not the beginning of an execution id: %w", text, ErrBadName)
	}
	return hyphens(strings.ReplaceAll(text, "-", "")), nil
}
