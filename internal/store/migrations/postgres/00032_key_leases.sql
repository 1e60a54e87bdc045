-- The process that runs the request of a key now, and until when others believe that;
-- '' and 0 = none does.

-- +goose Up
ALTER TABLE idempotency_keys ADD COLUMN owner TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE idempotency_keys ADD COLUMN leased_until BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE idempotency_keys DROP COLUMN leased_until;
ALTER TABLE idempotency_keys DROP COLUMN owner;
