-- The data keys that encrypt blobs and the payloads of workflows, wrapped by the master key,
-- and how far the blobs are encrypted with the newest one.

-- +goose Up
CREATE TABLE data_keys (
    id TEXT NOT NULL PRIMARY KEY,
    wrapped TEXT NOT NULL,
    master TEXT NOT NULL, -- the name of the master key
    created_at INTEGER NOT NULL
);
CREATE TABLE reseals (
    id INTEGER NOT NULL PRIMARY KEY, -- 1
    data_key TEXT NOT NULL,
    seen INTEGER NOT NULL,
    sealed INTEGER NOT NULL,
    upto TEXT NOT NULL, -- the last key of a bucket that was done
    began_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL -- 0 = it has not ended
);

-- +goose Down
DROP TABLE reseals;
DROP TABLE data_keys;
