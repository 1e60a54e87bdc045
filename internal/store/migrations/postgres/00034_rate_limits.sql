-- Limits per minute that several processes share. The time up to which the allowance of a
-- minute is used: what lies more than a minute ahead is refused.

-- +goose Up
CREATE TABLE rate_limits (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    used_until BIGINT NOT NULL
);
CREATE INDEX rate_limits_by_use ON rate_limits (used_until);

-- +goose Down
DROP TABLE rate_limits;
