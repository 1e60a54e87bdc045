-- Finds the chunks that make up a parent. Chunks without one are not in the index.

-- +goose Up
CREATE INDEX chunks_by_parent ON chunks (document_id, version, parent_start) WHERE parent_end > 0;

-- +goose Down
DROP INDEX chunks_by_parent;
