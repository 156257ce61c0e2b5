-- control.db as it is today. Times are milliseconds since 1970, UTC; 0 is "not yet".

-- A process that writes here. Its lock file frees itself when it dies; the row
-- goes when the process ends or is declared dead, and an id never comes again.
CREATE TABLE process (
  id        TEXT PRIMARY KEY,
  host      TEXT NOT NULL,
  pid       INTEGER NOT NULL,
  boot_id   TEXT NOT NULL,
  started   INTEGER NOT NULL,
  heartbeat INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
  name      TEXT PRIMARY KEY,
  epoch     INTEGER NOT NULL,           -- grows with each holder
  process   TEXT NOT NULL DEFAULT '',   -- '' is free
  execution TEXT NOT NULL DEFAULT '',
  acquired  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE definition (
  hash    TEXT PRIMARY KEY,             -- SHA-256 of content, lower-case hex
  content BLOB NOT NULL
) STRICT;

CREATE TABLE execution (
  id          TEXT PRIMARY KEY,         -- UUIDv7
  parent      TEXT NOT NULL,
  root        TEXT NOT NULL,
  replay_of   TEXT NOT NULL,
  origin      TEXT NOT NULL,
  call_path   TEXT NOT NULL,
  kind        TEXT NOT NULL,
  name        TEXT NOT NULL,
  file        TEXT NOT NULL,
  state       TEXT NOT NULL,
  started     INTEGER NOT NULL DEFAULT 0,
  ended       INTEGER NOT NULL DEFAULT 0,
  message     TEXT NOT NULL DEFAULT '',
  host        TEXT NOT NULL,
  pid         INTEGER NOT NULL,
  boot_id     TEXT NOT NULL,
  who         TEXT NOT NULL,
  reason      TEXT NOT NULL,
  process     TEXT NOT NULL,
  lease       TEXT NOT NULL DEFAULT '',
  lease_epoch INTEGER NOT NULL DEFAULT 0,
  removed     INTEGER NOT NULL DEFAULT 0 -- retention is at work on it; lists leave it out
) STRICT, WITHOUT ROWID;
CREATE INDEX execution_root ON execution (root);
CREATE INDEX execution_origin ON execution (origin);
CREATE INDEX execution_live ON execution (process) WHERE ended = 0;
CREATE INDEX execution_removed ON execution (removed) WHERE removed > 0;

-- What lists do not show.
CREATE TABLE execution_detail (
  execution         TEXT PRIMARY KEY,
  definition        TEXT NOT NULL,
  run_configuration TEXT NOT NULL,
  log_level         TEXT NOT NULL,
  parameters        TEXT NOT NULL,      -- JSON
  variables         TEXT NOT NULL,      -- JSON
  replay            TEXT NOT NULL       -- JSON, '' when it is no replay
) STRICT, WITHOUT ROWID;
CREATE INDEX execution_detail_definition ON execution_detail (definition);

CREATE TABLE action_run (
  root      TEXT NOT NULL,
  call_path TEXT NOT NULL,
  node      TEXT NOT NULL,
  ordinal   INTEGER NOT NULL,
  execution TEXT NOT NULL,
  state     TEXT NOT NULL,
  started   INTEGER NOT NULL,
  facts     TEXT NOT NULL,              -- JSON of the whole run, rows left out
  rows      BLOB,                       -- NULL when only counted
  UNIQUE (root, call_path, node, ordinal)
) STRICT;
CREATE INDEX action_run_execution ON action_run (execution);

CREATE TABLE transform_metrics (
  execution TEXT NOT NULL,
  transform TEXT NOT NULL,
  copy      INTEGER NOT NULL,
  facts     TEXT NOT NULL,              -- JSON
  PRIMARY KEY (execution, transform, copy)
) STRICT;

CREATE TABLE snapshot_link (
  execution TEXT NOT NULL,
  gate      TEXT NOT NULL,
  snapshot  TEXT NOT NULL,
  role      TEXT NOT NULL,
  location  TEXT NOT NULL,
  call_path TEXT NOT NULL,
  node      TEXT NOT NULL,
  PRIMARY KEY (execution, gate, snapshot, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshot_link_snapshot ON snapshot_link (gate, snapshot);

-- The second witness: what a manifest's digest was when it was sealed.
CREATE TABLE seal (
  gate     TEXT NOT NULL,
  snapshot TEXT NOT NULL,
  digest   TEXT NOT NULL,
  recorded INTEGER NOT NULL,
  PRIMARY KEY (gate, snapshot)
) STRICT, WITHOUT ROWID;
