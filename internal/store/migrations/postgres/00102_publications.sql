-- Projects that are published as agents, each at an address of its own.

-- +goose Up
CREATE TABLE publications (
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    project TEXT COLLATE "C" NOT NULL,
    slug TEXT COLLATE "C" NOT NULL UNIQUE,
    settings TEXT COLLATE "C" NOT NULL, -- JSON
    sealed TEXT COLLATE "C" NOT NULL, -- the secret that signs the tokens of users
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, project)
);

-- +goose Down
DROP TABLE publications;
