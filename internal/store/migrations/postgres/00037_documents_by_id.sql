-- The pages of a reindex and of a rebuilt index follow the ids of a project's documents.

-- +goose Up
CREATE INDEX documents_by_id ON documents (workspace, project, id);

-- +goose Down
DROP INDEX documents_by_id;
