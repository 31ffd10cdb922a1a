-- +goose Up
-- Everywhere the collation C: the order of texts does not change with the machine.
CREATE TABLE journal_runs (
    id            text COLLATE "C" PRIMARY KEY,
    began         text COLLATE "C" NOT NULL,
    summary       text COLLATE "C" NOT NULL, -- JSON, a Summary
    head_sequence bigint NOT NULL,
    head          bytea NOT NULL,
    lease         bigint NOT NULL,
    holder        text COLLATE "C", -- JSON, a Holder; null where the lease was given back
    renewed       bigint NOT NULL -- milliseconds since 1970
);
CREATE INDEX journal_runs_began ON journal_runs (began, id);

CREATE TABLE journal_entries (
    run      text COLLATE "C" NOT NULL REFERENCES journal_runs (id) ON DELETE CASCADE,
    sequence bigint NOT NULL,
    kind     text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    body     text COLLATE "C" NOT NULL, -- JSON, as it was written: neither json nor jsonb keep that
    hash     bytea NOT NULL,
    PRIMARY KEY (run, sequence)
);

CREATE TABLE journal_documents (
    sha256  text COLLATE "C" PRIMARY KEY,
    content bytea NOT NULL
);

CREATE TABLE journal_run_documents (
    run    text COLLATE "C" NOT NULL REFERENCES journal_runs (id) ON DELETE CASCADE,
    sha256 text COLLATE "C" NOT NULL REFERENCES journal_documents (sha256),
    PRIMARY KEY (run, sha256)
);
CREATE INDEX journal_run_documents_sha256 ON journal_run_documents (sha256);

CREATE TABLE journal_cases (
    run          text COLLATE "C" NOT NULL REFERENCES journal_runs (id) ON DELETE CASCADE,
    id           text COLLATE "C" NOT NULL,
    protocol     text COLLATE "C" NOT NULL,
    sha256       text COLLATE "C" NOT NULL,
    revision     bigint NOT NULL,
    artifacts    text COLLATE "C" NOT NULL, -- JSON, a map
    inputs       text COLLATE "C" NOT NULL, -- JSON, a map
    records      bigint NOT NULL, -- how many there must be
    observations bigint NOT NULL,
    PRIMARY KEY (run, id)
);

CREATE TABLE journal_case_records (
    run      text COLLATE "C" NOT NULL,
    case_id  text COLLATE "C" NOT NULL,
    position bigint NOT NULL, -- from 1, in the order in which they came
    kind     text COLLATE "C" NOT NULL,
    producer text COLLATE "C" NOT NULL,
    data     text COLLATE "C" NOT NULL, -- JSON, as it was written
    applies  boolean NOT NULL,
    PRIMARY KEY (run, case_id, position),
    FOREIGN KEY (run, case_id) REFERENCES journal_cases (run, id) ON DELETE CASCADE
);

CREATE TABLE journal_case_observations (
    run      text COLLATE "C" NOT NULL,
    case_id  text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    source   text COLLATE "C" NOT NULL,
    subject  text COLLATE "C" NOT NULL,
    payload  text COLLATE "C" NOT NULL, -- JSON, as it was written
    PRIMARY KEY (run, case_id, position),
    FOREIGN KEY (run, case_id) REFERENCES journal_cases (run, id) ON DELETE CASCADE
);
