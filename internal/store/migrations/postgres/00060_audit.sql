-- The audit trail. A row of audit_pending is written with the change that it reports, and gets
-- its place in the chain of its workspace later.

-- +goose Up
CREATE TABLE audit_pending (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL,
    entry TEXT COLLATE "C" NOT NULL, -- JSON
    waits BOOLEAN NOT NULL, -- the request has not ended
    created_at BIGINT NOT NULL
);
CREATE TABLE audit_entries (
    workspace TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    object TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    details TEXT COLLATE "C" NOT NULL, -- JSON
    previous TEXT COLLATE "C" NOT NULL, -- the hash of the entry before
    hash TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, seq)
);
CREATE INDEX audit_entries_by_time ON audit_entries (workspace, at);
CREATE TABLE audit_objects (
    workspace TEXT COLLATE "C" NOT NULL,
    object TEXT COLLATE "C" NOT NULL, -- what an entry names in object or details
    seq BIGINT NOT NULL,
    PRIMARY KEY (workspace, object, seq)
);
CREATE INDEX audit_objects_by_seq ON audit_objects (workspace, seq);
CREATE TABLE audit_chains (
    workspace TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL, -- of the newest entry
    hash TEXT COLLATE "C" NOT NULL
);
CREATE TABLE audit_checkpoints (
    workspace TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL, -- checkpoint or cut
    day TEXT COLLATE "C" NOT NULL, -- of a checkpoint, '' = a cut
    seq BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, kind, day)
);

-- +goose Down
DROP TABLE audit_checkpoints;
DROP TABLE audit_chains;
DROP TABLE audit_objects;
DROP TABLE audit_entries;
DROP TABLE audit_pending;
