-- Roles that a workspace defines, and keys that have a role or single permissions in place of
-- scopes. A key has one of the three; the others are '' or an empty list.

-- +goose Up
CREATE TABLE roles (
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    name TEXT NOT NULL,
    permissions TEXT NOT NULL, -- JSON
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, name)
);
ALTER TABLE api_keys ADD COLUMN role TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN permissions TEXT NOT NULL DEFAULT '[]'; -- JSON
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0; -- to the minute

-- +goose Down
ALTER TABLE api_keys DROP COLUMN last_used_at;
ALTER TABLE api_keys DROP COLUMN permissions;
ALTER TABLE api_keys DROP COLUMN role;
DROP TABLE roles;
