package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/engine/project"
)

// Step is one thing that Probe tried. Neither remark nor error holds the password.
type Step struct {
	Name   string
	Took   time.Duration
	Remark string // what was found out
	Hint   string // what to try after an error
	Err    error
}

// Probe tries a connection, stored or not, and tells of each step as it ends. It
// changes nothing, makes no database, and stops at the first failure, which it gives.
func Probe(ctx context.Context, r *project.RDBMS, scope *project.Variables, each func(Step)) error {
	p := &probe{rdbms: r, scope: scope}
	defer func() {
		if p.c != nil {
			_ = p.close() // the outcome is known by then
		}
	}()
	for _, s := range []struct {
		name string
		run  func(context.Context) (string, error)
	}{
		{"Resolve the settings", p.resolve},
		{"Find the database", p.find},
		{"Connect", p.connect},
		{"Read one row", p.read},
		{"Begin a transaction and give it up", p.transact},
	} {
		start := time.Now()
		remark, err := s.run(ctx)
		step := Step{Name: s.name, Took: time.Since(start), Remark: remark, Err: p.hide(err)}
		if err != nil && p.c != nil {
			step.Hint = p.c.dialect.Hint(err)
		}
		each(step)
		if err != nil {
			return step.Err
		}
	}
	return nil
}

type probe struct {
	rdbms    *project.RDBMS
	scope    *project.Variables
	settings Settings
	c        *connection
}

func (p *probe) resolve(context.Context) (string, error) {
	k := kindOf(p.rdbms.PluginID)
	if k == nil {
		return "", fmt.Errorf("databases of type %s cannot be opened yet; supported: %s", p.rdbms.PluginID, strings.Join(Supported(), ", "))
	}
	var err error
	if p.settings, err = newSettings(p.scope, p.rdbms, time.Local); err != nil {
		return "", err
	}
	if p.c, err = k.open(p.settings); err != nil {
		return "", err
	}
	where := p.settings.Database
	switch {
	case p.settings.URL != "":
		where = "by its URL"
	case p.settings.Host != "" && p.settings.Port != "":
		where = p.settings.Host + ":" + p.settings.Port + "/" + where
	case p.settings.Host != "":
		where = p.settings.Host + "/" + where
	case where == "":
		where = "in memory"
	}
	return where, nil
}

func (p *probe) find(context.Context) (string, error) {
	if p.c.exists == nil {
		return "known when connected", nil
	}
	return "there", p.c.exists()
}

func (p *probe) connect(ctx context.Context) (string, error) { return "", p.c.db.PingContext(ctx) }

func (p *probe) read(ctx context.Context) (string, error) {
	var one int
	return "", p.c.db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

func (p *probe) transact(ctx context.Context) (string, error) {
	tx, err := p.c.db.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return "", err
	}
	return "", tx.Rollback()
}

func (p *probe) close() error {
	err := p.c.db.Close()
	if p.c.anchor != nil {
		err = errors.Join(err, p.c.anchor.Close())
	}
	return err
}

// hide takes the password out of an error; drivers may repeat what they were given.
func (p *probe) hide(err error) error {
	if err == nil || p.settings.Password.IsEmpty() || !strings.Contains(err.Error(), p.settings.Password.Reveal()) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), p.settings.Password.Reveal(), p.settings.Password.String()))
}
