-- Whether answers may still quote a document that an erasure removes. Its removal waits for that.

-- +goose Up
ALTER TABLE erasure_documents ADD COLUMN quoted BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX erasure_documents_quoted ON erasure_documents (document_id) WHERE quoted = TRUE;

-- +goose Down
DROP INDEX erasure_documents_quoted;
ALTER TABLE erasure_documents DROP COLUMN quoted;
