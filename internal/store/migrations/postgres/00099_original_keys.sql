-- The keys of originals of which personal data was redacted, sealed with the key of the instance.
-- Without its key an original is erased.

-- +goose Up
CREATE TABLE original_keys (
    original TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- its blob key
    sealed TEXT COLLATE "C" NOT NULL
);

-- +goose Down
DROP TABLE original_keys;
