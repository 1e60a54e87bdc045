-- Sets of questions by which projects are evaluated. A change of the questions makes a new
-- version; earlier ones stay.

-- +goose Up
CREATE TABLE test_sets (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    project TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL, -- the newest
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX test_sets_by_workspace ON test_sets (workspace, created_at, id);
CREATE TABLE test_set_versions (
    test_set TEXT COLLATE "C" NOT NULL REFERENCES test_sets (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL, -- of the items
    count BIGINT NOT NULL,
    items TEXT COLLATE "C" NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    PRIMARY KEY (test_set, version)
);

-- +goose Down
DROP TABLE test_set_versions;
DROP TABLE test_sets;
