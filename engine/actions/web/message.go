package web

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/action"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// message is what goes to the server.
type message struct {
	sender     string
	recipients []string
	body       []byte // headers and all
}

// compose makes the message.
func (s *MailSettings) compose(ctx context.Context, env *action.Env, r *action.Result) (*message, error) {
	m := &message{}
	head := &header{}
	from, err := s.sender(env)
	if err != nil {
		return nil, err
	}
	m.sender = from.Address
	head.set("From", from.String())
	for _, group := range []struct {
		name string
		list transform.Expr[string]
		hide bool
	}{{"To", s.To, false}, {"Cc", s.Cc, false}, {"Bcc", s.Bcc, true}, {"Reply-To", s.ReplyTo, false}} {
		text, err := group.list.Eval(env)
		if err != nil {
			return nil, err
		}
		list, err := addresses(text, group.name)
		if err != nil {
			return nil, err
		}
		var shown []string
		for _, a := range list {
			shown = append(shown, a.String())
			if group.name != "Reply-To" {
				m.recipients = append(m.recipients, a.Address)
			}
		}
		if len(shown) > 0 && !group.hide {
			head.set(group.name, strings.Join(shown, ", "))
		}
	}
	if len(m.recipients) == 0 {
		return nil, &engine.Error{Message: "the message has no recipient", Hint: "give at least one address; check the variables in it"}
	}
	if err := s.describe(env, head); err != nil {
		return nil, err
	}
	return m, s.fill(ctx, env, r, head, m)
}

func (s *MailSettings) sender(env *action.Env) (*mail.Address, error) {
	text, err := s.From.Eval(env)
	if err != nil {
		return nil, err
	}
	from, err := mail.ParseAddress(strings.TrimSpace(text))
	if err != nil {
		return nil, &engine.Error{Value: text, Message: "the sender is no e-mail address", Err: err}
	}
	if name, err := s.FromName.Eval(env); err != nil {
		return nil, err
	} else if name != "" {
		from.Name = name
	}
	return from, nil
}

// describe sets subject, date and priority.
func (s *MailSettings) describe(env *action.Env, head *header) error {
	subject, err := s.Subject.Eval(env)
	if err != nil {
		return err
	}
	head.set("Subject", mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(subject), " ")))
	head.set("Date", env.Now().In(env.Location).Format(time.RFC1123Z))
	head.set("MIME-Version", "1.0")
	if s.UsePriority {
		level := map[string]string{"low": "5 (Lowest)", "high": "1 (Highest)"}[s.Priority]
		if level == "" {
			level = "3 (Normal)"
		}
		head.set("X-Priority", level)
		head.set("Importance", orNormal(s.Importance))
		head.set("Sensitivity", orNormal(s.Sensitivity))
	}
	return nil
}

func orNormal(text string) string {
	if text == "" {
		return "normal"
	}
	return text
}

// header writes header lines; a line end in a value ends up as a blank.
type header struct{ bytes.Buffer }

func (h *header) set(name, value string) {
	value = strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
	h.WriteString(name + ": " + value + "\r\n")
}

// fill writes text and attachments.
func (s *MailSettings) fill(ctx context.Context, env *action.Env, r *action.Result, head *header, m *message) error {
	text, err := s.text(env, r)
	if err != nil {
		return err
	}
	kind := "text/plain; charset=utf-8"
	if s.HTML {
		kind = "text/html; charset=utf-8"
	}
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	if err := textPart(parts, kind, text); err != nil {
		return err
	}
	if err := s.images(ctx, env, parts); err != nil {
		return err
	}
	if s.IncludeFiles {
		if err := s.attach(ctx, env, r, parts); err != nil {
			return err
		}
	}
	if err := parts.Close(); err != nil {
		return err
	}
	structure := "mixed"
	if len(s.EmbeddedImages) > 0 && !s.IncludeFiles {
		structure = "related"
	}
	head.set("Content-Type", "multipart/"+structure+"; boundary="+parts.Boundary())
	head.WriteString("\r\n")
	m.body = append(head.Bytes(), body.Bytes()...)
	return nil
}

func textPart(parts *multipart.Writer, kind, text string) error {
	w, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {kind}, "Content-Transfer-Encoding": {"quoted-printable"}})
	if err != nil {
		return err
	}
	q := quotedprintable.NewWriter(w)
	if _, err := io.WriteString(q, text); err != nil {
		return err
	}
	return q.Close()
}

