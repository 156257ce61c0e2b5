package project

import (
	"strings"

	"sluice/engine/project/jsondoc"
)

// Kinds of authentication of a REST connection, as the file spells them.
const (
	RESTNoAuth = "No Auth"
	RESTBasic  = "Basic"
	RESTBearer = "Bearer"
	RESTAPIKey = "API Key"
)

// RESTConnection is a web service: where it is and how to authenticate. All
// texts may hold variables; those of type string called password, token or
// value of a header are as stored, see [ResolvePassword].
type RESTConnection struct {
	Name               string
	Description        string
	BaseURL            string
	TestURL            string
	IgnoreSSL          bool
	TrustStoreFile     string
	TrustStorePassword string
	KeyStore           RESTKeyStore
	ConnectTimeout     string // milliseconds; empty is no limit
	ReadTimeout        string // milliseconds; empty is no limit
	Proxy              RESTProxy
	AuthType           string // one of the kinds above; other spellings of them are normalised
	Username           string
	Password           string
	BasicOnChallenge   bool // Basic credentials only after a 401 answer
	BearerToken        string
	HeaderName         string // of the API key
	HeaderPrefix       string
	HeaderValue        string
	Pagination         RESTPagination
}

// RESTKeyStore is the client certificate.
type RESTKeyStore struct{ File, Password, Type, KeyPassword, Alias string }

// RESTProxy is the way out. Without a host there is none.
type RESTProxy struct{ Scheme, Host, Port, Username, Password, NonProxyHosts string }

// RESTPagination says how answers go on over several pages.
type RESTPagination struct {
	Type            string // NONE, LINK_HEADER, OFFSET_LIMIT, …
	PageParam       string
	OffsetParam     string
	LimitParam      string
	DefaultLimit    int
	CursorJSONPath  string
	CursorXPath     string
	NextURLJSONPath string
	NextURLXPath    string
}

// RESTConnection loads a REST connection. Errors are those of [Metadata.Load].
func (m *Metadata) RESTConnection(name string) (*RESTConnection, error) {
	o, err := m.Load(TypeRESTConnection, name)
	if err != nil {
		return nil, err
	}
	root := o.Root()
	text := func(key string) string { return root.Get(key).Text() }
	c := &RESTConnection{
		Name:               name,
		Description:        text("description"),
		BaseURL:            text("base_url"),
		TestURL:            text("test_url"),
		IgnoreSSL:          root.Get("ignoreSsl").Bool(false),
		TrustStoreFile:     text("trustStoreFile"),
		TrustStorePassword: text("trustStorePassword"),
		KeyStore: RESTKeyStore{
			File: text("keyStoreFile"), Password: text("keyStorePassword"), Type: text("keyStoreType"),
			KeyPassword: text("keyPassword"), Alias: text("certificateAlias"),
		},
		ConnectTimeout: text("connect_timeout"),
		ReadTimeout:    text("read_timeout"),
		Proxy: RESTProxy{
			Scheme: text("proxy_scheme"), Host: text("proxy_host"), Port: text("proxy_port"),
			Username: text("proxy_username"), Password: text("proxy_password"), NonProxyHosts: text("non_proxy_hosts"),
		},
		Username:         text("username"),
		Password:         text("password"),
		BasicOnChallenge: root.Get("non_preemptive_basic_auth").Bool(false),
		BearerToken:      text("bearer_token"),
		HeaderName:       text("auth_header_name"),
		HeaderPrefix:     text("auth_header_prefix"),
		HeaderValue:      text("auth_header_value"),
		Pagination:       restPagination(root),
	}
	c.AuthType = c.authType(text("auth_type"))
	return c, nil
}

func restPagination(root *jsondoc.Value) RESTPagination {
	text := func(key string) string { return root.Get(key).Text() }
	return RESTPagination{
		Type:            textOr(root.Get("pagination_type"), "NONE"),
		PageParam:       text("page_param_name"),
		OffsetParam:     text("offset_param_name"),
		LimitParam:      text("limit_param_name"),
		DefaultLimit:    root.Get("default_limit").Int(0),
		CursorJSONPath:  text("cursor_json_path"),
		CursorXPath:     text("cursor_x_path"),
		NextURLJSONPath: text("next_page_url_json_path"),
		NextURLXPath:    text("next_page_url_x_path"),
	}
}

// authType reads a kind without regard to case. Early files have none: a
// header name and value then mean an API key.
func (c *RESTConnection) authType(stored string) string {
	stored = strings.TrimSpace(stored)
	for _, kind := range []string{RESTNoAuth, RESTBasic, RESTBearer, RESTAPIKey} {
		if strings.EqualFold(stored, kind) {
			return kind
		}
	}
	if stored == "" && c.HeaderName != "" && c.HeaderValue != "" {
		return RESTAPIKey
	}
	if stored == "" {
		return RESTNoAuth
	}
	return stored
}

// String names the connection without its credentials.
func (c *RESTConnection) String() string { return "REST connection " + c.Name }
