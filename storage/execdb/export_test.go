package execdb

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"strings"

	"sluice/storage"
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

// Fill adds n ended executions in one transaction.
func Fill(ctx context.Context, s *Store, n int) error {
	return s.own(ctx, func(tx *sql.Tx, self string) error {
		for i := range n {
			id, err := storage.NewExecutionID(s.o.Now(), s.o.Random)
			if err != nil {
				return err
			}
			var e storage.NewExecution
			e.ID, e.Kind, e.Name, e.File = id, storage.KindPipeline, "load orders", "${PROJECT_HOME}/pipelines/load-orders.hpl"
			e.State, e.Host, e.PID, e.BootID = storage.StateRunning, "workstation", 4711, "6f1c9f4e-4f0c-4d9a-9d0e-0a1b2c3d4e5f"
			if err := s.insert(ctx, tx, self, &e); err != nil {
				return err
			}
			to := []storage.State{storage.StateSucceeded, storage.StateFailed}[i%2]
			if err := move(ctx, tx, id, storage.StateRunning, storage.Change{To: to, At: s.o.Now(), Message: "ended"}, nil); err != nil {
				return err
			}
		}
		return nil
	})
}
