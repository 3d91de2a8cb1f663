-- Answers in 8 parts by the hash of their id: smaller indexes, and vacuums that take one part at a time.
-- The key is as before, since a partitioned table's key must hold what it is divided by.
ALTER TABLE answers RENAME TO answers_whole;

CREATE TABLE answers (
    study  integer NOT NULL,
    id     bytea   NOT NULL CHECK (length(id) = 16),
    symbol integer NOT NULL CHECK (symbol >= 0),
    PRIMARY KEY (study, id)
) PARTITION BY HASH (id);

DO $$
BEGIN
    FOR part IN 0..7 LOOP
        EXECUTE format(
            'CREATE TABLE answers_%s PARTITION OF answers FOR VALUES WITH (MODULUS 8, REMAINDER %s)', part, part
        );
    END LOOP;
END
$$;

INSERT INTO answers SELECT study, id, symbol FROM answers_whole;
DROP TABLE answers_whole;

-- Counts in slots: connections that counted in the same row would wait for each other's commits.
ALTER TABLE tallies ADD COLUMN slot smallint NOT NULL DEFAULT 0;
ALTER TABLE tallies DROP CONSTRAINT tallies_pkey;
ALTER TABLE tallies ADD PRIMARY KEY (study, symbol, slot);
ALTER TABLE arrivals ADD COLUMN slot smallint NOT NULL DEFAULT 0;
ALTER TABLE arrivals DROP CONSTRAINT arrivals_pkey;
ALTER TABLE arrivals ADD PRIMARY KEY (study, bucket, slot);
