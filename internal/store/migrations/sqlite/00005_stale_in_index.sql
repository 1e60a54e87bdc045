-- When a document was changed in a way that its entries in the index have not
-- followed yet, in microseconds; 0 = they have.

-- +goose Up
ALTER TABLE documents ADD COLUMN stale_in_index INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_stale_in_index ON documents (stale_in_index) WHERE stale_in_index > 0;

-- +goose Down
DROP INDEX documents_stale_in_index;
ALTER TABLE documents DROP COLUMN stale_in_index;
