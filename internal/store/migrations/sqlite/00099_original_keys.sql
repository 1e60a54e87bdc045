-- The keys of originals of which personal data was redacted, sealed with the key of the instance.
-- Without its key an original is erased.

-- +goose Up
CREATE TABLE original_keys (
    original TEXT NOT NULL PRIMARY KEY, -- its blob key
    sealed TEXT NOT NULL
);

-- +goose Down
DROP TABLE original_keys;
