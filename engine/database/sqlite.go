package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sluice/engine/batch"
)

// sqliteDialect is SQLite as Hop sees it through its JDBC driver. It is immutable.
type sqliteDialect struct {
	schema     string
	booleans   bool
	timestamps bool
	loc        *time.Location
}

// sqliteBusy is how long a statement waits for a lock, as the JDBC driver does.
const sqliteBusy = 3 * time.Second

// openSQLite opens a database file. A relative path counts from the working
// directory, an absent file is made by the first statement, ":memory:" or nothing
// is a database that lives as long as the pool. Foreign keys are not enforced and
// a lock is waited for 3 s, as the JDBC driver does by default; both are options.
func openSQLite(s Settings) (*connection, error) {
	file, params, err := sqliteFile(s)
	if err != nil {
		return nil, err
	}
	if err := sqliteOptions(s, params); err != nil {
		return nil, err
	}
	dsn := &url.URL{Scheme: "file", RawQuery: params.Encode()}
	if file == "" {
		dsn.Opaque = "/" + uuid.NewString()
		params.Set("vfs", "memdb")
		dsn.RawQuery = params.Encode()
	} else {
		dsn.Path = filepath.ToSlash(file)
		if !strings.HasPrefix(dsn.Path, "/") {
			dsn.Path = "/" + dsn.Path
		}
	}
	base, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	c := &connection{
		settings: s, db: s.newDB(base),
		dialect: &sqliteDialect{schema: s.Schema, booleans: s.Booleans, timestamps: s.Timestamps, loc: s.Location},
		stamp:   func() (string, bool) { return "", false },
	}
	if file == "" {
		// The database is gone with its last connection: one is kept.
		if c.anchor, err = base.Connect(context.Background()); err != nil {
			return nil, errors.Join(err, c.db.Close())
		}
		return c, nil
	}
	c.stamp = func() (string, bool) { return sqliteStamp(file) }
	c.exists = func() error {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no database file %s", file)
		}
		return nil
	}
	return c, nil
}

// sqliteFile gives the absolute path, empty for a database in memory, and the
// parameters that a URI holds.
func sqliteFile(s Settings) (string, url.Values, error) {
	name := s.Database
	if s.URL != "" {
		const sqlitePrefix = "jdbc:sqlite:"
		rest, ok := strings.CutPrefix(s.URL, sqlitePrefix)
		if !ok {
			return "", nil, fmt.Errorf("the URL %q does not start with %q", s.URL, sqlitePrefix)
		}
		name = rest
	}
	params := url.Values{}
	if rest, ok := strings.CutPrefix(name, "file:"); ok {
		path, query, _ := strings.Cut(rest, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			return "", nil, fmt.Errorf("database %q: %w", name, err)
		}
		for _, key := range []string{"mode", "immutable", "nolock"} { // SQLite's own; the driver's must not come from a path
			if v := values.Get(key); v != "" {
				params.Set(key, v)
			}
		}
		if path, err = url.PathUnescape(path); err != nil {
			return "", nil, fmt.Errorf("database %q: %w", name, err)
		}
		if strings.HasPrefix(path, "//") {
			path = "/" + strings.TrimLeft(path, "/")
		}
		name = path
		if params.Get("mode") == "memory" {
			params.Del("mode")
			name = ""
		}
	}
	if name = strings.TrimSpace(name); name == "" || name == ":memory:" {
		return "", params, nil
	}
	abs, err := filepath.Abs(name)
	return abs, params, err
}

// sqlitePragmas are the driver options that are statements of SQLite.
var sqlitePragmas = map[string]bool{
	"application_id": true, "auto_vacuum": true, "automatic_index": true, "busy_timeout": true, "cache_size": true,
	"cache_spill": true, "case_sensitive_like": true, "checkpoint_fullfsync": true, "defer_foreign_keys": true,
	"encoding": true, "foreign_keys": true, "fullfsync": true, "hexkey": false, "incremental_vacuum": true,
	"journal_mode": true, "journal_size_limit": true, "legacy_alter_table": true, "locking_mode": true,
	"max_page_count": true, "mmap_size": true, "page_size": true, "query_only": true, "read_uncommitted": true,
	"recursive_triggers": true, "reverse_unordered_selects": true, "secure_delete": true, "synchronous": true,
	"temp_store": true, "threads": true, "user_version": true, "wal_autocheckpoint": true,
}

