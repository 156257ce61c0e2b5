package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// HTTP fetches a file, or sends one and keeps the answer, once or for each result
// row. Nothing is left at the target when it fails.
var HTTP = action.Define[HTTPSettings](action.About{
	ID:       "HTTP",
	Name:     "HTTP",
	Category: action.CategoryWeb,
	Summary:  "Fetch or send a file over HTTP.",
	Targets:  []string{"targetfilename", "url"},
})

// HTTPSettings lists the settings in the order the form shows them.
type HTTPSettings struct {
	URL             transform.Expr[string] `hop:"url" label:"URL"`
	PerRow          bool                   `hop:"run_every_row" label:"Run once per result row"`
	URLField        transform.Expr[string] `hop:"url_fieldname" form:"field" label:"Field of the URL" help:"Default: URL"`
	UploadField     transform.Expr[string] `hop:"upload_fieldname" form:"field" label:"Field of the file to send" help:"Default: UPLOAD"`
	TargetField     transform.Expr[string] `hop:"dest_fieldname" form:"field" label:"Field of the target file" help:"Default: DESTINATION"`
	Username        transform.Expr[string] `hop:"username"`
	Password        transform.Secret       `hop:"password"`
	ProxyHost       transform.Expr[string] `hop:"proxy_host"`
	ProxyPort       transform.Expr[string] `hop:"proxy_port"`
	NoProxy         transform.Expr[string] `hop:"non_proxy_hosts" label:"Hosts without proxy" help:"Separated by |; * stands for anything"`
	Headers         []Header               `hop:"headers>header"`
	Upload          transform.Expr[string] `hop:"uploadfilename" form:"file" label:"File to send"`
	Target          transform.Expr[string] `hop:"targetfilename" form:"file" label:"Target file"`
	TargetExtension transform.Expr[string] `hop:"targetfilename_extension,alias=targetfilename_extention" label:"Extension of the target file"`
	Append          bool                   `hop:"file_appended" label:"Append to the target file"`
	AddTime         bool                   `hop:"date_time_added" label:"Add date and time to its name"`
	AddResult       bool                   `hop:"addfilenameresult" default:"Y" label:"Add to the result files"`
}

// Header is one header of the request.
type Header struct {
	Name  transform.Expr[string] `hop:"header_name" required:"true"`
	Value transform.Expr[string] `hop:"header_value"`
}

// StatusError is an HTTP answer that is a failure.
type StatusError struct {
	URL    string // without credentials and query
	Status int
	Wait   time.Duration // as Retry-After asks; 0: it does not
}

// Error names the address and the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answered %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// HTTPStatus implements action.HTTPFailure.
func (e *StatusError) HTTPStatus() int { return e.Status }

// RetryAfter implements action.HTTPFailure.
func (e *StatusError) RetryAfter() time.Duration { return e.Wait }

// transfer is one request with its files.
type transfer struct{ url, upload, target string }

// Run implements action.Settings.
func (s *HTTPSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	list, err := s.transfers(env, r)
	if err != nil {
		return err
	}
	client, err := s.client(env)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	for _, t := range list {
		name, err := s.send(ctx, env, client, t)
		if err != nil {
			return err
		}
		if s.AddResult && name != "" {
			r.AddFile(env.ResultFile(name, action.FileGeneral))
		}
	}
	r.Succeed()
	return nil
}

func (s *HTTPSettings) transfers(env *action.Env, r *action.Result) ([]transfer, error) {
	if s.PerRow {
		return s.fromRows(env, r)
	}
	t := transfer{}
	for _, e := range []struct {
		to   *string
		from transform.Expr[string]
	}{{&t.url, s.URL}, {&t.upload, s.Upload}, {&t.target, s.Target}} {
		var err error
		if *e.to, err = e.from.Eval(env); err != nil {
			return nil, err
		}
	}
	return []transfer{t}, nil
}

func (s *HTTPSettings) fromRows(env *action.Env, r *action.Result) ([]transfer, error) {
	var names [3]string
	for i, e := range []struct {
		field     transform.Expr[string]
		otherwise string
	}{{s.URLField, "URL"}, {s.UploadField, "UPLOAD"}, {s.TargetField, "DESTINATION"}} {
		var err error
		if names[i], err = e.field.Or(env, e.otherwise); err != nil {
			return nil, err
		}
	}
	var list []transfer
	for _, b := range r.Rows {
		codecs, err := env.Semantics.Codecs(b.Schema)
		if err != nil {
			return nil, err
		}
		for i := range b.All() {
			var text [3]string
			for k, n := range names {
				c := b.Schema.Index(n)
				if c < 0 {
					continue
				}
				col, err := b.Col(c, codecs[c])
				if err != nil {
					return nil, err
				}
				if !col.IsNull(i) {
					text[k] = string(codecs[c].AppendCompatible(nil, col.Value(i)))
				}
				if text[k], err = env.Resolve(text[k]); err != nil {
					return nil, err
				}
			}
			list = append(list, transfer{text[0], text[1], text[2]})
		}
	}
	return list, nil
}

