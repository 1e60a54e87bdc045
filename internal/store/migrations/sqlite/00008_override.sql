-- What a version overrides of its project's configuration, as JSON, and the password
-- of its file, sealed, until the version ends.

-- +goose Up
ALTER TABLE document_versions ADD COLUMN override TEXT NOT NULL DEFAULT '';
ALTER TABLE document_versions ADD COLUMN sealed_password TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE document_versions DROP COLUMN sealed_password;
ALTER TABLE document_versions DROP COLUMN override;
