-- How many answers a batch of a study in the crowd has; NULL for other studies, whose counts are shown at once.
ALTER TABLE studies ADD COLUMN batch INTEGER CHECK (batch > 0);

-- How many answers such a study has taken, and the counts of batches that are not closed.
CREATE TABLE fills (
    study INTEGER PRIMARY KEY REFERENCES studies (number),
    taken INTEGER NOT NULL CHECK (taken >= 0)
) STRICT;
CREATE TABLE waiting (
    study  INTEGER NOT NULL REFERENCES studies (number),
    batch  INTEGER NOT NULL,
    symbol INTEGER NOT NULL,
    count  INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (study, batch, symbol)
) STRICT, WITHOUT ROWID;
