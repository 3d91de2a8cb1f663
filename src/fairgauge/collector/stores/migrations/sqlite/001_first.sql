-- The key is the public one that signed the study. A study that readers see in batches says how many answers one has, and
-- by at_end whether they close with the study and not before; of the others sums are shown at once. Results are for
-- readers unless they are public. The aim is the error that a study aims at, as a part of the metric's range; hourly is how many answers it takes in an hour, any number if NULL; dropped is
-- when a sealed study's answers were. The title stands here so that lists need not read whole documents.
CREATE TABLE studies (
    number    INTEGER PRIMARY KEY,
    digest    TEXT    NOT NULL UNIQUE CHECK (length(digest) = 64),
    document  BLOB    NOT NULL,
    admission TEXT    NOT NULL CHECK (admission IN ('open', 'tickets')),
    signature TEXT    NOT NULL,
    published INTEGER NOT NULL,
    closes    INTEGER,
    closed    INTEGER,
    seal      BLOB,
    title     TEXT    NOT NULL DEFAULT '',
    public    INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
    aim       TEXT,
    opens     INTEGER,
    hourly    INTEGER,
    key       TEXT    NOT NULL DEFAULT '',
    dropped   INTEGER,
    batch     INTEGER CHECK (batch > 0),
    at_end    INTEGER NOT NULL DEFAULT 0 CHECK (at_end IN (0, 1))
) STRICT;

-- A payload is the integers that an answer holds, with commas between them: one is the place of a 1, several are a vector.
-- Answers have no row id and are sorted by their random id. Where a row lies on its page still tells who came first;
-- answers of a study in the crowd are written anew when it is sealed.
CREATE TABLE answers (
    study  INTEGER NOT NULL REFERENCES studies (number),
    id     BLOB    NOT NULL CHECK (length(id) = 16),
    payload TEXT   NOT NULL,
    PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tallies (
    study  INTEGER NOT NULL REFERENCES studies (number),
    place  INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (study, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE arrivals (
    study  INTEGER NOT NULL REFERENCES studies (number),
    bucket INTEGER NOT NULL,
    count  INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (study, bucket)
) STRICT, WITHOUT ROWID;

-- The tally as it was when the number of answers passed powers of the square root of 2: a few rows, and no times.
CREATE TABLE looks (
    study  INTEGER NOT NULL REFERENCES studies (number),
    step   INTEGER NOT NULL,
    counts TEXT    NOT NULL,
    PRIMARY KEY (study, step)
) STRICT, WITHOUT ROWID;

-- Whose keys a store belongs to: SHA-256 fingerprints, never a key.
CREATE TABLE keys (
    purpose     TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL CHECK (length(fingerprint) = 64),
    since       INTEGER NOT NULL,
    PRIMARY KEY (purpose, fingerprint)
) STRICT, WITHOUT ROWID;

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

-- How many answers a study with batches has taken, and the counts of batches that are not closed.
CREATE TABLE fills (
    study INTEGER PRIMARY KEY REFERENCES studies (number),
    taken INTEGER NOT NULL CHECK (taken >= 0)
) STRICT;
CREATE TABLE waiting (
    study  INTEGER NOT NULL REFERENCES studies (number),
    batch  INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (study, batch, place)
) STRICT, WITHOUT ROWID;

-- Where it is no secret who contributes: one row for each ticket that was given to somebody, or that somebody used.
CREATE TABLE tickets (
    study  INTEGER NOT NULL REFERENCES studies (number),
    id     BLOB    NOT NULL CHECK (length(id) = 16),
    name   TEXT    NOT NULL DEFAULT '',
    state  TEXT    NOT NULL CHECK (state IN ('expected', 'answered', 'late')),
    other  INTEGER NOT NULL DEFAULT 0 CHECK (other IN (0, 1)),
    PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;
