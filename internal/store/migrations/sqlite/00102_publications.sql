-- Projects that are published as agents, each at an address of its own.

-- +goose Up
CREATE TABLE publications (
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    project TEXT NOT NULL,
    slug TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL, -- JSON
    sealed TEXT NOT NULL, -- the secret that signs the tokens of users
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, project)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE publications;
