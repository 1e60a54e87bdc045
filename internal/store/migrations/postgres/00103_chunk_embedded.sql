-- The text that a step of the project embeds and searches in place of a chunk's; '' = its own.

-- +goose Up
ALTER TABLE chunks ADD COLUMN embedded TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE chunks DROP COLUMN embedded;
