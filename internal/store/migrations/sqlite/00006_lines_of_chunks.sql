-- The lines of the original file that hold a chunk; 0 = none are known.

-- +goose Up
ALTER TABLE chunks ADD COLUMN first_line INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN last_line INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE chunks DROP COLUMN last_line;
ALTER TABLE chunks DROP COLUMN first_line;
