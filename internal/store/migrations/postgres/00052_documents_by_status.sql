-- Pages ask every few seconds for the documents in work, which are few among many.

-- +goose Up
CREATE INDEX documents_pending ON documents (workspace, removed, created_at, id) WHERE status = 'pending';
CREATE INDEX documents_error ON documents (workspace, removed, created_at, id) WHERE status = 'error';

-- +goose Down
DROP INDEX documents_pending;
DROP INDEX documents_error;
