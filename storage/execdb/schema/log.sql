-- log.db as it is today. Nothing is derived from it.

-- Each execution by a short number.
CREATE TABLE source (
  id        INTEGER PRIMARY KEY,
  execution TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE entry (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  root      INTEGER NOT NULL,           -- source.id
  execution INTEGER NOT NULL,           -- source.id
  time      INTEGER NOT NULL,           -- milliseconds since 1970, UTC
  level     INTEGER NOT NULL,           -- -1 debug, 0 info, 1 warn, 2 error
  kind      TEXT NOT NULL,
  node      TEXT NOT NULL,
  copy      INTEGER NOT NULL,
  text      TEXT NOT NULL,
  data      TEXT NOT NULL               -- JSON of the kind's fields, '' for none
) STRICT;
CREATE INDEX entry_root ON entry (root);
CREATE INDEX entry_execution ON entry (execution);
