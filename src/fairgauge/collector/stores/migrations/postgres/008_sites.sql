-- Sites that hold many people: one row for each ticket that was given to one, or that one used. The counts are a JSON
-- array, and NULL before the site has answered and after the answers were dropped.
CREATE TABLE sites (
    study  integer NOT NULL,
    id     bytea   NOT NULL CHECK (length(id) = 16),
    name   text    NOT NULL DEFAULT '',
    state  text    NOT NULL CHECK (state IN ('expected', 'answered', 'late')),
    other  boolean NOT NULL DEFAULT false,
    counts text,
    PRIMARY KEY (study, id)
);
