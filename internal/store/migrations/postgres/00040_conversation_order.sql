-- The run that a question of a conversation waits for, '' = none.

-- +goose Up
ALTER TABLE runs ADD COLUMN after_run TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX runs_by_conversation_running ON runs (conversation_id) WHERE status = 'running' AND conversation_id <> '';

-- +goose Down
DROP INDEX runs_by_conversation_running;
ALTER TABLE runs DROP COLUMN after_run;
