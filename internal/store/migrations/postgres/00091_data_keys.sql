-- The data keys that encrypt blobs and the payloads of workflows, wrapped by the master key,
-- and how far the blobs are encrypted with the newest one.

-- +goose Up
CREATE TABLE data_keys (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    wrapped TEXT COLLATE "C" NOT NULL,
    master TEXT COLLATE "C" NOT NULL, -- the name of the master key
    created_at BIGINT NOT NULL
);
CREATE TABLE reseals (
    id BIGINT NOT NULL PRIMARY KEY, -- 1
    data_key TEXT COLLATE "C" NOT NULL,
    seen BIGINT NOT NULL,
    sealed BIGINT NOT NULL,
    upto TEXT COLLATE "C" NOT NULL, -- the last key of a bucket that was done
    began_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL -- 0 = it has not ended
);

-- +goose Down
DROP TABLE reseals;
DROP TABLE data_keys;
