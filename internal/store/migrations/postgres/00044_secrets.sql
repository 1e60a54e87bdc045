-- Named secrets that were stored by the API, sealed with the instance's key. One of a
-- project is found before one of its workspace, whose project is ''. uses and hosts are
-- JSON.

-- +goose Up
CREATE TABLE secrets (
    workspace  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    project    TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    uses       TEXT COLLATE "C" NOT NULL,
    hosts      TEXT COLLATE "C" NOT NULL,
    sealed     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, project, name)
);

-- +goose Down
DROP TABLE secrets;
