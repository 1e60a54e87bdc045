-- How many questions a minute a key may ask; 0 = the limit of the instance.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN queries_per_minute BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE api_keys DROP COLUMN queries_per_minute;
