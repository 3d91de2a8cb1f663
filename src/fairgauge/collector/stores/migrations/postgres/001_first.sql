CREATE TABLE studies (
    number    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest    text    NOT NULL UNIQUE CHECK (length(digest) = 64),
    document  bytea   NOT NULL,
    admission text    NOT NULL CHECK (admission IN ('open', 'tickets')),
    signature text    NOT NULL,
    published bigint  NOT NULL,
    closes    bigint,
    closed    bigint,
    seal      bytea
);

CREATE TABLE answers (
    study  integer NOT NULL,
    id     bytea   NOT NULL CHECK (length(id) = 16),
    symbol integer NOT NULL CHECK (symbol >= 0),
    PRIMARY KEY (study, id)
);

CREATE TABLE tallies (
    study  integer NOT NULL,
    symbol integer NOT NULL,
    count  bigint  NOT NULL CHECK (count > 0),
    PRIMARY KEY (study, symbol)
);

CREATE TABLE arrivals (
    study  integer NOT NULL,
    bucket bigint  NOT NULL,
    count  bigint  NOT NULL CHECK (count > 0),
    PRIMARY KEY (study, bucket)
);
