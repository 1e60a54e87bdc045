-- Members of workspaces: people, who sign in with a JWT, and service accounts, which have keys.
-- Sessions get an id that may be shown, and their beginning.

-- +goose Up
CREATE TABLE members (
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    name TEXT COLLATE "C" NOT NULL, -- the sub of a JWT, or of a service account
    kind TEXT COLLATE "C" NOT NULL, -- person or service
    roles TEXT COLLATE "C" NOT NULL, -- JSON
    project TEXT COLLATE "C" NOT NULL, -- '' = every project
    group_names TEXT COLLATE "C" NOT NULL, -- JSON
    clearance TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, name)
);
ALTER TABLE api_keys ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT ''; -- the service account, '' = none
CREATE INDEX api_keys_by_member ON api_keys (workspace, member);
ALTER TABLE sessions ADD COLUMN id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN created_at BIGINT NOT NULL DEFAULT 0; -- 0 = not recorded
UPDATE sessions SET id = SUBSTR(hash, 1, 16) || '-' || SUBSTR(key_id, 1, 8);

-- +goose Down
ALTER TABLE sessions DROP COLUMN created_at;
ALTER TABLE sessions DROP COLUMN id;
DROP INDEX api_keys_by_member;
ALTER TABLE api_keys DROP COLUMN member;
DROP TABLE members;
