-- The words of conversations, by which their owners find them. Conversations of earlier
-- versions have none until their owner searches.

-- +goose Up
CREATE TABLE conversation_words (
    workspace       TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    words           TEXT NOT NULL, -- of the title and the messages, each once, folded, between spaces
    PRIMARY KEY (workspace, conversation_id),
    FOREIGN KEY (workspace, conversation_id) REFERENCES conversations (workspace, id) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE conversation_words;
