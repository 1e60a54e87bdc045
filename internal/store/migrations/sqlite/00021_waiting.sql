-- Why a step of a document waits for its next try, and until when, as JSON; '' = none
-- waits.

-- +goose Up
ALTER TABLE documents ADD COLUMN waiting TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE documents DROP COLUMN waiting;
