-- The links by which conversations with agents are read. A link whose row is gone opens nothing.

-- +goose Up
CREATE TABLE conversation_shares (
    workspace TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation_id, id),
    FOREIGN KEY (workspace, conversation_id) REFERENCES conversations (workspace, id) ON DELETE CASCADE
) WITHOUT ROWID;

-- +goose Down
DROP TABLE conversation_shares;
