package presenter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/engine/project"
	"sluice/storage/rclone"
)

// RemoteKeeper keeps the remotes of the user; its methods read and write the
// disk. Secrets that it keeps are never given.
type RemoteKeeper interface {
	Settings(ctx context.Context, name string) (rclone.Settings, error)
	SaveRemote(ctx context.Context, s rclone.Settings) error
	CopyRemote(ctx context.Context, from, to string) error
	RenameRemote(ctx context.Context, from, to string) error
	RemoveRemote(ctx context.Context, name string) error
	TestSettings(ctx context.Context, s rclone.Settings, path string, each func(rclone.Step)) *rclone.Report
}

// RemoteDraft is a remote while it is edited.
type RemoteDraft struct {
	Name    string
	Backend rclone.Backend
	now     rclone.Settings
	saved   rclone.Settings // as it is kept; without a name for a new one
}

// NewRemote begins a remote that is not kept yet.
func NewRemote(name string, b rclone.Backend) *RemoteDraft {
	return &RemoteDraft{Name: name, Backend: b, now: rclone.Settings{Name: name, Type: b.Type, Values: map[string]string{}}}
}

// LoadRemote opens a remote for editing. Of one whose backend is not in this
// program, Backend has no options.
func LoadRemote(ctx context.Context, k RemoteKeeper, name string) (*RemoteDraft, error) {
	s, err := k.Settings(ctx, name)
	if err != nil {
		return nil, err
	}
	b, _ := rclone.FindBackend(s.Type)
	return &RemoteDraft{Name: name, Backend: b, now: s, saved: cloneSettings(s)}, nil
}

func cloneSettings(s rclone.Settings) rclone.Settings {
	s.Values, s.Kept = maps.Clone(s.Values), slices.Clone(s.Kept)
	return s
}

// Stored tells whether the remote is kept.
func (d *RemoteDraft) Stored() bool { return d.saved.Name != "" }

// Dirty tells whether the draft differs from what is kept.
func (d *RemoteDraft) Dirty() bool {
	if d.NeedsLogin() {
		return false // there is nothing to save here
	}
	return !d.Stored() || !sameSettings(d.now, d.saved)
}

func sameSettings(a, b rclone.Settings) bool {
	return a.Type == b.Type && maps.Equal(a.Values, b.Values) && slices.Equal(a.Kept, b.Kept)
}

// Revert goes back to what is kept.
func (d *RemoteDraft) Revert() {
	if d.Stored() {
		d.now = cloneSettings(d.saved)
	}
}

// Settings are what is saved and tested; secrets in it are only those typed.
func (d *RemoteDraft) Settings() rclone.Settings { return cloneSettings(d.now) }

// Fields lists the options that the backend has with the values set so far:
// those that are required first, then the usual ones, then the advanced ones.
func (d *RemoteDraft) Fields() (usual, advanced []*rclone.Option) {
	var required []*rclone.Option
	for _, o := range d.Backend.Offered(d.now.Values) {
		switch {
		case o.Chooses():
			required = slices.Insert(required, 0, o)
		case o.Required:
			required = append(required, o)
		case o.Advanced:
			advanced = append(advanced, o)
		default:
			usual = append(usual, o)
		}
	}
	return append(required, usual...), advanced
}

// Text is the value of an option as it is edited; that of a kept secret is empty.
func (d *RemoteDraft) Text(o *rclone.Option) string {
	if text, ok := d.now.Values[o.Name]; ok {
		return text
	}
	if o.Flag {
		return o.Default
	}
	return ""
}

// Keeps tells whether a secret is kept that is not shown.
func (d *RemoteDraft) Keeps(o *rclone.Option) bool { return slices.Contains(d.now.Kept, o.Name) }

// Choices are what an option may be, with the values set so far.
func (d *RemoteDraft) Choices(o *rclone.Option) []rclone.Choice { return o.Offered(d.now.Values) }

// FindOptions lists the options with a text in name or description, those that
// are set first.
func FindOptions(d *RemoteDraft, options []*rclone.Option, text string) []*rclone.Option {
	var found, rest []*rclone.Option
	for _, o := range options {
		switch {
		case !contains(OptionLabel(o)+" "+o.Name+" "+o.Title, lower(strings.TrimSpace(text))):
		case d.IsSet(o):
			found = append(found, o)
		default:
			rest = append(rest, o)
		}
	}
	return append(found, rest...)
}

// IsSet tells whether an option has a value of its own.
func (d *RemoteDraft) IsSet(o *rclone.Option) bool {
	_, ok := d.now.Values[o.Name]
	return ok || d.Keeps(o)
}

// Set changes an option. An empty value takes it away; of a secret that is
// kept, an empty one leaves it as it is, and Forget takes it away.
func (d *RemoteDraft) Set(o *rclone.Option, text string) {
	if text == d.Text(o) {
		return
	}
	if text == "" || o.Flag && text == o.Default {
		delete(d.now.Values, o.Name)
		return
	}
	d.now.Values[o.Name] = text
}

// Forget takes a secret away.
func (d *RemoteDraft) Forget(o *rclone.Option) {
	delete(d.now.Values, o.Name)
	d.now.Kept = slices.DeleteFunc(d.now.Kept, func(name string) bool { return name == o.Name })
}

