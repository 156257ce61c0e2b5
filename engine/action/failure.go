package action

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// ErrNoParent means that no workflow or pipeline runs this workflow.
var ErrNoParent = errors.New("this workflow has no parent")

// FailureClass says what a retry may hope for.
type FailureClass int

// The classes of failures.
const (
	FailureOther        FailureClass = iota
	FailureConnection                // the other side could not be reached, or went away
	FailureThrottled                 // HTTP 429: too many requests
	FailureUnauthorized              // HTTP 401: trying again with the same token locks accounts
)

// HTTPFailure is implemented by errors that stand for an HTTP answer.
type HTTPFailure interface {
	error
	HTTPStatus() int
	// RetryAfter is the time the server asks to wait, 0 when it does not.
	RetryAfter() time.Duration
}

const (
	statusUnauthorized = 401
	statusThrottled    = 429
)

// Classify says what kind of failure an error is, and how long the other side
// asks to wait. It is the one place where that is decided.
func Classify(err error) (FailureClass, time.Duration) {
	if answer, ok := errors.AsType[HTTPFailure](err); ok {
		switch answer.HTTPStatus() {
		case statusUnauthorized:
			return FailureUnauthorized, 0
		case statusThrottled:
			return FailureThrottled, answer.RetryAfter()
		}
		return FailureOther, answer.RetryAfter()
	}
	if errors.Is(err, context.Canceled) {
		return FailureOther, 0
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return FailureConnection, 0
	}
	for _, broken := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.EHOSTUNREACH,
		syscall.ENETUNREACH, syscall.ETIMEDOUT, net.ErrClosed, io.ErrUnexpectedEOF,
	} {
		if errors.Is(err, broken) {
			return FailureConnection, 0
		}
	}
	return FailureOther, 0
}
