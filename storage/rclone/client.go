package rclone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/config"
	"github.com/rclone/rclone/fs/fspath"
	"golang.org/x/time/rate"

	"sluice/storage"
)

// Options of a Client. The zero value uses the user's rclone.conf.
type Options struct {
	// ConfigPath of rclone.conf; "" is where rclone itself would look
	// (RCLONE_CONFIG, then the user's folders). A missing file is an empty one.
	ConfigPath string
	// InMemory uses no file at all, only remotes from the environment and from
	// connection strings.
	InMemory bool
	// Password of an encrypted rclone.conf, asked only when RCLONE_CONFIG_PASS
	// is not set. nil has none.
	Password func(ctx context.Context) (string, error)
	// BytesPerSecond limits all remotes of this client together; 0 is no limit.
	BytesPerSecond int
	// Backoff of failed calls; the zero value is storage.DefaultBackoff.
	Backoff storage.Backoff
	// Silence is how long a server may neither send nor take a byte before the
	// call has failed, five times as long where that says little (FTP); 0 is
	// one minute.
	Silence time.Duration
	// Logger gets rclone's own notices; nil discards them.
	Logger *slog.Logger
}

// Client opens remotes. It is safe for many goroutines. rclone keeps one
// configuration per process, so clients that are open at the same time must
// use the same one.
type Client struct {
	o       Options
	secrets *secrets
	limit   *rate.Limiter

	mu      sync.Mutex
	started bool
	closed  bool
	pinned  map[string]*opening

	dialling sync.WaitGroup
}

