-- Who may see results, and the error that the study aims at, as a part of the metric's range.
ALTER TABLE studies ADD COLUMN public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1));
ALTER TABLE studies ADD COLUMN aim TEXT;

-- The tally as it was when the number of answers passed powers of the square root of 2: a few rows, and no times.
CREATE TABLE looks (
    study  INTEGER NOT NULL REFERENCES studies (number),
    step   INTEGER NOT NULL,
    counts TEXT    NOT NULL,
    PRIMARY KEY (study, step)
) STRICT, WITHOUT ROWID;
