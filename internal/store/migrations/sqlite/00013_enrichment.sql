-- What a model finds out about a version, as JSON; '' = nothing.

-- +goose Up
ALTER TABLE document_versions ADD COLUMN enrichment TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE document_versions DROP COLUMN enrichment;