// Problems tells what is wrong, by name of the option.
func (d *RemoteDraft) Problems() map[string]string {
	out := map[string]string{}
	for _, o := range d.Backend.Offered(d.now.Values) {
		text := d.now.Values[o.Name]
		switch problem := o.Check(text); {
		case problem != "":
			out[o.Name] = problem
		case text == "" && o.Required && !d.Keeps(o):
			out[o.Name] = OptionLabel(o) + " is empty"
		}
	}
	return out
}

// RemoteSaving is a draft as it was when somebody asked to save it. The draft may be
// edited while Write runs elsewhere.
type RemoteSaving struct {
	name       string
	now, saved rclone.Settings
	kept       rclone.Settings // as read back by Write
}

// Saving takes what is to be saved.
func (d *RemoteDraft) Saving() *RemoteSaving {
	return &RemoteSaving{name: d.Name, now: cloneSettings(d.now), saved: cloneSettings(d.saved)}
}

// Write keeps the remote. It writes the disk; the error wraps project.ErrChanged when
// somebody else changed the remote since it was opened.
func (s *RemoteSaving) Write(ctx context.Context, k RemoteKeeper) error {
	if s.saved.Name != "" {
		there, err := k.Settings(ctx, s.name)
		if err != nil {
			return err
		}
		if !sameSettings(there, s.saved) {
			return fmt.Errorf("the remote %s in rclone.conf: %w", s.name, project.ErrChanged)
		}
	}
	err := k.SaveRemote(ctx, s.now)
	if err == nil {
		s.kept, err = k.Settings(ctx, s.name) // typed secrets are kept ones now
	}
	return err
}

// Saved tells the draft that Write went well; what was edited meanwhile is not saved.
func (d *RemoteDraft) Saved(s *RemoteSaving) {
	if sameSettings(d.now, s.now) {
		d.now = cloneSettings(s.kept)
	}
	d.saved, d.now.From = s.kept, d.Name
}

// NeedsLogin tells that rclone itself has to be asked to set the remote up.
func (d *RemoteDraft) NeedsLogin() bool {
	return d.Backend.Login && !d.Backend.LoginOptional && !d.Stored()
}

// LoginCommand is what to type to set the remote up in a dialogue with rclone.
func (d *RemoteDraft) LoginCommand() string {
	quoted := func(s string) string {
		if strings.ContainsAny(s, " @+") {
			return `"` + s + `"`
		}
		return s
	}
	if d.Stored() {
		return "rclone config reconnect " + quoted(d.Name+":")
	}
	return "rclone config create " + quoted(d.Name) + " " + quoted(d.Backend.Type)
}

// CheckRemoteName tells what is wrong with the name of a new remote; empty:
// nothing.
func CheckRemoteName(name string, taken []rclone.Info) string {
	if problem := rclone.CheckName(name); problem != "" {
		return problem
	}
	for _, r := range taken {
		if strings.EqualFold(r.Name, name) { // variables of the environment do not tell them apart
			return "There is a remote " + r.Name + " already"
		}
	}
	return ""
}

// initialisms are the words of option names that are no ordinary ones.
var initialisms = map[string]string{
	"id": "ID", "url": "URL", "sas": "SAS", "kms": "KMS", "sse": "SSE", "ssl": "SSL", "tls": "TLS", "acl": "ACL", "v2": "V2", "md5": "MD5", "http": "HTTP", "http2": "HTTP/2",
	"ssh": "SSH", "pem": "PEM", "aws": "AWS", "arn": "ARN", "sts": "STS", "api": "API", "iam": "IAM", "msi": "MSI", "ip": "IP", "utf8": "UTF-8", "crc32c": "CRC-32C", "mfa": "MFA",
	"sha1sum": "sha1sum", "md5sum": "md5sum", "ntlm": "NTLM", "kerberos": "Kerberos", "spn": "SPN", "mlsd": "MLSD", "epsv": "EPSV", "oauth": "OAuth", "pass": "password",
}

// OptionLabel makes a label of an option's name.
func OptionLabel(o *rclone.Option) string {
	words := strings.Split(o.Name, "_")
	for i, w := range words {
		if known, ok := initialisms[w]; ok {
			words[i] = known
		}
	}
	text := strings.Join(words, " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// ChoiceLabel is how a choice is shown; an empty one has its help only.
func ChoiceLabel(c rclone.Choice) string {
	help, _, _ := strings.Cut(c.Help, ". ")
	switch {
	case c.Value == "":
		return help
	case help == "" || strings.EqualFold(help, c.Value):
		return c.Value
	}
	return c.Value + "  ·  " + strings.TrimSuffix(help, ".")
}

// TestDraft writes, reads and removes a small object with the settings as they
// are, and saves nothing.
func TestDraft(ctx context.Context, k RemoteKeeper, s rclone.Settings, below string, now func() time.Time, each func(MetaStep)) MetaReport {
	return testRemote(ctx, now, each, func(step func(rclone.Step)) *rclone.Report { return k.TestSettings(ctx, s, below, step) })
}
