package storage

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// Location is a place that a person wrote down, understood but not opened.
type Location struct {
	// Remote is "" for a local folder, the name of a configured remote, or an
	// on-the-fly remote (":memory", ":s3,provider=AWS"), without the colon
	// that ends it.
	Remote string
	// Path is slash-separated on a remote, and an absolute path of this
	// machine for a local folder.
	Path string
}

// Parsing says how a location is read. The zero value is right for saved
// files: no URI schemes, no relative folders, no connection options.
type Parsing struct {
	// Schemes maps "s3", "hdfs", "azure", "gs", "sftp" ... to "remote:" or
	// "remote:path". "hdfs://host:8020" is a key too and goes before "hdfs".
	// azfs falls back on azure, azure on azfs, s3a and s3n on s3.
	Schemes map[string]string
	// Base is the absolute folder that ./x and ../x are relative to; "" refuses them.
	Base string
	// AllowOptions admits connection strings with options (remote,key=value:).
	// They may hold secrets and commands, so files never may.
	AllowOptions bool
}

var (
	remoteName  = lazily(`^:?[\w\p{L}\p{N}.+@]+(?:[ -]+[\w\p{L}\p{N}.+@-]+)*$`)
	uriStart    = lazily(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	windowsPath = lazily(`^(?:[A-Za-z]:[\\/]|\\\\)`)
	optionName  = lazily(`(?:^|,)\s*(global|override)\.`)
)

// lazily compiles a pattern when it is first used: patterns are not paid for by
// commands that need none.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// ParseLocation understands remote:path, an absolute folder, ./folder, and
// URIs. Variables must have been replaced before. Errors are ErrBadLocation
// or ErrUnknownRemote (a URI scheme nobody mapped), and carry a hint; they
// never repeat options or passwords.
func ParseLocation(text string, p Parsing) (Location, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Location{}, refuse("", "the location is empty", "Write remote:path, an absolute folder, or a URI.")
	case strings.Contains(text, "${"):
		return Location{}, refuse(text, "a variable has no value", "Define the variable in the environment or as a parameter.")
	case uriStart().MatchString(text):
		return parseURI(text, p)
	case filepath.IsAbs(text), runtime.GOOS == "windows" && windowsPath().MatchString(text):
		return Location{Path: filepath.Clean(text)}, nil
	case isRelative(text):
		if p.Base == "" {
			return Location{}, refuse(text, "a relative folder", "Write an absolute folder, for example with ${PROJECT_HOME}.")
		}
		return Location{Path: filepath.Join(p.Base, filepath.FromSlash(text))}, nil
	}
	return parseRemote(text, p)
}

func isRelative(text string) bool {
	return text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
}

func parseRemote(text string, p Parsing) (Location, error) {
	remote, rest, found := cutRemote(text)
	if !found {
		return Location{}, refuse(text, "neither a remote nor an absolute folder",
			fmt.Sprintf("For a remote write %q, for a folder write %q or an absolute path.", text+":", "./"+text))
	}
	name, options, hasOptions := strings.Cut(remote, ",")
	if !remoteName().MatchString(name) {
		return Location{}, refuse(Redact(text), "not a remote name", "Write remote:path with a name from rclone.conf.")
	}
	if hasOptions && optionName().MatchString(options) {
		return Location{}, refuse(Redact(text), "global. and override. options would change the whole process",
			"Put the option into the remote's section of rclone.conf.")
	}
	if hasOptions && !p.AllowOptions {
		return Location{}, refuse(Redact(text), "connection options may hold secrets and are not allowed here",
			"Add a remote to rclone.conf (`rclone config`) and write its name.")
	}
	return Location{Remote: remote, Path: cleanRemotePath(rest)}, nil
}

// cutRemote splits at the colon that ends the remote, which is the first one
// outside quotes and after a leading colon.
func cutRemote(text string) (remote, rest string, found bool) {
	var quote rune
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ':' && i > 0:
			return text[:i], text[i+1:], true
		case (c == '/' || c == '\\') && !strings.Contains(text[:i], ","):
			return "", "", false
		}
	}
	return "", "", false
}

// cleanRemotePath tidies slashes. A leading slash stays: sftp:/x and sftp:x
// are two places.
func cleanRemotePath(p string) string {
	if p == "" {
		return ""
	}
	p = path.Clean(p)
	if p == "." {
		return ""
	}
	return p
}

// authorityIsHost are the schemes whose authority names a server, not a
// bucket or container.
var authorityIsHost = map[string]bool{"hdfs": true, "sftp": true, "ftp": true, "smb": true}

// sameScheme lists under which other key a scheme may be mapped.
var sameScheme = map[string]string{"azfs": "azure", "azure": "azfs", "s3a": "s3", "s3n": "s3", "gcs": "gs"}

