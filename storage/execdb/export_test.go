package execdb

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// WithNetwork makes every folder one on this file system.
func (o Options) WithNetwork(name string) Options {
	o.networkOf = func(string) (string, bool, error) { return name, name != "", nil }
	return o
}

// Beat notes that the process lives, as the heartbeat does.
func (s *Store) Beat(ctx context.Context) error { return s.beat(ctx) }

// FreeLock frees the process's lock as if the file had been lost.
func (s *Store) FreeLock() error { return s.self.lock.Close() }

func kindOf(name string) kind {
	if name == "log" {
		return logKind
	}
	return controlKind
}

// SchemaOf opens file with these scripts and gives its version and schema.
func SchemaOf(ctx context.Context, file, name string, scripts fs.FS) (int, string, error) {
	k := kindOf(name)
	k.scripts = scripts
	d, err := openDatabase(ctx, file, k)
	if err != nil {
		return 0, "", err
	}
	list, err := queryStrings(ctx, d.reader, `SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name`)
	return d.version, strings.Join(list, "\n"), errors.Join(err, d.close())
}

// Scripts are the embedded scripts.
func Scripts() fs.FS { return scripts }

