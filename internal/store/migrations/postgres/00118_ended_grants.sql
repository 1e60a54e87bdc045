-- Whether the audit has the end of a grant, which the workflow EndGrants writes.

-- +goose Up
ALTER TABLE grants ADD COLUMN ended BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX grants_ending ON grants (workspace, expires_at, id) WHERE expires_at > 0 AND ended = FALSE;

-- +goose Down
DROP INDEX grants_ending;
ALTER TABLE grants DROP COLUMN ended;
