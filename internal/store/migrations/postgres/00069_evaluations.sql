-- Evaluations: the questions of a test set, answered by a project and judged. The run of
-- an evaluation has its id.

-- +goose Up
CREATE TABLE evaluations (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    workspace TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    test_set TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL, -- of the test set
    request TEXT COLLATE "C" NOT NULL, -- JSON
    items BIGINT NOT NULL,
    paused BOOLEAN NOT NULL,
    report TEXT COLLATE "C" NOT NULL, -- JSON, '' = not measured yet
    created_at BIGINT NOT NULL
);
CREATE INDEX evaluations_by_workspace ON evaluations (workspace, created_at, id);
CREATE TABLE evaluation_items (
    evaluation TEXT COLLATE "C" NOT NULL REFERENCES evaluations (id) ON DELETE CASCADE,
    number BIGINT NOT NULL, -- 1 = first
    item_id TEXT COLLATE "C" NOT NULL, -- of the test set
    repeat BIGINT NOT NULL, -- 1 = first
    item TEXT COLLATE "C" NOT NULL, -- JSON
    state TEXT COLLATE "C" NOT NULL, -- waiting, answered, judged or failed
    run_id TEXT COLLATE "C" NOT NULL, -- that answered it, '' = not begun
    result TEXT COLLATE "C" NOT NULL, -- JSON, '' = not judged
    error TEXT COLLATE "C" NOT NULL, -- JSON, '' = none
    PRIMARY KEY (evaluation, number)
);
CREATE INDEX evaluation_items_by_item ON evaluation_items (evaluation, item_id);

-- +goose Down
DROP TABLE evaluation_items;
DROP TABLE evaluations;
