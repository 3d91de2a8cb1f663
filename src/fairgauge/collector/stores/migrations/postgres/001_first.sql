-- What the columns are is said in the SQLite store's file of this name; below is what is different here.
CREATE TABLE studies (
    number    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest    text    NOT NULL UNIQUE CHECK (length(digest) = 64),
    document  bytea   NOT NULL,
    admission text    NOT NULL CHECK (admission IN ('open', 'tickets')),
    signature text    NOT NULL,
    published bigint  NOT NULL,
    closes    bigint,
    closed    bigint,
    seal      bytea,
    title     text    NOT NULL DEFAULT '',
    public    boolean NOT NULL DEFAULT false,
    aim       text,
    opens     bigint,
    hourly    bigint,
    key       text    NOT NULL DEFAULT '',
    dropped   bigint,
    batch     bigint  CHECK (batch > 0),
    at_end    boolean NOT NULL DEFAULT false
);

-- Answers in 8 parts by the hash of their id: smaller indexes, and vacuums that take one part at a time.
CREATE TABLE answers (
    study  integer NOT NULL,
    id     bytea   NOT NULL CHECK (length(id) = 16),
    payload text   NOT NULL,
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
-- The server's statistics are samples of what columns hold, and keep it when it is removed.
ALTER TABLE answers ALTER COLUMN id SET STATISTICS 0, ALTER COLUMN payload SET STATISTICS 0;

-- Counts in slots: connections that counted in the same row would wait for each other's commits.
CREATE TABLE tallies (
    study  integer  NOT NULL,
    place  integer  NOT NULL,
    count  bigint   NOT NULL,
    slot   smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (study, place, slot)
);
CREATE TABLE arrivals (
    study  integer  NOT NULL,
    bucket bigint   NOT NULL,
    count  bigint   NOT NULL CHECK (count > 0),
    slot   smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (study, bucket, slot)
);

CREATE TABLE looks (
    study  integer NOT NULL,
    step   integer NOT NULL,
    counts text    NOT NULL,
    PRIMARY KEY (study, step)
);

CREATE TABLE keys (
    purpose     text   NOT NULL,
    fingerprint text   NOT NULL CHECK (length(fingerprint) = 64),
    since       bigint NOT NULL,
    PRIMARY KEY (purpose, fingerprint)
);

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

CREATE TABLE signed_out (
    session text   PRIMARY KEY,
    until   bigint NOT NULL
);

CREATE TABLE pulse (one integer PRIMARY KEY CHECK (one = 1), beat bigint NOT NULL);
INSERT INTO pulse VALUES (1, 0);

CREATE TABLE fills (
    study integer PRIMARY KEY,
    taken bigint  NOT NULL CHECK (taken >= 0)
);
CREATE TABLE waiting (
    study  integer NOT NULL,
    batch  bigint  NOT NULL,
    place  integer NOT NULL,
    count  bigint  NOT NULL,
    PRIMARY KEY (study, batch, place)
);
ALTER TABLE waiting ALTER COLUMN count SET STATISTICS 0;

CREATE TABLE tickets (
    study  integer NOT NULL,
    id     bytea   NOT NULL CHECK (length(id) = 16),
    name   text    NOT NULL DEFAULT '',
    state  text    NOT NULL CHECK (state IN ('expected', 'answered', 'late')),
    other  boolean NOT NULL DEFAULT false,
    PRIMARY KEY (study, id)
);
ALTER TABLE tickets ALTER COLUMN id SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0;
