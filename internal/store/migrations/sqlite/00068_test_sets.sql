-- Sets of questions by which projects are evaluated. A change of the questions makes a new
-- version; earlier ones stay.

-- +goose Up
CREATE TABLE test_sets (
    id TEXT NOT NULL PRIMARY KEY,
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    owner TEXT NOT NULL,
    version INTEGER NOT NULL, -- the newest
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX test_sets_by_workspace ON test_sets (workspace, created_at, id);
CREATE TABLE test_set_versions (
    test_set TEXT NOT NULL REFERENCES test_sets (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL, -- of the items
    count INTEGER NOT NULL,
    items TEXT NOT NULL, -- JSON
    created_at INTEGER NOT NULL,
    PRIMARY KEY (test_set, version)
);

-- +goose Down
DROP TABLE test_set_versions;
DROP TABLE test_sets;
