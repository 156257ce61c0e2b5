package rclone

import "log/slog"

// RedactingHandler is the handler that rclone's notices pass.
func RedactingHandler(next slog.Handler, known string) slog.Handler {
	s := &secrets{}
	s.add(known)
	return &redactingHandler{next, s}
}
