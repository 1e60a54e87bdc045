-- Which version readers saw before another one was asked by nobody.

-- +goose Up
ALTER TABLE document_versions DROP COLUMN replaced;

-- +goose Down
ALTER TABLE document_versions ADD COLUMN replaced BIGINT NOT NULL DEFAULT 0;
