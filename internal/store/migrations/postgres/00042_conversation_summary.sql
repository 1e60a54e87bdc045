-- What a conversation was about up to the message at the position summarized.

-- +goose Up
ALTER TABLE conversations ADD COLUMN summary TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN summarized BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE conversations DROP COLUMN summarized;
ALTER TABLE conversations DROP COLUMN summary;
