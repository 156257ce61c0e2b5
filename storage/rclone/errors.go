package rclone

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/pkg/sftp"
	"github.com/rclone/rclone/backend/webdav/api"
	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/fserrors"
	"google.golang.org/api/googleapi"

	"sluice/storage"
)

// explain turns an error of rclone into one of storage. The original error is
// not wrapped, on purpose: it may print secrets, and callers decide by
// sentinel. The cause of ctx is.
func explain(ctx context.Context, s *secrets, op, where string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*storage.Error](err); ok {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return &storage.Error{Op: op, Location: where, Err: cause}
	}
	text := s.redact(err.Error())
	if sentinel := classify(err); sentinel != nil {
		return &storage.Error{Op: op, Location: where, Err: fmt.Errorf("%w: %s", sentinel, text)}
	}
	return &storage.Error{Op: op, Location: where, Err: errors.New(text)}
}

// passing are the sentinels of this module that are kept.
var passing = []error{
	storage.ErrNotFound, storage.ErrExists, storage.ErrCorrupt, storage.ErrPermission, storage.ErrNoSpace, storage.ErrAuth,
	storage.ErrUnreachable, storage.ErrBusy, storage.ErrUnknownRemote, storage.ErrConfig, storage.ErrBadName,
	storage.ErrBadLocation, errors.ErrUnsupported,
}

// classify finds the sentinel for an error of a backend, nil when it has none.
func classify(err error) error {
	for _, sentinel := range passing {
		if errors.Is(err, sentinel) {
			return sentinel
		}
	}
	switch {
	case errors.Is(err, fs.ErrorObjectNotFound), errors.Is(err, fs.ErrorDirNotFound), errors.Is(err, iofs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return storage.ErrNotFound
	case errors.Is(err, fs.ErrorPermissionDenied), errors.Is(err, iofs.ErrPermission), errors.Is(err, syscall.EROFS):
		return storage.ErrPermission
	case fserrors.IsErrNoSpace(err), errors.Is(err, syscall.ENOSPC):
		return storage.ErrNoSpace
	case errors.Is(err, fs.ErrorCantMove), errors.Is(err, fs.ErrorNotImplemented):
		return errors.ErrUnsupported
	}
	if sentinel := classifyService(err); sentinel != nil {
		return sentinel
	}
	if isAuthText(err) {
		return storage.ErrAuth
	}
	if isNetwork(err) || fserrors.ShouldRetry(err) || fserrors.IsRetryError(err) {
		return storage.ErrUnreachable
	}
	return nil
}

// authCodes are S3 and Azure codes that come with status 403 and mean 401.
var authCodes = map[string]bool{
	"InvalidAccessKeyId": true, "SignatureDoesNotMatch": true, "ExpiredToken": true, "InvalidToken": true,
	"AuthenticationFailed": true, "InvalidAuthenticationInfo": true, "NoAuthenticationInformation": true, "RequestTimeTooSkewed": true,
}

// classifyService reads the status that a service answered with.
func classifyService(err error) error {
	status, code := serviceStatus(err)
	if authCodes[code] {
		return storage.ErrAuth
	}
	switch code {
	case "QuotaExceeded", "XMinioStorageFull", "EntityTooLarge":
		return storage.ErrNoSpace
	case "PreconditionFailed":
		return storage.ErrExists
	case "ConditionalRequestConflict", "SlowDown", "ServerBusy":
		return storage.ErrBusy
	}
	switch status {
	case http.StatusUnauthorized:
		return storage.ErrAuth
	case http.StatusForbidden:
		return storage.ErrPermission
	case http.StatusPreconditionFailed:
		return storage.ErrExists
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return storage.ErrBusy
	case http.StatusInsufficientStorage:
		return storage.ErrNoSpace
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return storage.ErrUnreachable
	}
	if ftp, ok := errors.AsType[*textproto.Error](err); ok {
		switch ftp.Code {
		case 530, 430:
			return storage.ErrAuth
		case 452, 552:
			return storage.ErrNoSpace
		case 550, 553:
			return storage.ErrPermission
		case 421, 425, 426, 450, 451:
			return storage.ErrUnreachable
		}
	}
	return nil
}

// serviceStatus is the HTTP status and the service's own code, as far as the
// client libraries give them.
func serviceStatus(err error) (status int, code string) {
	var coder interface{ ErrorCode() string } // AWS
	if errors.As(err, &coder) {
		code = coder.ErrorCode()
	}
	var answer interface{ HTTPStatusCode() int } // AWS
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode(), code
	}
	if azure, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return azure.StatusCode, azure.ErrorCode
	}
	if google, ok := errors.AsType[*googleapi.Error](err); ok {
		return google.Code, code
	}
	if dav, ok := errors.AsType[*api.Error](err); ok {
		return dav.StatusCode, code
	}
	return 0, code
}

// isAuthText: the SSH library has no error value for a refused login.
func isAuthText(err error) bool {
	text := err.Error()
	return strings.Contains(text, "unable to authenticate") || strings.Contains(text, "knownhosts: key ")
}

// isTimeout: nothing came for as long as a server may be silent, or no
// connection came about.
func isTimeout(err error) bool {
	var network net.Error
	// Every syscall.Errno is a net.Error too.
	return errors.As(err, &network) && network.Timeout()
}

func isNetwork(err error) bool {
	var address *net.OpError
	var dns *net.DNSError
	var link *url.Error
	return isTimeout(err) || errors.As(err, &address) || errors.As(err, &dns) || errors.As(err, &link) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, sftp.ErrSSHFxConnectionLost) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "no available namenodes") // the HDFS library drops the cause
}