func (s *HTTPSettings) client(env *action.Env) (*http.Client, error) {
	var text [3]string
	for i, e := range []transform.Expr[string]{s.ProxyHost, s.ProxyPort, s.NoProxy} {
		var err error
		if text[i], err = e.Eval(env); err != nil {
			return nil, err
		}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	if text[0] != "" {
		host := text[0]
		if text[1] != "" {
			host += ":" + text[1]
		}
		proxy := &url.URL{Scheme: "http", Host: host}
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			if bypasses(text[2], r.URL.Hostname()) {
				return nil, nil
			}
			return proxy, nil
		}
	}
	return &http.Client{Transport: t}, nil
}

// bypasses says whether a host is in a list like localhost|*.example.com.
func bypasses(list, host string) bool {
	for p := range strings.SplitSeq(list, "|") {
		p = strings.ToLower(strings.TrimSpace(p))
		h := strings.ToLower(host)
		switch {
		case p == "":
		case p == h, strings.HasPrefix(p, "*") && strings.HasSuffix(h, p[1:]), strings.HasSuffix(p, "*") && strings.HasPrefix(h, p[:len(p)-1]):
			return true
		}
	}
	return false
}

// send makes one request and gives the file it wrote.
func (s *HTTPSettings) send(ctx context.Context, env *action.Env, client *http.Client, t transfer) (string, error) {
	if t.url == "" {
		return "", &engine.Error{Message: "no URL is given"}
	}
	if t.target == "" {
		return "", &engine.Error{Message: "no target file is named", Hint: "give the file that gets the answer"}
	}
	name, err := s.targetName(env, t.target)
	if err != nil {
		return "", err
	}
	request, closing, err := s.request(ctx, env, t)
	if err != nil {
		return "", err
	}
	defer closing()
	shown := shownURL(request.URL)
	env.Log.Info("Connecting", "url", shown)
	answer, err := client.Do(request)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // its own text has the whole address, with what is secret in it
		}
		return "", fmt.Errorf("%s: %w", shown, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		return "", &StatusError{URL: shown, Status: answer.StatusCode, Wait: retryAfter(answer.Header.Get("Retry-After"), env.Now())}
	}
	return name, s.save(ctx, env, name, answer.Body)
}

func shownURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func (s *HTTPSettings) targetName(env *action.Env, name string) (string, error) {
	if !s.AddTime {
		return name, nil
	}
	extension, err := s.TargetExtension.Eval(env)
	if err != nil {
		return "", err
	}
	name += env.Now().In(env.Location).Format("_20060102_150405")
	if extension != "" {
		name += "." + extension
	}
	return name, nil
}

func (s *HTTPSettings) request(ctx context.Context, env *action.Env, t transfer) (*http.Request, func(), error) {
	method, closing := http.MethodGet, func() {}
	var body io.Reader
	var size int64 = -1
	if t.upload != "" {
		in, err := env.Files.Open(ctx, t.upload)
		if err != nil {
			return nil, closing, fmt.Errorf("file to send: %w", err)
		}
		closing = func() { _ = in.Close() }
		if info, err := env.Files.Stat(ctx, t.upload); err == nil {
			size = info.Size
		}
		method, body = http.MethodPost, in
	}
	request, err := http.NewRequestWithContext(ctx, method, t.url, body)
	if err != nil {
		closing()
		return nil, func() {}, &engine.Error{Message: "the URL cannot be used", Hint: "check the variables in it", Err: err}
	}
	if size >= 0 {
		request.ContentLength = size
	}
	if err := s.headers(env, request); err != nil {
		closing()
		return nil, func() {}, err
	}
	return request, closing, nil
}

func (s *HTTPSettings) headers(env *action.Env, request *http.Request) error {
	for _, h := range s.Headers {
		name, err := h.Name.Eval(env)
		if err != nil {
			return err
		}
		value, err := h.Value.Eval(env)
		if err != nil {
			return err
		}
		if name != "" && value != "" {
			request.Header.Set(name, value)
		}
	}
	user, err := s.Username.Eval(env)
	if err != nil || user == "" {
		return err
	}
	password, err := s.Password.Reveal(env.Vars)
	if err != nil {
		return err
	}
	request.SetBasicAuth(user, password.Reveal())
	return nil
}

func (s *HTTPSettings) save(ctx context.Context, env *action.Env, name string, body io.Reader) error {
	w, err := env.Files.Create(ctx, name, files.CreateOptions{Append: s.Append})
	if err != nil {
		return fmt.Errorf("target file: %w", err)
	}
	n, err := io.Copy(w, body)
	if err != nil {
		return errors.Join(fmt.Errorf("receive %s: %w", name, err), w.Abort())
	}
	if err := w.Commit(); err != nil {
		return fmt.Errorf("target file: %w", err)
	}
	env.Log.Info("Received", "file", name, "bytes", n)
	return nil
}

// retryAfter reads the header: seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// WritesTo implements action.Targeted: what a request does at the other side,
// nobody knows. The address goes without user and query, which may hold secrets.
func (s *HTTPSettings) WritesTo(r transform.Resolver) transform.Target {
	name := transform.Resolved(r, s.URL.Text)
	if u, err := url.Parse(name); err == nil {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		name = u.String()
	} else {
		name = ""
	}
	return transform.Target{Name: name, How: "HTTP request"}
}
