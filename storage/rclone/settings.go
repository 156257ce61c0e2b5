package rclone

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/cache"
	"github.com/rclone/rclone/fs/config"
	"github.com/rclone/rclone/fs/config/configfile"
	"github.com/rclone/rclone/fs/config/configmap"
	"github.com/rclone/rclone/fs/config/obscure"

	"sluice/storage"
)

// Settings are those of one remote. Secrets that are stored are named and
// never given; those that were typed are in Values, as typed.
type Settings struct {
	Name, Type string
	Values     map[string]string
	Kept       []string // options whose stored value stays
	From       string   // the remote that the kept ones belong to; "" for none
}

// typeKey is the key of a section that names its backend.
const typeKey = "type"

// Settings reads a remote of rclone.conf. ErrUnknownRemote when it is not in
// the file, as one of the environment is not.
func (c *Client) Settings(ctx context.Context, name string) (Settings, error) {
	s := Settings{Name: name, From: name, Values: map[string]string{}}
	err := c.read(ctx, func(file config.Storage) error {
		if !file.HasSection(name) {
			return &storage.Error{Op: "read", Location: name + ":", Err: fmt.Errorf("%w in rclone.conf", storage.ErrUnknownRemote)}
		}
		s.Type, _ = file.GetValue(name, typeKey)
		secret := secretOptions(s.Type)
		for _, key := range file.GetKeyList(name) {
			value, _ := file.GetValue(name, key)
			switch {
			case key == typeKey:
			case secret(key):
				if value != "" {
					s.Kept = append(s.Kept, key)
				}
			default:
				s.Values[key] = value
			}
		}
		slices.Sort(s.Kept)
		return nil
	})
	return s, err
}

// secretOptions tells which keys of a section are not shown. Of a backend
// that is not linked, and of keys it does not know, the name decides.
func secretOptions(kind string) func(key string) bool {
	info, err := fs.Find(kind)
	return func(key string) bool {
		if err == nil {
			if o := info.Options.Get(key); o != nil {
				return isSecret(o)
			}
		}
		return secretName.MatchString(key)
	}
}

// SaveRemote writes a remote into rclone.conf: the one it is From when the
// name is the same, else a new one. ErrExists when there is one of the new
// name. Passwords are obscured as rclone does.
func (c *Client) SaveRemote(ctx context.Context, s Settings) error {
	c.learnTyped(s)
	return c.edit(ctx, s.Name, func(file config.Storage) error {
		if s.Name != s.From {
			if err := free(file, s.Name); err != nil {
				return err
			}
		}
		section, err := s.section(file)
		if err != nil {
			return err
		}
		for _, key := range file.GetKeyList(s.Name) {
			if _, stays := section[key]; !stays {
				file.DeleteKey(s.Name, key)
			}
		}
		file.SetValue(s.Name, typeKey, s.Type) // the first of a new section
		for _, key := range slices.Sorted(maps.Keys(section)) {
			if old, ok := file.GetValue(s.Name, key); !ok || old != section[key] {
				file.SetValue(s.Name, key, section[key])
			}
		}
		return nil
	})
}

// free refuses a name that cannot be that of a new remote.
func free(file config.Storage, name string) error {
	if problem := CheckName(name); problem != "" {
		return &storage.Error{Op: "save", Location: name, Hint: problem + ".", Err: storage.ErrBadName}
	}
	if file.HasSection(name) || config.GetValue(name, typeKey) != "" {
		return &storage.Error{Op: "save", Location: name + ":", Err: storage.ErrExists, Hint: "Choose another name."}
	}
	return nil
}

// section is what the file holds of the remote, in rclone's form.
func (s Settings) section(file config.Storage) (configmap.Simple, error) {
	info, err := fs.Find(s.Type)
	if err != nil {
		return nil, &storage.Error{Op: "save", Location: s.Name + ":", Err: fmt.Errorf("%w: this program has no backend %q", storage.ErrUnknownRemote, s.Type)}
	}
	out := configmap.Simple{typeKey: s.Type}
	for key, value := range s.Values {
		if value == "" {
			continue
		}
		if o := info.Options.Get(key); o != nil && o.IsPassword {
			if value, err = obscure.Obscure(value); err != nil {
				return nil, fmt.Errorf("%w: the password %s cannot be obscured", storage.ErrConfig, key)
			}
		}
		if err := storable(value); err != nil {
			return nil, &storage.Error{Op: "save", Location: s.Name + ":", Err: fmt.Errorf("%w: %s: %w", storage.ErrConfig, key, err)}
		}
		out[key] = value
	}
	for _, key := range s.Kept {
		if _, typed := out[key]; typed {
			continue
		}
		if value, ok := file.GetValue(s.From, key); ok && s.From != "" {
			out[key] = value
		}
	}
	return out, nil
}

