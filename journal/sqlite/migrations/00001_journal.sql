-- +goose Up
-- "Loom", so that another program's database is not taken for a journal.
PRAGMA application_id = 1282371437;

CREATE TABLE journal_runs (
    id            TEXT PRIMARY KEY NOT NULL,
    began         TEXT NOT NULL,
    summary       TEXT NOT NULL, -- JSON, a Summary
    head_sequence INTEGER NOT NULL,
    head          BLOB NOT NULL,
    lease         INTEGER NOT NULL,
    holder        TEXT, -- JSON, a Holder; null where the lease was given back
    renewed       INTEGER NOT NULL -- milliseconds since 1970
) STRICT;
CREATE INDEX journal_runs_began ON journal_runs (began, id);

-- What is read by its key alone is kept in the tree of the key: a write then changes one page less for each table.
CREATE TABLE journal_entries (
    run      TEXT NOT NULL REFERENCES journal_runs (id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    body     TEXT NOT NULL, -- JSON, as it was written
    hash     BLOB NOT NULL,
    PRIMARY KEY (run, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal_documents (
    sha256  TEXT PRIMARY KEY NOT NULL,
    content BLOB NOT NULL
) STRICT;

CREATE TABLE journal_run_documents (
    run    TEXT NOT NULL REFERENCES journal_runs (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL REFERENCES journal_documents (sha256),
    PRIMARY KEY (run, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_run_documents_sha256 ON journal_run_documents (sha256);

CREATE TABLE journal_cases (
    run          TEXT NOT NULL REFERENCES journal_runs (id) ON DELETE CASCADE,
    id           TEXT NOT NULL,
    protocol     TEXT NOT NULL,
    sha256       TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    artifacts    TEXT NOT NULL, -- JSON, a map
    inputs       TEXT NOT NULL, -- JSON, a map
    records      INTEGER NOT NULL, -- how many there must be
    observations INTEGER NOT NULL,
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal_case_records (
    run      TEXT NOT NULL,
    case_id  TEXT NOT NULL,
    position INTEGER NOT NULL, -- from 1, in the order in which they came
    kind     TEXT NOT NULL,
    producer TEXT NOT NULL,
    data     TEXT NOT NULL, -- JSON, as it was written
    applies  INTEGER NOT NULL CHECK (applies IN (0, 1)),
    PRIMARY KEY (run, case_id, position),
    FOREIGN KEY (run, case_id) REFERENCES journal_cases (run, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE journal_case_observations (
    run      TEXT NOT NULL,
    case_id  TEXT NOT NULL,
    position INTEGER NOT NULL,
    source   TEXT NOT NULL,
    subject  TEXT NOT NULL,
    payload  TEXT NOT NULL, -- JSON, as it was written
    PRIMARY KEY (run, case_id, position),
    FOREIGN KEY (run, case_id) REFERENCES journal_cases (run, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
