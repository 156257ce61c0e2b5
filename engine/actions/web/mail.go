package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"strings"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/transform"
)

// Mail sends a message over SMTP, with the result files attached on request.
var Mail = action.Define[MailSettings](action.About{
	ID:       "MAIL",
	Name:     "Mail",
	Category: action.CategoryWeb,
	Summary:  "Send an e-mail.",
	Targets:  []string{"server", "destination"},
})

// SecureConnection is how the connection is encrypted.
type SecureConnection string

// Choices implements transform.Choices.
func (SecureConnection) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: "SSL", Label: "TLS from the start"}, {Code: "TLS", Label: "STARTTLS"}, {Code: "TLS 1.2", Label: "STARTTLS, TLS 1.2 or later"},
	}
}

// MailSettings lists the settings in the order the form shows them.
type MailSettings struct {
	To             transform.Expr[string] `hop:"destination" required:"true" label:"To" help:"Addresses, separated by blanks"`
	Cc             transform.Expr[string] `hop:"destinationCc" label:"Cc"`
	Bcc            transform.Expr[string] `hop:"destinationBCc" label:"Bcc"`
	From           transform.Expr[string] `hop:"replyto" required:"true" label:"Sender"`
	FromName       transform.Expr[string] `hop:"replytoname" label:"Sender's name"`
	ReplyTo        transform.Expr[string] `hop:"replyToAddresses" label:"Answers to"`
	Contact        transform.Expr[string] `hop:"contact_person" label:"Contact person"`
	Phone          transform.Expr[string] `hop:"contact_phone" label:"Contact phone"`
	Server         transform.Expr[string] `hop:"server" required:"true" label:"SMTP server"`
	Port           transform.Expr[string] `hop:"port"`
	UseAuth        bool                   `hop:"use_auth" label:"Log in"`
	User           transform.Expr[string] `hop:"auth_user"`
	Password       transform.Secret       `hop:"auth_password"`
	OAuth          bool                   `hop:"use_xoauth2" advanced:"true" label:"Log in with an OAuth 2 token" help:"The password is the token"`
	UseSecure      bool                   `hop:"use_secure_auth" label:"Secure connection"`
	Secure         SecureConnection       `hop:"secureconnectiontype" default:"SSL" label:"Kind of secure connection"`
	CheckIdentity  bool                   `hop:"check_server_identity" advanced:"true" help:"Certificates are always checked here"`
	TrustedHosts   string                 `hop:"trusted_hosts" advanced:"true" help:"Has no effect: certificates are always checked"`
	IncludeDate    bool                   `hop:"include_date" label:"Include the date"`
	OnlyComment    bool                   `hop:"only_comment" label:"Send only the text"`
	HTML           bool                   `hop:"use_HTML" label:"The text is HTML"`
	UsePriority    bool                   `hop:"use_Priority" label:"Set priority"`
	Priority       string                 `hop:"priority" help:"low, normal or high"`
	Importance     string                 `hop:"importance"`
	Sensitivity    string                 `hop:"sensitivity"`
	Encoding       string                 `hop:"encoding" advanced:"true" help:"Messages are always UTF-8"`
	Subject        transform.Expr[string] `hop:"subject"`
	Comment        transform.Expr[string] `hop:"comment" form:"multiline" label:"Text"`
	IncludeFiles   bool                   `hop:"include_files" label:"Attach result files"`
	FileTypes      []string               `hop:"filetypes>filetype" label:"Types of files to attach"`
	ZipFiles       bool                   `hop:"zip_files" label:"Pack them into one archive"`
	ZipName        transform.Expr[string] `hop:"zip_name" label:"Name of the archive"`
	EmbeddedImages []EmbeddedImage        `hop:"embeddedimages>embeddedimage" label:"Images in the text"`
}

// EmbeddedImage is an image that an HTML text shows.
type EmbeddedImage struct {
	File transform.Expr[string] `hop:"image_name" form:"file" required:"true"`
	ID   transform.Expr[string] `hop:"content_id" label:"Content id" help:"The text refers to it as cid:ID"`
}

