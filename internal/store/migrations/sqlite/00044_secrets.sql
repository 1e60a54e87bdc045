-- Named secrets that were stored by the API, sealed with the instance's key. One of a
-- project is found before one of its workspace, whose project is ''. uses and hosts are
-- JSON.

-- +goose Up
CREATE TABLE secrets (
    workspace  TEXT   NOT NULL REFERENCES workspaces (id),
    project    TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    uses       TEXT   NOT NULL,
    hosts      TEXT   NOT NULL,
    sealed     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, project, name)
);

-- +goose Down
DROP TABLE secrets;
