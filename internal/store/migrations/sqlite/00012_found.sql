-- Which metadata keys and tags were found in the file or by a model, as JSON. The next
-- version does not inherit them.

-- +goose Up
ALTER TABLE documents ADD COLUMN found TEXT NOT NULL DEFAULT '';
ALTER TABLE document_versions ADD COLUMN found TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE document_versions DROP COLUMN found;
ALTER TABLE documents DROP COLUMN found;
