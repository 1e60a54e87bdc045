-- The reindex that started the run of a version, how far a reindex is, as JSON, and
-- whether the upload of a version brought a password, which is not kept.

-- +goose Up
ALTER TABLE runs ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN progress TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_by_parent ON runs (parent, status) WHERE parent <> '';
ALTER TABLE document_versions ADD COLUMN had_password BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE document_versions DROP COLUMN had_password;
DROP INDEX runs_by_parent;
ALTER TABLE runs DROP COLUMN progress;
ALTER TABLE runs DROP COLUMN parent;
