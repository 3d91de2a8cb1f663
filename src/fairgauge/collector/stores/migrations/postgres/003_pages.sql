-- Who may see results, and the error that the study aims at, as a part of the metric's range.
ALTER TABLE studies ADD COLUMN public boolean NOT NULL DEFAULT false;
ALTER TABLE studies ADD COLUMN aim text;

-- The tally as it was when the number of answers passed powers of the square root of 2: a few rows, and no times.
CREATE TABLE looks (
    study  integer NOT NULL,
    step   integer NOT NULL,
    counts text    NOT NULL,
    PRIMARY KEY (study, step)
);
