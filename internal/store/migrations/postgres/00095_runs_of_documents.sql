-- +goose Up
CREATE INDEX runs_by_subject ON runs (subject) WHERE subject <> '';

-- +goose Down
DROP INDEX runs_by_subject;
