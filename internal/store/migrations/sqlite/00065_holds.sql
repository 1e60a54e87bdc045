-- Legal holds by name, and the documents that are under each. The number of the holds on a
-- document that nobody has lifted stands with the document.

-- +goose Up
ALTER TABLE documents ADD COLUMN holds INTEGER NOT NULL DEFAULT 0;
CREATE TABLE holds (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    project TEXT NOT NULL, -- that its maker is held to, '' = every project
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    filter TEXT NOT NULL, -- JSON; '' = the documents were named
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    lifted_by TEXT NOT NULL,
    lifted_at INTEGER NOT NULL, -- 0 = it holds
    lift_reason TEXT NOT NULL
);
CREATE INDEX holds_by_creation ON holds (workspace, created_at, id);
CREATE TABLE hold_documents (
    hold TEXT NOT NULL REFERENCES holds (id),
    document_id TEXT NOT NULL REFERENCES documents (id),
    PRIMARY KEY (hold, document_id)
);
CREATE INDEX hold_documents_by_document ON hold_documents (document_id);

-- +goose Down
DROP TABLE hold_documents;
DROP TABLE holds;
ALTER TABLE documents DROP COLUMN holds;
