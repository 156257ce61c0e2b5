package execdb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// openDatabase opens one file and brings its schema up to date.
func openDatabase(ctx context.Context, file string, k kind) (*database, error) {
	migrations, err := k.migrations()
	if err != nil {
		return nil, err
	}
	d := &database{kind: k, version: len(migrations)}
	// auto_vacuum counts only before the first table is written, so it leads.
	if d.writer, err = sql.Open("sqlite", dsn(file, "auto_vacuum(2)", "journal_mode(WAL)", "synchronous("+k.synchronous+")", "foreign_keys(1)")); err != nil {
		return nil, err
	}
	d.writer.SetMaxOpenConns(1)
	if d.reader, err = sql.Open("sqlite", dsn(file, "query_only(1)")); err != nil {
		_ = d.writer.Close()
		return nil, err
	}
	d.reader.SetMaxOpenConns(readers)
	d.reader.SetMaxIdleConns(readers)
	if err := d.migrate(ctx, migrations); err != nil {
		_ = d.close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return d, nil
}

// dsn carries the pragmas, so that every connection of a pool has them.
func dsn(file string, pragmas ...string) string {
	q := url.Values{"_txlock": {"immediate"}, "_dqs": {"0"}}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()))
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	file = filepath.ToSlash(file)
	if !strings.HasPrefix(file, "/") {
		file = "/" + file // a drive letter
	}
	return "file://" + (&url.URL{Path: file}).EscapedPath() + "?" + q.Encode()
}

// migration is one step of a schema, NN-name.sql.
type migration struct {
	number int
	name   string
	script string
}

// migrations gives the steps in order, numbered from 1 without a gap.
func (k kind) migrations() ([]migration, error) {
	dir := path.Join("migrations", k.name)
	entries, err := fs.ReadDir(k.scripts, dir)
	if err != nil {
		return nil, err
	}
	list := make([]migration, 0, len(entries))
	for _, e := range entries {
		number, err := strconv.Atoi(strings.SplitN(e.Name(), "-", 2)[0])
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", e.Name(), err)
		}
		text, err := fs.ReadFile(k.scripts, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, migration{number, e.Name(), string(text)})
	}
	slices.SortFunc(list, func(a, b migration) int { return cmp.Compare(a.number, b.number) })
	for i, m := range list {
		if m.number != i+1 {
			return nil, fmt.Errorf("migration %s is number %d of %s", m.name, i+1, k.name)
		}
	}
	return list, nil
}

// migrate creates the schema of today in an empty file, or runs the steps that
// an older file lacks, in one transaction.
func (d *database) migrate(ctx context.Context, steps []migration) error {
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var application, version, tables int64
	if err := tx.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).
		Scan(&application, &version, &tables); err != nil {
		return err
	}
	switch fresh := application == 0 && version == 0 && tables == 0; {
	case !fresh && application != d.kind.application:
		return fmt.Errorf("%w: its application id is %#x", ErrForeign, application)
	case version > int64(d.version):
		return fmt.Errorf("%w (version %d, this program knows %d)", ErrNewer, version, d.version)
	case version == int64(d.version):
		return nil
	case fresh:
		if steps, err = d.today(); err != nil {
			return err
		}
	default:
		steps = steps[version:]
	}
	for _, m := range steps {
		if _, err := tx.ExecContext(ctx, m.script); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", d.kind.application, d.version)); err != nil {
		return err
	}
	return tx.Commit()
}

// today is the whole schema as one step.
func (d *database) today() ([]migration, error) {
	name := path.Join("schema", d.kind.name+".sql")
	text, err := fs.ReadFile(d.kind.scripts, name)
	return []migration{{d.version, name, string(text)}}, err
}

// write runs f in one short IMMEDIATE transaction. Another process may have
// migrated the file since it was opened, so the version is asserted first.
func (d *database) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > d.version {
		return fmt.Errorf("%w (version %d, this program knows %d)", ErrNewer, version, d.version)
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Times are stored as milliseconds since 1970; 0 is the zero time.

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
