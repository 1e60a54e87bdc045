-- The segments of a spoken chunk: its characters, and the seconds in which they are said.

-- +goose Up
ALTER TABLE chunks ADD COLUMN speech TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE chunks DROP COLUMN speech;
