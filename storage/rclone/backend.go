package rclone

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/fspath"
)

// Backend is a kind of storage that this program can reach.
type Backend struct {
	Type    string // as in rclone.conf: "s3", "google cloud storage", ...
	Title   string
	Common  bool // stands first in a list
	Options []Option
	// Login: rclone asks in a browser or at a terminal what else it needs.
	Login bool
	// LoginOptional: there is a way without, such as a service account.
	LoginOptional bool
}

// Option is one setting of a backend, as rclone describes it.
type Option struct {
	Name      string
	Title     string // the first sentence of what rclone says
	Help      string // the rest of it
	Default   string // as rclone writes it
	Flag      bool   // true or false
	Required  bool
	Advanced  bool
	Secret    bool // what is stored is never given
	Exclusive bool // only one of the choices is taken
	choices   []choice
	option    *fs.Option
}

// Choice is a value that is offered.
type Choice struct{ Value, Help string }

type choice struct {
	Choice
	provider string
}

// providerOption selects which options and choices a backend offers.
const providerOption = "provider"

// common are the types most people use, in the order of the list, by the name
// they are known under.
var common = []struct{ kind, title string }{
	{"alias", "Local folder or part of another remote (alias)"},
	{"s3", "Amazon S3 and compatible"},
	{"azureblob", "Azure Blob Storage"},
	{"google cloud storage", "Google Cloud Storage"},
	{"sftp", "SFTP"},
	{"ftp", "FTP"},
	{"webdav", "WebDAV"},
	{"hdfs", "HDFS"},
}

// Backends lists what is linked: the common ones first, the others by title.
func Backends() []Backend {
	var list []Backend
	for _, c := range common {
		if info, err := fs.Find(c.kind); err == nil {
			list = append(list, backendOfInfo(info, c.title, true))
		}
	}
	var others []Backend
	for _, info := range fs.Registry {
		if info.Hide || slices.ContainsFunc(list, func(b Backend) bool { return b.Type == info.Name }) {
			continue
		}
		title := titleOf(info)
		others = append(others, backendOfInfo(info, title, false))
	}
	slices.SortFunc(others, func(a, b Backend) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) })
	return append(list, others...)
}

// FindBackend gives a backend by its type or one of the other names of it.
func FindBackend(kind string) (Backend, bool) {
	info, err := fs.Find(kind)
	if err != nil {
		return Backend{}, false
	}
	for _, c := range common {
		if c.kind == info.Name {
			return backendOfInfo(info, c.title, true), true
		}
	}
	title := titleOf(info)
	return backendOfInfo(info, title, false), true
}

// titleOf shortens what rclone calls a backend.
func titleOf(info *fs.RegInfo) string {
	title, _, _ := strings.Cut(info.Description, " including ")
	return strings.TrimSuffix(title, ".")
}

func backendOfInfo(info *fs.RegInfo, title string, isCommon bool) Backend {
	b := Backend{Type: info.Name, Title: title, Common: isCommon, Login: asksMore(info)}
	for i := range info.Options {
		o := &info.Options[i]
		if o.Hide&fs.OptionHideConfigurator == 0 {
			b.Options = append(b.Options, optionOf(o))
		}
		if strings.HasPrefix(o.Name, "service_account_") {
			b.LoginOptional = b.Login
		}
	}
	return b
}

// asking are the backends without a token that rclone sets up in a dialogue.
var asking = []string{"iclouddrive", "internxt", "sugarsync"}

func asksMore(info *fs.RegInfo) bool {
	return info.Config != nil && (info.Options.Get("token") != nil || slices.Contains(asking, info.Name))
}

func optionOf(o *fs.Option) Option {
	title, help := sentences(o.Help)
	_, flag := o.Default.(bool)
	out := Option{
		Name: o.Name, Title: title, Help: help, Default: (&fs.Option{Default: o.Default}).String(), Flag: flag, Advanced: o.Advanced,
		Secret: isSecret(o), Exclusive: o.Exclusive, option: o,
	}
	out.Required = o.Required && out.Default == ""
	for _, e := range o.Examples {
		out.choices = append(out.choices, choice{Choice{e.Value, strings.Join(strings.Fields(e.Help), " ")}, e.Provider})
	}
	return out
}

// isSecret: hosts and user names are sensitive for rclone too, but a form
// without them helps nobody.
func isSecret(o *fs.Option) bool {
	return o.IsPassword || o.Sensitive && secretName.MatchString(o.Name)
}

// sentences splits rclone's help at the end of its first line.
func sentences(help string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(help), "\n")
	return strings.TrimSpace(first), strings.TrimSpace(rest)
}

// Offered lists the options for the values that are set so far: some exist
// for one provider only.
func (b *Backend) Offered(values map[string]string) []*Option {
	var list []*Option
	seen := map[string]bool{}
	for i := range b.Options {
		o := &b.Options[i]
		if !fs.MatchProvider(o.option.Provider, values[providerOption]) || seen[o.Name] {
			continue
		}
		seen[o.Name] = true
		list = append(list, o)
	}
	return list
}

// Offered tells of what values the option may get, with those set so far.
func (o *Option) Offered(values map[string]string) []Choice {
	var list []Choice
	for _, c := range o.choices {
		known := slices.ContainsFunc(list, func(k Choice) bool { return k.Value == c.Value })
		if fs.MatchProvider(c.provider, values[providerOption]) && !known {
			list = append(list, c.Choice)
		}
	}
	return list
}

// Chooses tells whether other options and choices depend on this one.
func (o *Option) Chooses() bool { return o.Name == providerOption }

// Check tells what is wrong with a value; empty: nothing. An empty one is
// not set, which is fine unless it is required.
func (o *Option) Check(value string) string {
	if value == "" {
		return ""
	}
	if o.Exclusive && len(o.choices) > 0 && !slices.ContainsFunc(o.choices, func(c choice) bool { return c.Value == value }) {
		return "Choose one of the list"
	}
	if err := storable(value); err != nil && !o.option.IsPassword {
		return capitalized(err.Error())
	}
	parsed := o.option.Copy()
	if err := parsed.Set(value); err != nil {
		return fmt.Sprintf("This is no %s", o.kindOfValue())
	}
	return ""
}

func (o *Option) kindOfValue() string {
	known := map[string]string{
		"int": "whole number", "int64": "whole number", "uint32": "whole number", "float64": "number", "bool": "true or false",
		"SizeSuffix": "size, such as 64Mi", "Duration": "time, such as 1m30s", "Time": "time", "Tristate": "true, false or unset",
	}
	if text := known[o.option.Type()]; text != "" {
		return text
	}
	return "value that rclone takes here"
}

// CheckName tells what is wrong with the name of a remote; empty: nothing.
func CheckName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "Give it a name"
	case fspath.CheckConfigName(name) != nil:
		return "Use letters, digits, spaces and _ - . + @, no space or - at the start, no space at the end"
	}
	return ""
}

func capitalized(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
