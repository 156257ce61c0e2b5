package storage

import (
	"context"
	"errors"
	"io"
	"net"
)

// The conditions a remote reports. Everything else that goes wrong is an
// unclassified error of the backend, which IsRetryable treats as permanent.
var (
	// ErrNotFound: the object is certainly not there.
	ErrNotFound = errors.New("not found")
	// ErrExists: there is an object and the call was to create one.
	ErrExists = errors.New("already exists")
	// ErrCorrupt: stored bytes are not what was written: wrong size, hash or
	// form. Never retry; whoever wrote them must write them again.
	ErrCorrupt = errors.New("corrupt")
	// ErrPermission: the user is known and not allowed to do this.
	ErrPermission = errors.New("permission denied")
	// ErrNoSpace: disk, quota or bucket is full.
	ErrNoSpace = errors.New("no space left")
	// ErrAuth: the remote does not accept who we say we are.
	ErrAuth = errors.New("not authenticated")
	// ErrUnreachable: no answer from the remote. Retry, then give up.
	ErrUnreachable = errors.New("remote not reachable")
	// ErrBusy: the remote asks us to slow down. Retry later.
	ErrBusy = errors.New("remote is busy")
	// ErrUnknownRemote: no remote of that name or scheme is configured.
	ErrUnknownRemote = errors.New("unknown remote")
	// ErrConfig: the configuration of remotes cannot be read or used.
	ErrConfig = errors.New("remote configuration")
	// ErrLocked: a living process holds the lock.
	ErrLocked = errors.New("locked")
	// ErrBadName: an object name that could leave its folder.
	ErrBadName = errors.New("name not allowed")
	// ErrBadLocation: a location nobody can understand, or one that must not
	// stand in a file.
	ErrBadLocation = errors.New("bad location")
)

// permanent lists the conditions that another attempt does not change.
var permanent = []error{
	context.Canceled, context.DeadlineExceeded, errors.ErrUnsupported,
	ErrNotFound, ErrExists, ErrCorrupt, ErrPermission, ErrNoSpace, ErrAuth,
	ErrUnknownRemote, ErrConfig, ErrLocked, ErrBadName, ErrBadLocation,
}

// IsRetryable tells whether the same call may succeed a moment later. It is
// the only place that decides this.
func IsRetryable(err error) bool {
	if err == nil {
		return false
	}
	for _, stop := range permanent {
		if errors.Is(err, stop) {
			return false
		}
	}
	if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrBusy) {
		return true
	}
	// Every syscall.Errno is a net.Error too, so only time-outs and failed
	// network operations count.
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return true
	}
	var operation *net.OpError
	return errors.As(err, &operation) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrShortWrite)
}

// Error says which operation failed on which object, and what to try. It
// unwraps to the cause.
type Error struct {
	Op       string // "put", "read", "list", ...
	Location string // printable, secrets taken out
	Hint     string // what a person can do; "" gives the sentinel's own hint
	Err      error
}

func (e *Error) Error() string { return e.Op + " " + e.Location + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Hint says what a person can try about err, or "" when nothing is known.
func Hint(err error) string {
	var own *Error
	if errors.As(err, &own) && own.Hint != "" {
		return own.Hint
	}
	for _, h := range hints {
		if errors.Is(err, h.condition) {
			return h.text
		}
	}
	return ""
}

var hints = []struct {
	condition error
	text      string
}{
	{ErrUnknownRemote, "Check the name with `sluice remotes list`, or add the remote to rclone.conf."},
	{ErrConfig, "Check rclone.conf and its password (RCLONE_CONFIG_PASS)."},
	{ErrAuth, "Renew the credentials of this remote, then try `sluice remotes test`."},
	{ErrPermission, "Give this user read and write access to the location, or choose another one."},
	{ErrNoSpace, "Free space at the location (`sluice disk` shows what takes it), or choose another one."},
	{ErrUnreachable, "Check the network and that the server is up, then try `sluice remotes test`."},
	{ErrBusy, "Wait a moment, or set a bandwidth limit."},
	{ErrCorrupt, "The stored bytes have changed since they were written. Do not use them; stage the data again."},
	{ErrLocked, "Another process is using it. Wait until it ends."},
	{ErrBadLocation, "Write remote:path, an absolute folder, or a URI such as s3://bucket/path."},
	{ErrNotFound, "Check the path."},
}
