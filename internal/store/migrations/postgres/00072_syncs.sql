-- Places that are followed: connections to services, whose secrets are sealed with the
-- instance's key, and syncs, each of whose runs is an import. sync_listings has what the
-- complete listing of a run says.

-- +goose Up
CREATE TABLE connections (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    type TEXT COLLATE "C" NOT NULL,
    options TEXT COLLATE "C" NOT NULL, -- JSON
    sealed TEXT COLLATE "C" NOT NULL,
    waits_until BIGINT NOT NULL, -- the service asked for fewer requests until then, 0 = it did not
    created_at BIGINT NOT NULL
);
CREATE INDEX connections_by_workspace ON connections (workspace, created_at, id);
CREATE TABLE syncs (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    project TEXT COLLATE "C" NOT NULL,
    connection TEXT COLLATE "C" NOT NULL, -- of the same workspace
    owner TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL, -- JSON
    every_us BIGINT NOT NULL,
    paused BOOLEAN NOT NULL,
    scheduled BOOLEAN NOT NULL, -- its schedule is as the row says
    removed BOOLEAN NOT NULL, -- its schedule is to be deleted
    cursor TEXT COLLATE "C" NOT NULL,
    cursor_at BIGINT NOT NULL, -- when the listing began that led to the cursor
    cursor_import BIGINT NOT NULL, -- number of that import; the cursor never goes back
    last_import TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX syncs_by_workspace ON syncs (workspace, project, created_at, id);
CREATE INDEX syncs_by_connection ON syncs (connection);
CREATE TABLE sync_listings (
    import BIGINT NOT NULL PRIMARY KEY,
    full_listing BOOLEAN NOT NULL, -- what it did not list is gone
    cursor TEXT COLLATE "C" NOT NULL
);
ALTER TABLE import_objects ADD COLUMN hidden BOOLEAN NOT NULL DEFAULT FALSE; -- nobody in the workspace may see it

-- +goose Down
ALTER TABLE import_objects DROP COLUMN hidden;
DROP TABLE sync_listings;
DROP TABLE syncs;
DROP TABLE connections;
