-- Sites that hold many people: one row for each ticket that was given to one, or that one used. The counts are a JSON
-- array, and NULL before the site has answered and after the answers were dropped.
CREATE TABLE sites (
    study  INTEGER NOT NULL REFERENCES studies (number),
    id     BLOB    NOT NULL CHECK (length(id) = 16),
    name   TEXT    NOT NULL DEFAULT '',
    state  TEXT    NOT NULL CHECK (state IN ('expected', 'answered', 'late')),
    other  INTEGER NOT NULL DEFAULT 0 CHECK (other IN (0, 1)),
    counts TEXT,
    PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;
