-- Sessions of people who signed in with an identity provider, beside those of keys, and the
-- sign-ins that browsers have begun.

-- +goose Up
DROP INDEX sessions_by_end;
ALTER TABLE sessions RENAME TO former_sessions;
CREATE TABLE sessions (
    hash TEXT NOT NULL PRIMARY KEY,
    key_id TEXT NOT NULL, -- '' = of a person
    expires_at INTEGER NOT NULL,
    id TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL DEFAULT 0, -- 0 = not recorded
    workspace TEXT NOT NULL DEFAULT '', -- of the person
    member TEXT NOT NULL DEFAULT '', -- the name of the person
    person TEXT NOT NULL DEFAULT '' -- JSON: what the identity provider said
);
INSERT INTO sessions (hash, key_id, expires_at, id, created_at) SELECT hash, key_id, expires_at, id, created_at FROM former_sessions;
DROP TABLE former_sessions;
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE INDEX sessions_by_member ON sessions (workspace, member);
CREATE TABLE sign_ins (
    hash TEXT NOT NULL PRIMARY KEY, -- of the state
    data TEXT NOT NULL, -- JSON
    expires_at INTEGER NOT NULL
);

-- +goose Down
DROP TABLE sign_ins;
DROP INDEX sessions_by_member;
DROP INDEX sessions_by_end;
ALTER TABLE sessions RENAME TO former_sessions;
CREATE TABLE sessions (
    hash TEXT NOT NULL PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL,
    id TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL DEFAULT 0
);
INSERT INTO sessions (hash, key_id, expires_at, id, created_at) SELECT hash, key_id, expires_at, id, created_at FROM former_sessions WHERE key_id <> '';
DROP TABLE former_sessions;
CREATE INDEX sessions_by_end ON sessions (expires_at);
