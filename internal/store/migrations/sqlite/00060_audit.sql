-- The audit trail. A row of audit_pending is written with the change that it reports, and gets
-- its place in the chain of its workspace later.

-- +goose Up
CREATE TABLE audit_pending (
    id TEXT NOT NULL PRIMARY KEY,
    workspace TEXT NOT NULL,
    entry TEXT NOT NULL, -- JSON
    waits BOOLEAN NOT NULL, -- the request has not ended
    created_at INTEGER NOT NULL
);
CREATE TABLE audit_entries (
    workspace TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    outcome TEXT NOT NULL,
    request_id TEXT NOT NULL,
    address TEXT NOT NULL,
    details TEXT NOT NULL, -- JSON
    previous TEXT NOT NULL, -- the hash of the entry before
    hash TEXT NOT NULL,
    PRIMARY KEY (workspace, seq)
);
CREATE INDEX audit_entries_by_time ON audit_entries (workspace, at);
CREATE TABLE audit_objects (
    workspace TEXT NOT NULL,
    object TEXT NOT NULL, -- what an entry names in object or details
    seq INTEGER NOT NULL,
    PRIMARY KEY (workspace, object, seq)
);
CREATE INDEX audit_objects_by_seq ON audit_objects (workspace, seq);
CREATE TABLE audit_chains (
    workspace TEXT NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL, -- of the newest entry
    hash TEXT NOT NULL
);
CREATE TABLE audit_checkpoints (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL, -- checkpoint or cut
    day TEXT NOT NULL, -- of a checkpoint, '' = a cut
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, day)
);

-- +goose Down
DROP TABLE audit_checkpoints;
DROP TABLE audit_chains;
DROP TABLE audit_objects;
DROP TABLE audit_entries;
DROP TABLE audit_pending;
