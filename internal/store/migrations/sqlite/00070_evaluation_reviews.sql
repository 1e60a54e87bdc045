-- What people say of an answer that a judge has scored.

-- +goose Up
CREATE TABLE evaluation_reviews (
    evaluation TEXT NOT NULL,
    number INTEGER NOT NULL,
    author TEXT NOT NULL, -- as the owner of a run
    review TEXT NOT NULL, -- JSON
    created_at INTEGER NOT NULL,
    PRIMARY KEY (evaluation, number, author),
    FOREIGN KEY (evaluation, number) REFERENCES evaluation_items (evaluation, number) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE evaluation_reviews;
