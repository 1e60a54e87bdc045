-- Originals whose bytes are being stored, and that no version names yet. If the lease of
-- the process that stores them ends, they are deleted.

-- +goose Up
CREATE TABLE uploads (
    source_key   TEXT   NOT NULL PRIMARY KEY,
    document_id  TEXT   NOT NULL,
    owner        TEXT   NOT NULL,
    leased_until BIGINT NOT NULL
);
CREATE INDEX uploads_by_lease ON uploads (leased_until);

-- +goose Down
DROP TABLE uploads;
