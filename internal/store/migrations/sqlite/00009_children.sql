-- The document that contained a document as an attachment, and its version that
-- contained it last.

-- +goose Up
ALTER TABLE documents ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN parent_version BIGINT NOT NULL DEFAULT 0;
CREATE INDEX documents_by_parent ON documents (parent) WHERE parent <> '';

-- +goose Down
DROP INDEX documents_by_parent;
ALTER TABLE documents DROP COLUMN parent_version;
ALTER TABLE documents DROP COLUMN parent;
