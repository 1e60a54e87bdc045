-- The version whose failure a person has acknowledged; 0 = none.

-- +goose Up
ALTER TABLE documents ADD COLUMN acknowledged_version BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE documents DROP COLUMN acknowledged_version;