var plainOption = regexp.MustCompile(`^[A-Za-z0-9_.+-]+$`)

// sqliteOptions adds the options of the connection to the driver's parameters.
// Options that only steer the JDBC driver are passed over.
func sqliteOptions(s Settings, params url.Values) error {
	busy := strconv.FormatInt(sqliteBusy.Milliseconds(), 10)
	var pragmas []string
	for _, o := range s.Options {
		name, value := strings.ToLower(strings.TrimSpace(o.Name)), strings.TrimSpace(o.Value)
		switch {
		case value == "":
		case name == "transaction_mode":
			params.Set("_txlock", strings.ToLower(value))
		case name == "busy_timeout":
			busy = value
		case sqlitePragmas[name]:
			pragmas = append(pragmas, name+"("+value+")")
		}
		if (sqlitePragmas[name] || name == "transaction_mode") && value != "" && !plainOption.MatchString(value) {
			return fmt.Errorf("option %s: %q is not one word or number", o.Name, o.Value)
		}
	}
	params["_pragma"] = append([]string{"busy_timeout(" + busy + ")"}, pragmas...)
	if _, err := time.LoadLocation(s.Location.String()); err == nil {
		params.Set("_timezone", s.Location.String())
	}
	return nil
}

// sqliteStamp changes with every change that was written to the file or its log.
func sqliteStamp(file string) (string, bool) {
	var b strings.Builder
	for _, name := range []string{file, file + "-wal"} {
		st, err := os.Stat(name)
		if err == nil {
			fmt.Fprintf(&b, "%d/%d;", st.ModTime().UnixNano(), st.Size())
		} else if name == file {
			return "", false
		}
	}
	return b.String(), true
}

// Name implements transform.Dialect.
func (d *sqliteDialect) Name() string { return "SQLITE" }

// Quote implements transform.Dialect. Back quotes never make a text of a name that
// does not exist, as double quotes do in SQLite. A name that is quoted already
// stays as it is.
func (d *sqliteDialect) Quote(name string) string {
	if n := len(name); n >= 2 {
		switch name[:1] + name[n-1:] {
		case `""`, "``", "[]":
			return name
		}
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// QuoteText implements Dialect.
func (d *sqliteDialect) QuoteText(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// Placeholder implements transform.Dialect.
func (d *sqliteDialect) Placeholder(int) string { return "?" }

// Schema implements Dialect.
func (d *sqliteDialect) Schema() string { return d.schema }

// OneWriter implements Dialect.
func (d *sqliteDialect) OneWriter() bool { return true }

// TruncateStatement implements transform.Dialect; table is quoted.
func (d *sqliteDialect) TruncateStatement(table string) string { return "DELETE FROM " + table }

// clobLength is the length from which Hop takes a text for a large object.
const clobLength = 9999999

// ColumnType implements transform.Dialect, as Hop declares columns of SQLite.
func (d *sqliteDialect) ColumnType(f *batch.Field) string {
	switch f.Type {
	case batch.Date, batch.Timestamp:
		return "DATETIME"
	case batch.Boolean:
		return "CHAR(1)"
	case batch.Integer, batch.Number, batch.BigNumber:
		if f.Precision != 0 || f.Length < 0 || f.Length > 18 {
			return "NUMERIC"
		}
		return "INTEGER"
	case batch.Binary:
		return "BLOB"
	case batch.String:
		if f.Length >= clobLength {
			return "BLOB"
		}
	}
	return "TEXT"
}

// Absent implements Dialect: what SQLite has no code of its own for is an error in
// the statement, and the statements this is asked for can have no other.
func (d *sqliteDialect) Absent(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_ERROR
}

// Hint implements Dialect.
func (d *sqliteDialect) Hint(err error) string {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another transform or program holds a lock on the database file; read and write it one after the other, or switch the file to write-ahead logging (PRAGMA journal_mode=WAL)"
	case sqlite3.SQLITE_CANTOPEN:
		return "check the path of the database file and that its folder exists and can be written to"
	case sqlite3.SQLITE_READONLY:
		return "the database file or its folder cannot be written to"
	case sqlite3.SQLITE_NOTADB:
		return "the file is not an SQLite database"
	}
	return ""
}
