-- Experiments: evaluations whose items are asked with several configurations.

-- +goose Up
ALTER TABLE evaluation_items ADD COLUMN cell BIGINT NOT NULL DEFAULT 1; -- the configuration, 1 = first

-- +goose Down
ALTER TABLE evaluation_items DROP COLUMN cell;
