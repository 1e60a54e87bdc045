-- Roles that a workspace defines, and keys that have a role or single permissions in place of
-- scopes. A key has one of the three; the others are '' or an empty list.

-- +goose Up
CREATE TABLE roles (
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    name TEXT COLLATE "C" NOT NULL,
    permissions TEXT COLLATE "C" NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, name)
);
ALTER TABLE api_keys ADD COLUMN role TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN permissions TEXT COLLATE "C" NOT NULL DEFAULT '[]'; -- JSON
ALTER TABLE api_keys ADD COLUMN last_used_at BIGINT NOT NULL DEFAULT 0; -- to the minute

-- +goose Down
ALTER TABLE api_keys DROP COLUMN last_used_at;
ALTER TABLE api_keys DROP COLUMN permissions;
ALTER TABLE api_keys DROP COLUMN role;
DROP TABLE roles;
