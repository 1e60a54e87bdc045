-- The order in which a retention deletes runs of questions and conversations. Those that are due stand
-- first, however many are kept.

-- +goose Up
CREATE INDEX runs_due ON runs (workspace, project, ended_at, id) WHERE ended_at > 0 AND kind IN ('query', 'tool', 'research');
CREATE INDEX conversations_due ON conversations (workspace, project, updated_at, id);

-- +goose Down
DROP INDEX conversations_due;
DROP INDEX runs_due;
