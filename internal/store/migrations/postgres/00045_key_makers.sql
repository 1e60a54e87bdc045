-- Who made a key: the id of a key, or user: and the sub of a JWT; '' = not known.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN created_by TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX api_keys_created_by ON api_keys (created_by);

-- +goose Down
DROP INDEX api_keys_created_by;
ALTER TABLE api_keys DROP COLUMN created_by;
