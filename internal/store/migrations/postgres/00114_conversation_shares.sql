-- The links by which conversations with agents are read. A link whose row is gone opens nothing.

-- +goose Up
CREATE TABLE conversation_shares (
    workspace TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, conversation_id, id),
    FOREIGN KEY (workspace, conversation_id) REFERENCES conversations (workspace, id) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE conversation_shares;