// New does nothing yet.
func New(o Options) *Client {
	if o.Backoff == (storage.Backoff{}) {
		o.Backoff = storage.DefaultBackoff
	}
	if o.Silence == 0 {
		o.Silence = defaultSilence
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{o: o, secrets: &process.secrets, limit: newLimiter(o.BytesPerSecond), pinned: map[string]*opening{}}
}

// Info describes a configured remote.
type Info struct {
	Name        string
	Type        string // rclone's backend: "s3", "sftp", ...
	Source      string // "file" or "environment"
	Description string
}

// Remotes lists what is configured, in the file and in the environment,
// sorted by name.
func (c *Client) Remotes(ctx context.Context) ([]Info, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	var list []Info
	for _, r := range config.GetRemotes() {
		list = append(list, Info{r.Name, r.Type, r.Source, r.Description})
	}
	slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Open gives the remote at a location. It dials only where the backend dials
// on creation (SFTP, FTP, HDFS). A local location, and a remote that is one,
// gives a storage.Folder. The remote belongs to the client; one connection
// serves all that open the same location.
func (c *Client) Open(ctx context.Context, l storage.Location) (storage.Remote, error) {
	return c.OpenLimited(ctx, l, 0)
}

// OpenLimited is Open with a further bandwidth limit of its own, in bytes per
// second.
func (c *Client) OpenLimited(ctx context.Context, l storage.Location, bytesPerSecond int) (storage.Remote, error) {
	if l.Local() {
		return storage.NewPrivateFolder(l.Path), nil
	}
	p, err := c.place(ctx, l)
	if err != nil {
		return nil, err
	}
	if root, ok := p.localRoot(); ok {
		return storage.NewPrivateFolder(root), nil
	}
	return &Remote{place: p, limits: limiters(c.limit, newLimiter(bytesPerSecond)), backoff: c.o.Backoff}, nil
}

// opening is a place that is there, or is being dialled.
type opening struct {
	done  chan struct{} // closed when place or err is set
	place *place
	err   error
}

// place gives the pinned Fs of a location. Dialling goes on when ctx ends,
// since rclone cannot be interrupted there; the next call finds the result.
func (c *Client) place(ctx context.Context, l storage.Location) (*place, error) {
	o, err := c.opening(ctx, l)
	if err != nil {
		return nil, err
	}
	select {
	case <-o.done:
		return o.place, o.err
	case <-ctx.Done():
		return nil, &storage.Error{Op: "open", Location: l.String(), Err: context.Cause(ctx)}
	}
}

func (c *Client) opening(ctx context.Context, l storage.Location) (*opening, error) {
	text := l.Remote + ":" + l.Path
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	if o, ok := c.pinned[text]; ok {
		return o, nil
	}
	parsed, err := c.check(l, text)
	if err != nil {
		return nil, err
	}
	c.secrets.learn(text)
	o := &opening{done: make(chan struct{})}
	c.pinned[text] = o
	c.dialling.Go(func() {
		defer close(o.done)
		if o.place, o.err = c.dial(context.WithoutCancel(ctx), l, parsed); o.err != nil {
			c.forget(text, o)
		}
	})
	return o, nil
}

// forget lets the next call dial anew.
func (c *Client) forget(text string, o *opening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pinned[text] == o {
		delete(c.pinned, text)
	}
}

// check refuses what rclone must not see.
func (c *Client) check(l storage.Location, text string) (fspath.Parsed, error) {
	parsed, err := fspath.Parse(text)
	if err != nil {
		return parsed, &storage.Error{Op: "open", Location: l.String(), Err: fmt.Errorf("%w: not a location rclone understands", storage.ErrBadLocation)}
	}
	for key := range parsed.Config {
		if strings.HasPrefix(key, "global.") || strings.HasPrefix(key, "override.") {
			return parsed, &storage.Error{Op: "open", Location: l.String(), Err: fmt.Errorf("option %s: %w", key, storage.ErrBadLocation)}
		}
	}
	kind := backendOf(parsed)
	if _, err := fs.Find(kind); err != nil && kind != "" {
		return parsed, &storage.Error{
			Op: "open", Location: l.String(), Err: fmt.Errorf("%w: this program has no backend %q", storage.ErrUnknownRemote, kind),
			Hint: "Check the type of the remote. A lean build has a short list of backends only.",
		}
	}
	return parsed, nil
}

func (c *Client) dial(ctx context.Context, l storage.Location, parsed fspath.Parsed) (*place, error) {
	ctx, text := c.withTimeouts(ctx, backendOf(parsed)), forcedOptions(parsed)
	var f fs.Fs
	explain := func(err error) error { return c.explainOpen(ctx, l, err) }
	err := series(ctx, c.o.Backoff, explain, func(int) (err error) {
		// A request from outside must not change rclone's global settings,
		// not even by a global. key in the remote's section.
		f, err = fs.NewFs(fs.WithRCRequest(ctx), text)
		if errors.Is(err, fs.ErrorIsFile) && f != nil {
			// S3 calls it a file too when nobody answers, or it may not look.
			if _, cause := f.NewObject(ctx, path.Base(parsed.Path)); cause != nil {
				return cause
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &place{fs: f, client: c, location: l, where: l.String(), secrets: c.secrets}, nil
}

func (c *Client) explainOpen(ctx context.Context, l storage.Location, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrorIsFile):
		return &storage.Error{
			Op: "open", Location: l.String(), Err: fmt.Errorf("a file, not a folder: %w", storage.ErrBadLocation),
			Hint: "Write the folder that holds it.",
		}
	case errors.Is(err, fs.ErrorNotFoundInConfigFile):
		return &storage.Error{Op: "open", Location: l.String(), Err: fmt.Errorf("%w %q", storage.ErrUnknownRemote, l.Remote)}
	}
	return explain(ctx, c.secrets, "open", l.String(), err)
}

// forcedOptions adds what the snapshot protocol needs to a remote that does
// not say otherwise. Azure: with chunks smaller than a segment, the stored MD5
// is only what the client claimed.
func forcedOptions(p fspath.Parsed) string {
	if backendOf(p) != "azureblob" || p.Config["chunk_size"] != "" || config.GetValue(p.Name, "chunk_size") != "" {
		return p.ConfigString + ":" + p.Path
	}
	return p.ConfigString + ",chunk_size=64Mi:" + p.Path
}

// backendOf is the type of a remote, "" when no section of that name exists.
func backendOf(p fspath.Parsed) string {
	if kind, ok := strings.CutPrefix(p.Name, ":"); ok {
		return kind
	}
	return config.GetValue(p.Name, "type")
}

// Close ends the connections. Remotes must not be used afterwards.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	pinned, started := c.pinned, c.started
	c.pinned = nil
	c.mu.Unlock()
	var problems []error
	if err := c.awaitDialling(ctx); err != nil {
		problems = append(problems, err)
	}
	for _, o := range pinned {
		select {
		case <-o.done:
		default:
			continue // given up above
		}
		if o.err != nil {
			continue
		}
		if shutdown := o.place.fs.Features().Shutdown; shutdown != nil {
			if err := shutdown(ctx); err != nil {
				problems = append(problems, explain(ctx, c.secrets, "close", o.place.where, err))
			}
		}
	}
	if started {
		leave()
	}
	return errors.Join(problems...)
}

// awaitDialling waits for connections that are being made, no longer than ctx
// allows: a dead host may take minutes.
func (c *Client) awaitDialling(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.dialling.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
