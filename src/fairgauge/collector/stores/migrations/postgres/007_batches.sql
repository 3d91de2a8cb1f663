-- How many answers a batch of a study in the crowd has; NULL for other studies, whose counts are shown at once.
ALTER TABLE studies ADD COLUMN batch bigint CHECK (batch > 0);

-- How many answers such a study has taken, and the counts of batches that are not closed.
CREATE TABLE fills (
    study integer PRIMARY KEY,
    taken bigint  NOT NULL CHECK (taken >= 0)
);
CREATE TABLE waiting (
    study  integer NOT NULL,
    batch  bigint  NOT NULL,
    symbol integer NOT NULL,
    count  bigint  NOT NULL CHECK (count > 0),
    PRIMARY KEY (study, batch, symbol)
);