func parseURI(text string, p Parsing) (Location, error) {
	u, err := url.Parse(escapePercent(text))
	if err != nil {
		return Location{}, refuse(Redact(text), "not a URI", "Write scheme://place/path.")
	}
	scheme := strings.ToLower(u.Scheme)
	if _, hasPassword := u.User.Password(); hasPassword {
		return Location{}, refuse(Redact(text), "a password in a location", "Add a remote to rclone.conf and map the scheme to it.")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return Location{}, refuse(Redact(text), "a URI with ? or #", "Write those characters only in remote:path.")
	}
	if scheme == "file" {
		return fileURI(text, u)
	}
	target, ok := p.lookup(scheme, u.Host)
	if !ok {
		return Location{}, &Error{
			Op: "location", Location: Redact(text), Err: ErrUnknownRemote,
			Hint: fmt.Sprintf("Map the scheme %s:// to a remote of rclone.conf in the settings, or write remote:path.", scheme),
		}
	}
	base, err := ParseLocation(target, Parsing{AllowOptions: p.AllowOptions})
	if err != nil {
		return Location{}, fmt.Errorf("scheme %s is mapped to a location that cannot be used: %w", scheme, err)
	}
	below := strings.TrimPrefix(u.Path, "/")
	if !authorityIsHost[scheme] {
		below = path.Join(u.Host, below)
	} else if base.Path == "" {
		below = "/" + below // an absolute path of that server
	}
	if base.Path == "" {
		base.Path = cleanRemotePath(below)
		return base, nil
	}
	return base.Join(below), nil
}

// escapePercent keeps a literal % of a path from being read as an escape
// unless it is one.
func escapePercent(text string) string {
	if _, err := url.PathUnescape(text); err != nil {
		return strings.ReplaceAll(text, "%", "%25")
	}
	return text
}

func fileURI(text string, u *url.URL) (Location, error) {
	if u.Host != "" && u.Host != "localhost" {
		return Location{}, refuse(text, "file:// with a host", "Write file:///folder with three slashes.")
	}
	name := u.Path
	if runtime.GOOS == "windows" && windowsPath().MatchString(strings.TrimPrefix(name, "/")) {
		name = strings.TrimPrefix(name, "/")
	}
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return Location{}, refuse(text, "file:// without an absolute folder", "Write file:///folder with three slashes.")
	}
	return Location{Path: filepath.Clean(name)}, nil
}

func (p Parsing) lookup(scheme, host string) (string, bool) {
	for _, s := range []string{scheme, sameScheme[scheme]} {
		if s == "" {
			continue
		}
		if target, ok := p.Schemes[s+"://"+host]; ok && host != "" {
			return target, true
		}
		if target, ok := p.Schemes[s]; ok {
			return target, true
		}
	}
	return "", false
}

func refuse(text, what, hint string) error {
	return &Error{Op: "location", Location: fmt.Sprintf("%q", text), Hint: hint, Err: fmt.Errorf("%s: %w", what, ErrBadLocation)}
}

// Local tells whether the location is a folder of this machine.
func (l Location) Local() bool { return l.Remote == "" }

// Join gives a location below l. The elements use slashes.
func (l Location) Join(elem ...string) Location {
	if l.Local() {
		l.Path = filepath.Join(append([]string{l.Path}, elem...)...)
		return l
	}
	l.Path = path.Join(append([]string{l.Path}, elem...)...)
	return l
}

// Dir splits off the last element: the folder and the object's name in it.
func (l Location) Dir() (Location, string) {
	if l.Local() {
		dir, name := filepath.Split(l.Path)
		return Location{Path: filepath.Clean(dir)}, name
	}
	dir, name := path.Split(l.Path)
	if dir != "/" {
		dir = strings.TrimSuffix(dir, "/")
	}
	return Location{Remote: l.Remote, Path: dir}, name
}

// String is the location for people and records, options taken out.
func (l Location) String() string {
	if l.Local() {
		return l.Path
	}
	return Redact(l.Remote + ":" + l.Path)
}

var (
	uriUser       = lazily(`://[^/@\s]*@`)
	remoteOptions = lazily(`(:[A-Za-z0-9]+|[\w\p{L}\p{N}.+@-]+)((?:,[A-Za-z0-9_.]+(?:=(?:"(?:[^"]|"")*"|'(?:[^']|'')*'|[^,:"'\s]*))?)+)`)
)

// Redact takes user names, passwords and connection options out of a text
// that may hold a location.
func Redact(text string) string {
	text = uriUser().ReplaceAllString(text, "://***@")
	return remoteOptions().ReplaceAllStringFunc(text, func(found string) string {
		name, options, _ := strings.Cut(found, ",")
		if !strings.Contains(options, "=") {
			return found // prose, or switches without a value
		}
		return name + ",***"
	})
}
