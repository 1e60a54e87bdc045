-- What readers of an answer say of it.

-- +goose Up
CREATE TABLE run_feedback (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    author TEXT NOT NULL, -- as the owner of a run
    workspace TEXT NOT NULL,
    rating TEXT NOT NULL, -- up or down
    comment TEXT NOT NULL,
    expected TEXT NOT NULL, -- the answer that the author would have wanted
    created_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, author)
);

-- +goose Down
DROP TABLE run_feedback;
