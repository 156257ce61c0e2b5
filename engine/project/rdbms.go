package project

import (
	"strings"

	"sluice/engine/project/jsondoc"
)

// RDBMS is a database connection. All texts may hold variables.
type RDBMS struct {
	Name            string
	PluginID        string // such as POSTGRESQL; the key under "rdbms"
	PluginName      string
	AccessType      int // 0 is native
	Hostname        string
	Port            string
	DatabaseName    string
	Username        string
	Password        string // as stored; see [ResolvePassword]
	ManualURL       string // not empty: replaces the URL made of the other settings
	ServerName      string
	DataTablespace  string
	IndexTablespace string
	DriverClass     string
	Tunnel          SSHTunnel
	Attributes      []Attribute // in file order

	settings *jsondoc.Value
}

// SSHTunnel is the way to a database through another host.
type SSHTunnel struct {
	Enabled        bool
	Host           string
	Port           string
	Username       string
	Password       string // as stored; see [ResolvePassword]
	UsePrivateKey  bool
	PrivateKeyFile string
	Passphrase     string // as stored; see [ResolvePassword]
}

// Attribute is one entry of a connection's attributes.
type Attribute struct{ Name, Value string }

// RDBMS loads a database connection. Errors are those of [Metadata.Load], or
// say that the file names no database type.
func (m *Metadata) RDBMS(name string) (*RDBMS, error) {
	o, err := m.Load(TypeRDBMS, name)
	if err != nil {
		return nil, err
	}
	return RDBMSOf(o)
}

// RDBMSOf reads the database connection that an object holds, stored or not.
func RDBMSOf(o *Object) (*RDBMS, error) {
	kinds := o.Root().Get("rdbms").Members()
	if len(kinds) == 0 {
		return nil, o.problemf(o.Root().Get("rdbms"), "connection %q has no database type under \"rdbms\"; choose one in the connection's form", o.Name)
	}
	s := kinds[0].Value
	r := &RDBMS{
		Name:            o.Name,
		PluginID:        textOr(s.Get("pluginId"), kinds[0].Key),
		PluginName:      s.Get("pluginName").Text(),
		AccessType:      s.Get("accessType").Int(0),
		Hostname:        s.Get("hostname").Text(),
		Port:            s.Get("port").Text(),
		DatabaseName:    s.Get("databaseName").Text(),
		Username:        s.Get("username").Text(),
		Password:        s.Get("password").Text(),
		ManualURL:       s.Get("manualUrl").Text(),
		ServerName:      s.Get("servername").Text(),
		DataTablespace:  s.Get("dataTablespace").Text(),
		IndexTablespace: s.Get("indexTablespace").Text(),
		DriverClass:     s.Get("driverClassName").Text(),
		Tunnel: SSHTunnel{
			Enabled:        s.Get("sshTunnelEnabled").Bool(false),
			Host:           s.Get("sshTunnelHost").Text(),
			Port:           s.Get("sshTunnelPort").Text(),
			Username:       s.Get("sshTunnelUsername").Text(),
			Password:       s.Get("sshTunnelPassword").Text(),
			UsePrivateKey:  s.Get("sshTunnelUsePrivateKey").Bool(false),
			PrivateKeyFile: s.Get("sshTunnelPrivateKeyFile").Text(),
			Passphrase:     s.Get("sshTunnelPassphrase").Text(),
		},
		settings: s,
	}
	for _, a := range s.Get("attributes").Members() {
		r.Attributes = append(r.Attributes, Attribute{a.Key, a.Value.Text()})
	}
	return r, nil
}

// Attribute returns an attribute by name, empty when absent.
func (r *RDBMS) Attribute(name string) string {
	for _, a := range r.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Flag returns an attribute that is Y or N.
func (r *RDBMS) Flag(name string, absent bool) bool {
	switch strings.ToUpper(r.Attribute(name)) {
	case "Y", "TRUE":
		return true
	case "N", "FALSE":
		return false
	}
	return absent
}

// ConnectSQL returns the statements to run after connecting.
func (r *RDBMS) ConnectSQL() string { return r.Attribute("SQL_CONNECT") }

// Setting returns a setting that only this database type has, such as
// instanceName; empty when absent.
func (r *RDBMS) Setting(key string) string { return r.settings.Get(key).Text() }

// Options returns the driver options of this database type, without the prefix
// that they are stored under, in file order.
func (r *RDBMS) Options() []Attribute {
	var options []Attribute
	prefix := "EXTRA_OPTION_" + r.PluginID + "."
	for _, a := range r.Attributes {
		if name, ok := strings.CutPrefix(a.Name, prefix); ok {
			options = append(options, Attribute{name, a.Value})
		}
	}
	return options
}

// String names the connection without its credentials: an encoded password is
// hidden from eyes only, and must not get into a log by way of %v.
func (r *RDBMS) String() string {
	return r.PluginID + " connection " + r.Name
}
