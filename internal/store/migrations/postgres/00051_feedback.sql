-- What readers of an answer say of it.

-- +goose Up
CREATE TABLE run_feedback (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    author TEXT COLLATE "C" NOT NULL, -- as the owner of a run
    workspace TEXT COLLATE "C" NOT NULL,
    rating TEXT COLLATE "C" NOT NULL, -- up or down
    comment TEXT COLLATE "C" NOT NULL,
    expected TEXT COLLATE "C" NOT NULL, -- the answer that the author would have wanted
    created_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, author)
);

-- +goose Down
DROP TABLE run_feedback;
