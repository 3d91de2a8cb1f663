-- Answers have no row id and are sorted by their random id. Where a row lies on its page still tells who came first;
-- answers of a study in the crowd are written anew when it is sealed.
CREATE TABLE studies (
    number    INTEGER PRIMARY KEY,
    digest    TEXT    NOT NULL UNIQUE CHECK (length(digest) = 64),
    document  BLOB    NOT NULL,
    admission TEXT    NOT NULL CHECK (admission IN ('open', 'tickets')),
    signature TEXT    NOT NULL,
    published INTEGER NOT NULL,
    closes    INTEGER,
    closed    INTEGER,
    seal      BLOB
) STRICT;

CREATE TABLE answers (
    study  INTEGER NOT NULL REFERENCES studies (number),
    id     BLOB    NOT NULL CHECK (length(id) = 16),
    symbol INTEGER NOT NULL CHECK (symbol >= 0),
    PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tallies (
    study  INTEGER NOT NULL REFERENCES studies (number),
    symbol INTEGER NOT NULL,
    count  INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (study, symbol)
) STRICT, WITHOUT ROWID;

CREATE TABLE arrivals (
    study  INTEGER NOT NULL REFERENCES studies (number),
    bucket INTEGER NOT NULL,
    count  INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (study, bucket)
) STRICT, WITHOUT ROWID;
