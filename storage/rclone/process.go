package rclone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/accounting"
	"github.com/rclone/rclone/fs/config"
	"github.com/rclone/rclone/fs/fshttp"
	"github.com/rclone/rclone/lib/atexit"

	"sluice/storage"
)

// process guards what rclone keeps once per process: its configuration, its
// logger, its signal handlers. It is the one global variable of this package,
// because they are global in rclone.
var process struct {
	mu          sync.Mutex
	set         bool   // logger and defaults
	defaultPath string // of rclone.conf
	users       int    // clients that are open
	path        string // their configuration; "" is in memory
	secrets     secrets
}

// start makes rclone ready for this client. c.mu is held.
func (c *Client) start(ctx context.Context) error {
	if c.closed {
		return fmt.Errorf("rclone client is closed: %w", storage.ErrConfig)
	}
	if c.started {
		return nil
	}
	process.mu.Lock()
	defer process.mu.Unlock()
	if !process.set {
		setDefaults(ctx, c)
		process.set = true
	}
	path := c.o.ConfigPath
	if path == "" {
		path = cmp.Or(os.Getenv("RCLONE_CONFIG"), process.defaultPath)
	}
	if c.o.InMemory {
		path = ""
	}
	if process.users > 0 && process.path != path {
		return fmt.Errorf("%w: another rclone.conf is in use in this process", storage.ErrConfig)
	}
	if process.users == 0 {
		if err := c.load(ctx, path); err != nil {
			return err
		}
		process.path = path
		// Most backends share the one that is made first.
		fshttp.ResetTransport()
		fshttp.NewTransport(c.withTimeouts(ctx, ""))
	}
	process.users++
	c.started = true
	return nil
}

// leave is the reverse of start.
func leave() {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.users--
	if process.users == 0 {
		config.ClearConfigPassword()
	}
}

// setDefaults runs once per process.
func setDefaults(ctx context.Context, c *Client) {
	process.defaultPath = config.GetConfigPath()
	atexit.IgnoreSignals() // else rclone ends the process on SIGTERM and SIGINT
	fs.SetLogger(&redactingHandler{next: c.o.Logger.Handler(), secrets: c.secrets})
	ci := fs.GetConfig(ctx)
	ci.LogLevel = fs.LogLevelNotice // Debug prints whole connection strings
	ci.AskPassword = false          // never read from stdin
	// This package retries whole calls. With rclone's retries below its own, a
	// dead server was waited for two minutes.
	ci.LowLevelRetries = 1
	accounting.Start(context.WithoutCancel(ctx))
}

// load reads rclone.conf before rclone does: rclone itself would end the
// process over a file that it cannot read or decrypt.
func (c *Client) load(ctx context.Context, path string) error {
	if err := config.SetConfigPath(path); err != nil {
		return fmt.Errorf("%w %s: %w", storage.ErrConfig, path, err)
	}
	if path == "" {
		return nil
	}
	if c.o.Password != nil && os.Getenv("RCLONE_CONFIG_PASS") == "" {
		if err := c.setPassword(ctx); err != nil {
			return err
		}
	}
	file, err := loadFile(path)
	if err != nil {
		return err
	}
	config.SetData(file)
	return nil
}

// systemCause is the operating system's part of an error, which holds no
// content of the file.
func systemCause(err error) string {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return ": " + path.Err.Error()
	}
	return ""
}

func (c *Client) setPassword(ctx context.Context) error {
	password, err := c.o.Password(ctx)
	if err != nil {
		return fmt.Errorf("%w: its password: %w", storage.ErrConfig, err)
	}
	if password == "" {
		return nil
	}
	c.secrets.add(password)
	if err := config.SetConfigPassword(password); err != nil {
		return fmt.Errorf("%w: the password of rclone.conf cannot be used", storage.ErrConfig)
	}
	return nil
}

// redactingHandler passes rclone's notices on without secrets.
type redactingHandler struct {
	next    slog.Handler
	secrets *secrets
}

func (h *redactingHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.next.Enabled(ctx, l)
}

func (h *redactingHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.secrets.redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.clean(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

// clean turns everything into text, since a value may print a secret.
func (h *redactingHandler) clean(a slog.Attr) slog.Attr {
	return slog.String(a.Key, h.secrets.redact(a.Value.String()))
}

func (h *redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.clean(a)
	}
	return &redactingHandler{h.next.WithAttrs(clean), h.secrets}
}

func (h *redactingHandler) WithGroup(name string) slog.Handler {
	return &redactingHandler{h.next.WithGroup(name), h.secrets}
}
