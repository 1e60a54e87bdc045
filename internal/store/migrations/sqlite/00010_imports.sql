-- Bulk imports. A source is listed page by page, and has one import at a time.
-- import_objects has one row for each object that was ever listed, with its
-- outcome in the import that listed it last. The counters of an import change in
-- the same transaction as these rows.

-- +goose Up
CREATE TABLE import_sources (
    id        INTEGER NOT NULL PRIMARY KEY,
    workspace TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    UNIQUE (workspace, project, name)
);

CREATE TABLE imports (
    number     INTEGER NOT NULL PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    workspace  TEXT    NOT NULL,
    project    TEXT    NOT NULL,
    source_id  BIGINT  NOT NULL REFERENCES import_sources (id),
    run_id     TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    request    TEXT    NOT NULL,
    splitter   TEXT    NOT NULL,
    listed     BOOLEAN NOT NULL,
    discovered BIGINT  NOT NULL,
    published  BIGINT  NOT NULL,
    skipped    BIGINT  NOT NULL,
    failed     BIGINT  NOT NULL,
    vanished   BIGINT  NOT NULL,
    deleted    BIGINT  NOT NULL,
    bytes      BIGINT  NOT NULL,
    active     BIGINT  NOT NULL, -- microseconds of work
    error      TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    ended_at   BIGINT  NOT NULL
);
CREATE INDEX imports_by_workspace ON imports (workspace, created_at, id);
CREATE INDEX imports_by_run ON imports (run_id);
CREATE UNIQUE INDEX imports_open ON imports (source_id) WHERE status IN ('running', 'paused');

-- etag, fingerprint and version are those that were published last. page is of
-- the import that listed the object last.
CREATE TABLE import_objects (
    source_id   BIGINT NOT NULL REFERENCES import_sources (id),
    key         TEXT   NOT NULL,
    document_id TEXT   NOT NULL,
    import      BIGINT NOT NULL,
    page        BIGINT NOT NULL,
    outcome     TEXT   NOT NULL,
    etag        TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    version     BIGINT NOT NULL,
    PRIMARY KEY (source_id, key)
) WITHOUT ROWID;
CREATE INDEX import_objects_retrying ON import_objects (import, key) WHERE outcome = 'retrying';

CREATE TABLE import_pages (
    import  BIGINT  NOT NULL REFERENCES imports (number),
    page    BIGINT  NOT NULL,
    next    TEXT    NOT NULL, -- token of the page after, '' = none
    objects BIGINT  NOT NULL, -- in the manifest
    todo    BIGINT  NOT NULL, -- of them, to be imported
    known   BIGINT  NOT NULL, -- of them, listed by an import before
    PRIMARY KEY (import, page)
) WITHOUT ROWID;

-- An object's tags and metadata in an object beside it.
CREATE TABLE import_sidecars (
    source_id BIGINT NOT NULL REFERENCES import_sources (id),
    key       TEXT   NOT NULL, -- of the object that it describes
    import    BIGINT NOT NULL,
    etag      TEXT   NOT NULL,
    object    TEXT   NOT NULL,
    PRIMARY KEY (source_id, key)
) WITHOUT ROWID;

CREATE TABLE import_failures (
    import      BIGINT NOT NULL REFERENCES imports (number),
    key         TEXT   NOT NULL,
    document_id TEXT   NOT NULL,
    version     BIGINT NOT NULL, -- with this error, 0 = none
    etag        TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    object      TEXT   NOT NULL, -- for its source
    error       TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (import, key)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE import_failures;
DROP TABLE import_sidecars;
DROP TABLE import_pages;
DROP TABLE import_objects;
DROP TABLE imports;
DROP TABLE import_sources;
