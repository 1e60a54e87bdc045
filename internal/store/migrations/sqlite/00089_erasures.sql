-- The documents that the erasure of a person removes. An erasure deletes its rows at its end.

-- +goose Up
CREATE TABLE erasure_documents (
    run_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    PRIMARY KEY (run_id, document_id)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE erasure_documents;
