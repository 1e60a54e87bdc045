-- What is attached to a conversation goes with it, and is found without a look
-- at every other document.

-- +goose Up
CREATE INDEX documents_by_conversation ON documents (workspace, conversation_id) WHERE conversation_id <> '';

-- +goose Down
DROP INDEX documents_by_conversation;
