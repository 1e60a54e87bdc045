-- The steps of imports that wait until their provider takes requests again.

-- +goose Up
CREATE TABLE import_waits (
    import  BIGINT NOT NULL REFERENCES imports (number),
    page    BIGINT NOT NULL, -- whose workflow waits
    step    TEXT COLLATE "C" NOT NULL, -- of the page
    objects BIGINT NOT NULL, -- without an outcome
    since   BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    code    TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (import, page, step)
);

-- +goose Down
DROP TABLE import_waits;
