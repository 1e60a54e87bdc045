-- Where the answer of a run is sent, as JSON, and the sealed secret that signs it.

-- +goose Up
ALTER TABLE runs ADD COLUMN callback TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE projects ADD COLUMN callback_secret TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE projects DROP COLUMN callback_secret;
ALTER TABLE runs DROP COLUMN callback;
