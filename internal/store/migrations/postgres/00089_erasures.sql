-- The documents that the erasure of a person removes. An erasure deletes its rows at its end.

-- +goose Up
CREATE TABLE erasure_documents (
    run_id TEXT COLLATE "C" NOT NULL,
    document_id TEXT COLLATE "C" NOT NULL,
    workspace TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, document_id)
);

-- +goose Down
DROP TABLE erasure_documents;