// text is the comment and, unless only that is wanted, what ran and how.
func (s *MailSettings) text(env *action.Env, r *action.Result) (string, error) {
	var parts [3]string
	for i, e := range []transform.Expr[string]{s.Comment, s.Contact, s.Phone} {
		var err error
		if parts[i], err = e.Eval(env); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	if parts[0] != "" {
		b.WriteString(parts[0] + "\n\n")
	}
	if s.IncludeDate {
		fmt.Fprintf(&b, "Message date: %s\n\n", env.Now().In(env.Location).Format("2006/01/02 15:04:05"))
	}
	if s.OnlyComment {
		return b.String(), nil
	}
	fmt.Fprintf(&b, "Workflow: %s\nAction: %s\n\n", env.Workflow.Name, env.Action)
	fmt.Fprintf(&b, "Previous result: %v\nErrors: %d\nLines read: %d\nLines written: %d\nLines input: %d\nLines output: %d\nLines updated: %d\nLines rejected: %d\nFiles: %d\nExit status: %d\n",
		r.OK, r.Errors, r.Read, r.Written, r.Input, r.Output, r.Updated, r.Rejected, len(r.ResultFiles), r.ExitStatus)
	if parts[1]+parts[2] != "" {
		fmt.Fprintf(&b, "\nContact: %s %s\n", parts[1], parts[2])
	}
	if s.HTML {
		return strings.ReplaceAll(b.String(), "\n", "<br>\n"), nil
	}
	return b.String(), nil
}

func (s *MailSettings) images(ctx context.Context, env *action.Env, parts *multipart.Writer) error {
	for _, i := range s.EmbeddedImages {
		name, err := i.File.Eval(env)
		if err != nil {
			return err
		}
		id, err := i.ID.Eval(env)
		if err != nil {
			return err
		}
		extra := textproto.MIMEHeader{"Content-Disposition": {"inline"}, "Content-Id": {"<" + strings.Trim(id, "<>\r\n") + ">"}}
		if err := filePart(ctx, env, parts, name, extra); err != nil {
			return err
		}
	}
	return nil
}

// attach adds the result files of the chosen types.
func (s *MailSettings) attach(ctx context.Context, env *action.Env, r *action.Result, parts *multipart.Writer) error {
	var list []transform.ResultFile
	for _, f := range r.ResultFiles {
		if len(s.FileTypes) == 0 || slices.Contains(s.FileTypes, f.Type) {
			list = append(list, f)
		}
	}
	if s.ZipFiles && len(list) > 0 {
		return s.attachZip(ctx, env, list, parts)
	}
	for _, f := range list {
		if err := filePart(ctx, env, parts, f.Path, attachment(baseName(f.Path))); err != nil {
			return err
		}
	}
	return nil
}

func baseName(location string) string { return path.Base(filepath.ToSlash(location)) }

func attachment(name string) textproto.MIMEHeader {
	return textproto.MIMEHeader{"Content-Disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": name})}}
}

func filePart(ctx context.Context, env *action.Env, parts *multipart.Writer, location string, extra textproto.MIMEHeader) error {
	data, err := files.ReadAll(ctx, env.Files, location)
	if err != nil {
		return fmt.Errorf("attach %s: %w", location, err)
	}
	kind := mime.TypeByExtension(path.Ext(location))
	if kind == "" {
		kind = "application/octet-stream"
	}
	return dataPart(parts, kind, data, extra)
}

func dataPart(parts *multipart.Writer, kind string, data []byte, extra textproto.MIMEHeader) error {
	extra.Set("Content-Type", kind)
	extra.Set("Content-Transfer-Encoding", "base64")
	w, err := parts.CreatePart(extra)
	if err != nil {
		return err
	}
	encoder := base64.NewEncoder(base64.StdEncoding, &lines{w: w})
	if _, err := encoder.Write(data); err != nil {
		return err
	}
	return encoder.Close()
}

// lines breaks base64 text into lines of 76 characters.
type lines struct {
	w  io.Writer
	at int
}

const base64Line = 76

func (l *lines) Write(p []byte) (int, error) {
	for done := 0; done < len(p); {
		n := min(base64Line-l.at, len(p)-done)
		if _, err := l.w.Write(p[done : done+n]); err != nil {
			return done, err
		}
		done += n
		if l.at += n; l.at == base64Line {
			l.at = 0
			if _, err := io.WriteString(l.w, "\r\n"); err != nil {
				return done, err
			}
		}
	}
	return len(p), nil
}

func (s *MailSettings) attachZip(ctx context.Context, env *action.Env, list []transform.ResultFile, parts *multipart.Writer) error {
	name, err := s.ZipName.Or(env, "files.zip")
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, f := range list {
		w, err := z.Create(baseName(f.Path))
		if err != nil {
			return err
		}
		data, err := files.ReadAll(ctx, env.Files, f.Path)
		if err != nil {
			return fmt.Errorf("attach %s: %w", f.Path, err)
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return dataPart(parts, "application/zip", packed.Bytes(), attachment(baseName(name)))
}
