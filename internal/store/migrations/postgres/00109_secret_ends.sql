-- When the secret of a connection expires, as its service tells it.

-- +goose Up
ALTER TABLE connections ADD COLUMN secret_ends BIGINT NOT NULL DEFAULT 0; -- 0 = it is not known
ALTER TABLE connections ADD COLUMN secret_asked_at BIGINT NOT NULL DEFAULT 0; -- when the service was asked, 0 = not yet

-- +goose Down
ALTER TABLE connections DROP COLUMN secret_asked_at;
ALTER TABLE connections DROP COLUMN secret_ends;
