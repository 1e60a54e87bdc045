-- Sessions of browsers: the hash of the cookie, and the API key that signed in.

-- +goose Up
CREATE TABLE sessions (
    hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- +goose Down
DROP TABLE sessions;
