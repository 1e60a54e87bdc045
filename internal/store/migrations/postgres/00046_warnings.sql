-- What was read with doubt: a JSON list of warnings; '' = nothing.

-- +goose Up
ALTER TABLE documents ADD COLUMN warnings TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE document_versions ADD COLUMN warnings TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE documents DROP COLUMN warnings;
ALTER TABLE document_versions DROP COLUMN warnings;
