package rclone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/pkg/sftp"
	"github.com/rclone/rclone/backend/webdav/api"
	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/fserrors"
	"google.golang.org/api/googleapi"

	"sluice/storage"
)

// awsError has the methods of the AWS library's errors.
type awsError struct {
	status int
	code   string
}

func (e awsError) Error() string       { return e.code }
func (e awsError) HTTPStatusCode() int { return e.status }
func (e awsError) ErrorCode() string   { return e.code }

func TestClassify(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"object not found":     {fs.ErrorObjectNotFound, storage.ErrNotFound},
		"folder not found":     {fmt.Errorf("list: %w", fs.ErrorDirNotFound), storage.ErrNotFound},
		"below a file":         {&os.PathError{Op: "lstat", Err: syscall.ENOTDIR}, storage.ErrNotFound},
		"permission":           {&os.PathError{Op: "open", Err: syscall.EACCES}, storage.ErrPermission},
		"read-only":            {&os.PathError{Op: "open", Err: syscall.EROFS}, storage.ErrPermission},
		"disk full":            {&os.PathError{Op: "write", Err: syscall.ENOSPC}, storage.ErrNoSpace},
		"S3 wrong key":         {awsError{403, "InvalidAccessKeyId"}, storage.ErrAuth},
		"S3 wrong secret":      {awsError{403, "SignatureDoesNotMatch"}, storage.ErrAuth},
		"S3 token expired":     {awsError{400, "ExpiredToken"}, storage.ErrAuth},
		"S3 denied":            {awsError{403, "AccessDenied"}, storage.ErrPermission},
		"S3 slow down":         {awsError{503, "SlowDown"}, storage.ErrBusy},
		"S3 precondition":      {awsError{412, "PreconditionFailed"}, storage.ErrExists},
		"S3 conflict":          {awsError{409, "ConditionalRequestConflict"}, storage.ErrBusy},
		"S3 internal":          {awsError{500, "InternalError"}, storage.ErrUnreachable},
		"S3 not implemented":   {awsError{501, "NotImplemented"}, nil},
		"Azure authentication": {&azcore.ResponseError{StatusCode: 403, ErrorCode: "AuthenticationFailed"}, storage.ErrAuth},
		"Azure permission":     {&azcore.ResponseError{StatusCode: 403, ErrorCode: "AuthorizationPermissionMismatch"}, storage.ErrPermission},
		"Google quota":         {&googleapi.Error{Code: 429}, storage.ErrBusy},
		"Google login":         {&googleapi.Error{Code: 401}, storage.ErrAuth},
		"WebDAV full":          {&api.Error{StatusCode: 507}, storage.ErrNoSpace},
		"FTP login":            {&textproto.Error{Code: 530}, storage.ErrAuth},
		"FTP full":             {&textproto.Error{Code: 552}, storage.ErrNoSpace},
		"FTP closing":          {&textproto.Error{Code: 421}, storage.ErrUnreachable},
		"SSH login":            {errors.New("ssh: handshake failed: ssh: unable to authenticate, attempted methods [none password]"), storage.ErrAuth},
		"refused":              {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, storage.ErrUnreachable},
		"HTTP":                 {&url.Error{Op: "Get", URL: "http://h", Err: errors.New("EOF")}, storage.ErrUnreachable},
		"SFTP lost":            {fmt.Errorf("Update ReadFrom failed: %w", sftp.ErrSSHFxConnectionLost), storage.ErrUnreachable},
		"HDFS away":            {errors.New("mkdir /x: no available namenodes: EOF"), storage.ErrUnreachable},
		"cut off":              {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), storage.ErrUnreachable},
		"retry, says rclone":   {fserrors.RetryErrorf("try again"), storage.ErrUnreachable},
		"input/output":         {&os.PathError{Op: "read", Err: syscall.EIO}, nil},
		"unknown":              {errors.New("?"), nil},
	} {
		if got := classify(c.err); got != c.want { //nolint:errorlint // the sentinel itself is given
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What explain gives keeps the sentinel and nothing that may print a secret.
func TestExplainBreaksTheChain(t *testing.T) {
	s := &secrets{}
	s.add("hunter2-secret")
	cause := &url.Error{Op: "Get", URL: "https://h/?sig=hunter2-secret", Err: errors.New("EOF")}
	err := explain(t.Context(), s, "read", "r:x", cause)
	if !errors.Is(err, storage.ErrUnreachable) || errors.Is(err, cause) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
	stop := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if err := explain(ctx, s, "read", "r:x", cause); !errors.Is(err, stop) || storage.IsRetryable(err) {
		t.Errorf("after the end of the context: %v", err)
	}
}