// errStorable are the values that rclone's own writer would not give back.
var (
	errLines  = fmt.Errorf("it has more than one line")
	errSpace  = fmt.Errorf("it begins or ends with a space")
	errQuoted = fmt.Errorf("rclone.conf cannot keep a backquote, \"\"\" at the start, or %%(")
)

func storable(value string) error {
	switch {
	case strings.ContainsAny(value, "\r\n"):
		return errLines
	case strings.TrimSpace(value) != value:
		return errSpace
	case strings.Contains(value, "`"), strings.HasPrefix(value, `"""`), strings.Contains(value, "%("):
		return errQuoted
	}
	return nil
}

// RenameRemote gives a remote of rclone.conf another name. What names it
// elsewhere keeps the old one.
func (c *Client) RenameRemote(ctx context.Context, from, to string) error {
	return c.edit(ctx, from, func(file config.Storage) error {
		if err := c.copySection(file, from, to); err != nil {
			return err
		}
		file.DeleteSection(from)
		return nil
	})
}

// CopyRemote writes a remote once more under another name, secrets included.
func (c *Client) CopyRemote(ctx context.Context, from, to string) error {
	return c.edit(ctx, from, func(file config.Storage) error { return c.copySection(file, from, to) })
}

func (c *Client) copySection(file config.Storage, from, to string) error {
	if !file.HasSection(from) {
		return &storage.Error{Op: "copy", Location: from + ":", Err: fmt.Errorf("%w in rclone.conf", storage.ErrUnknownRemote)}
	}
	if err := free(file, to); err != nil {
		return err
	}
	for _, key := range file.GetKeyList(from) {
		value, _ := file.GetValue(from, key)
		file.SetValue(to, key, value)
	}
	return nil
}

// RemoveRemote takes a remote out of rclone.conf. Nothing that it holds is
// touched.
func (c *Client) RemoveRemote(ctx context.Context, name string) error {
	return c.edit(ctx, name, func(file config.Storage) error {
		if !file.HasSection(name) {
			return &storage.Error{Op: "remove", Location: name + ":", Err: fmt.Errorf("%w in rclone.conf", storage.ErrUnknownRemote)}
		}
		file.DeleteSection(name)
		return nil
	})
}

// TestSettings is TestEach of a remote that is not saved, at a path of it.
func (c *Client) TestSettings(ctx context.Context, s Settings, path string, each func(Step)) *Report {
	c.learnTyped(s)
	var section configmap.Simple
	report := &Report{Location: s.Name + ":" + path, each: each}
	if err := c.read(ctx, func(file config.Storage) (err error) {
		section, err = s.section(file)
		return err
	}); err != nil {
		report.step("open", func() (string, error) { return "", err })
		return report
	}
	options := ""
	delete(section, typeKey)
	for key := range section {
		if strings.HasPrefix(key, "global.") || strings.HasPrefix(key, "override.") {
			delete(section, key)
		}
	}
	if len(section) > 0 {
		options = "," + section.String()
	}
	anonymous := storage.Location{Remote: ":" + s.Type + options}
	named := func(step Step) Step {
		if e, ok := step.Err.(*storage.Error); ok { //nolint:errorlint // only where it is the whole error
			shown := *e
			shown.Location = strings.Replace(e.Location, anonymous.String(), s.Name+":", 1)
			step.Err = &shown
		}
		return step
	}
	report = c.TestEach(ctx, storage.Location{Remote: anonymous.Remote, Path: path}, func(step Step) { each(named(step)) })
	report.Location = s.Name + ":" + path
	for i, step := range report.Steps {
		report.Steps[i] = named(step)
	}
	return report
}

// learnTyped makes sure that no error or log repeats what was typed.
func (c *Client) learnTyped(s Settings) {
	secret := secretOptions(s.Type)
	for key, value := range s.Values {
		if secret(key) {
			c.secrets.add(value)
		}
	}
}

// ensureStarted is start for callers that hold no lock.
func (c *Client) ensureStarted(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.start(ctx)
}

// read gives the file as it is now.
func (c *Client) read(ctx context.Context, use func(config.Storage) error) error {
	if err := c.ensureStarted(ctx); err != nil {
		return err
	}
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.path == "" {
		return use(&configfile.Storage{}) // holds nothing
	}
	file, err := loadFile(process.path)
	if err != nil {
		return err
	}
	return use(file)
}

// edit changes the file. name is the remote whose connections are stale then.
func (c *Client) edit(ctx context.Context, name string, change func(config.Storage) error) error {
	if err := c.ensureStarted(ctx); err != nil {
		return err
	}
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.path == "" {
		return fmt.Errorf("%w: no rclone.conf is in use", storage.ErrConfig)
	}
	if err := rewrite(process.path, change); err != nil {
		return err
	}
	cache.ClearConfig(name) // of remotes that stand on this one
	return nil
}
