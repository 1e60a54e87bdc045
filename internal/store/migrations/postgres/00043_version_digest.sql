-- A hash of what was uploaded for a version: the bytes of the original, its transcript
-- and its kind. '' = not known.

-- +goose Up
ALTER TABLE document_versions ADD COLUMN digest TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE document_versions DROP COLUMN digest;
