-- The steps of imports that wait until their provider takes requests again.

-- +goose Up
CREATE TABLE import_waits (
    import  BIGINT NOT NULL REFERENCES imports (number),
    page    BIGINT NOT NULL, -- whose workflow waits
    step    TEXT   NOT NULL, -- of the page
    objects BIGINT NOT NULL, -- without an outcome
    since   BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    code    TEXT   NOT NULL,
    message TEXT   NOT NULL,
    PRIMARY KEY (import, page, step)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE import_waits;
