-- Whose keys a store belongs to: SHA-256 fingerprints, never a key.
CREATE TABLE keys (
    purpose     TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL CHECK (length(fingerprint) = 64),
    since       INTEGER NOT NULL,
    PRIMARY KEY (purpose, fingerprint)
) STRICT, WITHOUT ROWID;

-- The public key that signed a study (empty for studies of before), and when a sealed study's answers were dropped.
ALTER TABLE studies ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN dropped INTEGER;

-- Who did what: rows are added, and never changed or removed.
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    bucket INTEGER NOT NULL,
    who    TEXT    NOT NULL,
    did    TEXT    NOT NULL,
    about  TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE TRIGGER events_do_not_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER events_do_not_go BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- Sessions that ended before their time: a digest of the cookie, until it would have ended by itself.
CREATE TABLE signed_out (
    session TEXT    PRIMARY KEY,
    until   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row that is written to find out whether the store can commit.
CREATE TABLE pulse (one INTEGER PRIMARY KEY CHECK (one = 1), beat INTEGER NOT NULL) STRICT;
INSERT INTO pulse VALUES (1, 0);