// addresses reads a list separated by blanks, commas or semicolons.
func addresses(list, what string) ([]*mail.Address, error) {
	var out []*mail.Address
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) }) {
		a, err := mail.ParseAddress(text)
		if err != nil {
			return nil, &engine.Error{Value: text, Message: what + ": this is no e-mail address", Hint: "separate addresses by blanks", Err: err}
		}
		out = append(out, a)
	}
	return out, nil
}

// Run implements action.Settings.
func (s *MailSettings) Run(ctx context.Context, env *action.Env, r *action.Result) error {
	m, err := s.compose(ctx, env, r)
	if err != nil {
		return err
	}
	if err := s.send(ctx, env, m); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	env.Log.Info("Message sent", "recipients", len(m.recipients), "bytes", len(m.body))
	r.Succeed()
	return nil
}

const (
	defaultPort       = "25"
	defaultSecurePort = "465"
	defaultSubmission = "587"
)

func (s *MailSettings) server(env *action.Env) (host, port string, err error) {
	if host, err = s.Server.Eval(env); err != nil {
		return "", "", err
	}
	if host == "" {
		return "", "", &engine.Error{Message: "no SMTP server is given"}
	}
	otherwise := defaultPort
	switch {
	case s.UseSecure && s.Secure == "SSL":
		otherwise = defaultSecurePort
	case s.UseSecure:
		otherwise = defaultSubmission
	}
	port, err = s.Port.Or(env, otherwise)
	return host, strings.TrimSpace(port), err
}

func (s *MailSettings) send(ctx context.Context, env *action.Env, m *message) error {
	host, port, err := s.server(env)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	secure := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if s.UseSecure && s.Secure == "SSL" {
		conn = tls.Client(conn, secure)
	}
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer client.Close()
	if s.UseSecure && s.Secure != "SSL" {
		if err := client.StartTLS(secure); err != nil {
			return fmt.Errorf("start the secure connection: %w", err)
		}
	}
	if err := s.logIn(env, client, host); err != nil {
		return err
	}
	return deliver(client, m)
}

func (s *MailSettings) logIn(env *action.Env, client *smtp.Client, host string) error {
	if !s.UseAuth {
		return nil
	}
	user, err := s.User.Eval(env)
	if err != nil {
		return err
	}
	password, err := s.Password.Reveal(env.Vars)
	if err != nil {
		return err
	}
	auth := smtp.PlainAuth("", user, password.Reveal(), host)
	if s.OAuth {
		auth = &tokenAuth{user: user, token: password.Reveal()}
	}
	if err := client.Auth(auth); err != nil {
		return &engine.Error{Message: "the server did not accept the log-in", Hint: "check user, password and whether a secure connection is needed", Err: err}
	}
	return nil
}

// tokenAuth logs in by XOAUTH2.
type tokenAuth struct{ user, token string }

// Start implements smtp.Auth. A token is not sent over an open line.
func (a *tokenAuth) Start(server *smtp.ServerInfo) (string, []byte, error) {
	if !server.TLS {
		return "", nil, errors.New("an OAuth 2 token needs a secure connection")
	}
	return "XOAUTH2", []byte("user=" + a.user + "\x01auth=Bearer " + a.token + "\x01\x01"), nil
}

// Next implements smtp.Auth: an answer of the server is its error, which an empty
// line asks for.
func (a *tokenAuth) Next([]byte, bool) ([]byte, error) { return []byte{}, nil }

func deliver(client *smtp.Client, m *message) error {
	if err := client.Mail(m.sender); err != nil {
		return fmt.Errorf("sender %s: %w", m.sender, err)
	}
	for _, to := range m.recipients {
		if err := client.Rcpt(to); err != nil {
			return fmt.Errorf("recipient %s: %w", to, err)
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(m.body); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	// The message is accepted; a server that hangs up now has it all the same.
	_ = client.Quit()
	return nil
}

// WritesTo implements action.Targeted.
func (s *MailSettings) WritesTo(r transform.Resolver) transform.Target {
	return transform.Target{Name: transform.Resolved(r, s.To.Text), How: "mail is sent"}
}
