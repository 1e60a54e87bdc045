-- What people say of an answer that a judge has scored.

-- +goose Up
CREATE TABLE evaluation_reviews (
    evaluation TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    author TEXT COLLATE "C" NOT NULL, -- as the owner of a run
    review TEXT COLLATE "C" NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    PRIMARY KEY (evaluation, number, author),
    FOREIGN KEY (evaluation, number) REFERENCES evaluation_items (evaluation, number) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE evaluation_reviews;
