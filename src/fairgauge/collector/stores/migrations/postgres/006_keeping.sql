-- Whose keys a store belongs to: SHA-256 fingerprints, never a key.
CREATE TABLE keys (
    purpose     text   NOT NULL,
    fingerprint text   NOT NULL CHECK (length(fingerprint) = 64),
    since       bigint NOT NULL,
    PRIMARY KEY (purpose, fingerprint)
);

-- The public key that signed a study (empty for studies of before), and when a sealed study's answers were dropped.
ALTER TABLE studies ADD COLUMN key text NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN dropped bigint;

-- Who did what: rows are added, and never changed or removed.
CREATE TABLE events (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bucket bigint NOT NULL,
    who    text   NOT NULL,
    did    text   NOT NULL,
    about  text   NOT NULL DEFAULT ''
);
CREATE FUNCTION events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the audit log is append-only'; END
$$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION events_stay();
CREATE TRIGGER events_stay_whole BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION events_stay();

-- Sessions that ended before their time: a digest of the cookie, until it would have ended by itself.
CREATE TABLE signed_out (
    session text   PRIMARY KEY,
    until   bigint NOT NULL
);

-- One row that is written to find out whether the store can commit.
CREATE TABLE pulse (one integer PRIMARY KEY CHECK (one = 1), beat bigint NOT NULL);
INSERT INTO pulse VALUES (1, 0);
