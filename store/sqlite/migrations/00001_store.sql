-- +goose Up
-- "LoSt", so that another program's database is not taken for a store.
PRAGMA application_id = 1282363252;

-- One row: whom the records belong to.
CREATE TABLE owner (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	subject TEXT NOT NULL,
	zone    TEXT NOT NULL,
	made    INTEGER NOT NULL
) STRICT;

CREATE TABLE facet (
	name  TEXT PRIMARY KEY,
	added INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A source's kind, format and facets are the trusted columns that the labels of its records follow from.
CREATE TABLE source (
	number    INTEGER PRIMARY KEY AUTOINCREMENT,
	name      TEXT NOT NULL UNIQUE,
	kind      TEXT NOT NULL,
	format    TEXT NOT NULL,
	location  TEXT NOT NULL,
	added     INTEGER NOT NULL,
	-- What the store holds of it, kept in step by each transaction.
	records   INTEGER NOT NULL DEFAULT 0,
	searched  INTEGER NOT NULL DEFAULT 0, -- records that the index of words has
	tokens    INTEGER NOT NULL DEFAULT 0, -- of them
	bytes     INTEGER NOT NULL DEFAULT 0, -- of titles and bodies
	-- The last sync that ended. NULL: none did.
	synced    INTEGER,
	problem   TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE source_facet (
	source INTEGER NOT NULL REFERENCES source (number) ON DELETE CASCADE,
	facet  TEXT NOT NULL REFERENCES facet (name),
	PRIMARY KEY (source, facet)
) STRICT, WITHOUT ROWID;

-- Who let whom see more or less, and when. The names stay when a source goes.
CREATE TABLE facet_change (
	number     INTEGER PRIMARY KEY AUTOINCREMENT,
	at         INTEGER NOT NULL,
	source     TEXT NOT NULL,
	facets_was TEXT NOT NULL, -- separated by commas
	facets_is  TEXT NOT NULL,
	records    INTEGER NOT NULL
) STRICT;

CREATE TABLE label (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	text   TEXT NOT NULL UNIQUE -- canonical JSON
) STRICT;

-- The number orders records by time: see store.NewID.
CREATE TABLE record (
	number   INTEGER PRIMARY KEY,
	source   INTEGER NOT NULL REFERENCES source (number),
	ref      TEXT NOT NULL,
	kind     TEXT NOT NULL,
	label    INTEGER NOT NULL REFERENCES label (number),
	time     INTEGER, -- Unix seconds; NULL: none
	until    INTEGER, -- NULL: at once
	observed INTEGER NOT NULL,
	hash     BLOB NOT NULL,
	title    TEXT NOT NULL,
	folder   TEXT NOT NULL,
	thread   TEXT NOT NULL,
	senders  TEXT NOT NULL, -- name, address, name, address, ... each ended by a line feed
	receivers TEXT NOT NULL,
	keys     TEXT NOT NULL, -- each ended by a line feed
	details  TEXT NOT NULL,
	tokens   INTEGER NOT NULL, -- in the index of words; -1: it is not there
	body     TEXT NOT NULL -- the last column: reading the others does not read its pages
) STRICT;
CREATE UNIQUE INDEX record_ref ON record (source, ref);
CREATE INDEX record_source ON record (source, number);
CREATE INDEX record_thread ON record (thread) WHERE thread <> '';

CREATE TABLE key (
	key    TEXT NOT NULL,
	record INTEGER NOT NULL REFERENCES record (number) ON DELETE CASCADE ON UPDATE CASCADE,
	PRIMARY KEY (key, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_record ON key (record);

-- What is read as a whole. A reading is complete when its number is that of the container's last Done.
CREATE TABLE container (
	number  INTEGER PRIMARY KEY,
	source  INTEGER NOT NULL REFERENCES source (number),
	name    TEXT NOT NULL,
	reading INTEGER NOT NULL, -- of the last Begin
	stamp   TEXT,             -- of the last Done; NULL: never read completely
	note    TEXT NOT NULL DEFAULT '',
	UNIQUE (source, name)
) STRICT;

-- Where a record stands. A record that stands nowhere is gone.
CREATE TABLE item (
	container INTEGER NOT NULL,
	position  INTEGER NOT NULL,
	reading   INTEGER NOT NULL,
	record    INTEGER NOT NULL,
	hash      BLOB NOT NULL, -- how the hash of what stands here begins: a record of several places is that of the first
	PRIMARY KEY (container, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX item_record ON item (record);

-- Records that lost their last item: the end of the import removes them, unless they were found elsewhere by then.
CREATE TABLE orphan (record INTEGER PRIMARY KEY) STRICT;

CREATE TABLE skip (
	container INTEGER NOT NULL,
	position  INTEGER NOT NULL,
	reading   INTEGER NOT NULL,
	reason    TEXT NOT NULL,
	PRIMARY KEY (container, position)
) STRICT, WITHOUT ROWID;

-- The index holds what store/words made of a record: folded tokens with spaces between, so that the simplest tokenizer
-- takes them as they are. It keeps no text.
CREATE VIRTUAL TABLE word USING fts5 (
	title, body, sender, recipient, folder, scope,
	content = '', contentless_delete = 1, tokenize = 'ascii', detail = 'full'
);
-- Larger pages and a larger buffer before they are written: a third less work for a first index.
INSERT INTO word (word, rank) VALUES ('pgsz', 16000);
INSERT INTO word (word, rank) VALUES ('hashsize', 8388608);
INSERT INTO word (word, rank) VALUES ('automerge', 8);
