-- Evaluations: the questions of a test set, answered by a project and judged. The run of
-- an evaluation has its id.

-- +goose Up
CREATE TABLE evaluations (
    id TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    owner TEXT NOT NULL,
    test_set TEXT NOT NULL,
    version INTEGER NOT NULL, -- of the test set
    request TEXT NOT NULL, -- JSON
    items INTEGER NOT NULL,
    paused BOOLEAN NOT NULL,
    report TEXT NOT NULL, -- JSON, '' = not measured yet
    created_at INTEGER NOT NULL
);
CREATE INDEX evaluations_by_workspace ON evaluations (workspace, created_at, id);
CREATE TABLE evaluation_items (
    evaluation TEXT NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- 1 = first
    item_id TEXT NOT NULL, -- of the test set
    repeat INTEGER NOT NULL, -- 1 = first
    item TEXT NOT NULL, -- JSON
    state TEXT NOT NULL, -- waiting, answered, judged or failed
    run_id TEXT NOT NULL, -- that answered it, '' = not begun
    result TEXT NOT NULL, -- JSON, '' = not judged
    error TEXT NOT NULL, -- JSON, '' = none
    PRIMARY KEY (evaluation, number)
);
CREATE INDEX evaluation_items_by_item ON evaluation_items (evaluation, item_id);

-- +goose Down
DROP TABLE evaluation_items;
DROP TABLE evaluations;
