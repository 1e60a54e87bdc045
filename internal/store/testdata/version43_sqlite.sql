-- A database of the first version that can be upgraded: the tables at migration 43, with a few rows.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(7,6,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(8,7,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(9,8,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(10,9,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(11,10,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(12,12,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(13,13,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(14,20,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(15,21,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(16,25,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(17,30,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(18,31,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(19,32,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(20,33,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(21,34,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(22,35,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(23,36,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(24,37,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(25,38,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(26,39,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(27,40,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(28,41,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(29,42,1,'2026-11-24 12:00:00');
INSERT INTO goose_db_version VALUES(30,43,1,'2026-11-24 12:00:00');
CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO settings VALUES('opened','once');
CREATE TABLE workspaces (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
INSERT INTO workspaces VALUES('acme','Acme',1772600767000000);
CREATE TABLE projects (
    workspace  TEXT   NOT NULL REFERENCES workspaces (id),
    id         TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    config     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, webhooks TEXT NOT NULL DEFAULT '', generation TEXT NOT NULL DEFAULT '', filling TEXT NOT NULL DEFAULT '', callback_secret TEXT NOT NULL DEFAULT '', removing_run TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, id)
);
INSERT INTO projects VALUES('acme','handbook','Handbook','{}',1772600767000000,1772600767000000,'','model/3','','','');
CREATE TABLE api_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    workspace  TEXT    NOT NULL REFERENCES workspaces (id),
    project    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    hash       TEXT    NOT NULL UNIQUE,
    prefix     TEXT    NOT NULL,
    scopes     TEXT    NOT NULL,
    instance   BOOLEAN NOT NULL,
    expires_at BIGINT  NOT NULL,
    created_at BIGINT  NOT NULL,
    revoked_at BIGINT  NOT NULL
, queries_per_minute BIGINT NOT NULL DEFAULT 0);
INSERT INTO api_keys VALUES('key','acme','','ci','hash','pre','["read","write"]',0,0,1772600767000000,0,0);
CREATE TABLE documents (
    id                TEXT    NOT NULL PRIMARY KEY,
    workspace         TEXT    NOT NULL,
    project           TEXT    NOT NULL,
    external_id       TEXT    NOT NULL,
    name              TEXT    NOT NULL,
    media_type        TEXT    NOT NULL,
    bytes             BIGINT  NOT NULL,
    status            TEXT    NOT NULL,
    stage             TEXT    NOT NULL,
    progress          DOUBLE PRECISION NOT NULL,
    version           BIGINT  NOT NULL,
    published_version BIGINT  NOT NULL,
    error             TEXT    NOT NULL,
    chunk_count       BIGINT  NOT NULL,
    page_count        BIGINT  NOT NULL,
    language          TEXT    NOT NULL,
    tags              TEXT    NOT NULL,
    metadata          TEXT    NOT NULL,
    classification    TEXT    NOT NULL,
    access            TEXT    NOT NULL,
    external_user_id  TEXT    NOT NULL,
    conversation_id   TEXT    NOT NULL,
    legal_hold        BOOLEAN NOT NULL,
    inactive          BOOLEAN NOT NULL,
    removing_upto     BIGINT  NOT NULL,
    removing_run      TEXT    NOT NULL,
    removing_since    BIGINT  NOT NULL,
    removed           BOOLEAN NOT NULL,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT  NOT NULL
, stale_in_index INTEGER NOT NULL DEFAULT 0, parent TEXT NOT NULL DEFAULT '', parent_version BIGINT NOT NULL DEFAULT 0, found TEXT NOT NULL DEFAULT '', events BIGINT NOT NULL DEFAULT 0, webhook_errors TEXT NOT NULL DEFAULT '', waiting TEXT NOT NULL DEFAULT '', index_change BIGINT NOT NULL DEFAULT 0, index_writer TEXT NOT NULL DEFAULT '', index_writer_until BIGINT NOT NULL DEFAULT 0);
INSERT INTO documents VALUES('published','acme','handbook','published','published.md','text/markdown',42,'published','publish',1.0,1,1,'',0,0,'und','["travel"]','{"team":"sales"}','','{"workspace":true}','','',0,0,0,'',0,0,1772600767000000,1772600767000000,0,'',0,'',0,'','',0,'',0);
INSERT INTO documents VALUES('pending','acme','handbook','pending','pending.md','text/markdown',42,'pending','fetch',0.0,1,0,'',0,0,'und','["travel"]','{"team":"sales"}','','{"workspace":true}','','',0,0,0,'',0,0,1772600767000000,1772600767000000,0,'',0,'',0,'','',0,'',0);
CREATE TABLE document_tokens (
    document_id TEXT NOT NULL REFERENCES documents (id),
    token       TEXT NOT NULL,
    PRIMARY KEY (document_id, token)
) WITHOUT ROWID;
INSERT INTO document_tokens VALUES('pending','w:acme');
INSERT INTO document_tokens VALUES('published','w:acme');
CREATE TABLE document_tags (
    document_id TEXT NOT NULL REFERENCES documents (id),
    tag         TEXT NOT NULL,
    PRIMARY KEY (document_id, tag)
) WITHOUT ROWID;
INSERT INTO document_tags VALUES('pending','travel');
INSERT INTO document_tags VALUES('published','travel');
CREATE TABLE document_versions (
    document_id  TEXT    NOT NULL REFERENCES documents (id),
    version      BIGINT  NOT NULL,
    workspace    TEXT    NOT NULL,
    project      TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    begun        BOOLEAN NOT NULL,
    status       TEXT    NOT NULL,
    stage        TEXT    NOT NULL,
    error        TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    media_type   TEXT    NOT NULL,
    language     TEXT    NOT NULL,
    source_key   TEXT    NOT NULL,
    source_url   TEXT    NOT NULL,
    bytes        BIGINT  NOT NULL,
    chunk_count  BIGINT  NOT NULL,
    page_count   BIGINT  NOT NULL,
    splitter     TEXT    NOT NULL,
    created_at   BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL, tags TEXT NOT NULL DEFAULT '[]', metadata TEXT NOT NULL DEFAULT '{}', classification TEXT NOT NULL DEFAULT '', access TEXT NOT NULL DEFAULT '{}', external_user_id TEXT NOT NULL DEFAULT '', conversation_id TEXT NOT NULL DEFAULT '', override TEXT NOT NULL DEFAULT '', sealed_password TEXT NOT NULL DEFAULT '', found TEXT NOT NULL DEFAULT '', enrichment TEXT NOT NULL DEFAULT '', had_password BOOLEAN NOT NULL DEFAULT FALSE, digest TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (document_id, version)
);
INSERT INTO document_versions VALUES('published',1,'acme','handbook','run-1',0,'published','publish','','published.md','text/markdown','und','acme/handbook/published','',42,0,0,'{}',1772600767000000,1772600767000000,'["travel"]','{"team":"sales"}','','{"workspace":true}','','','','','','',0,'digest of published');
INSERT INTO document_versions VALUES('pending',1,'acme','handbook','run-2',0,'pending','fetch','','pending.md','text/markdown','und','acme/handbook/pending','',42,0,0,'{}',1772600767000000,1772600767000000,'["travel"]','{"team":"sales"}','','{"workspace":true}','','','','','','',0,'digest of pending');
CREATE TABLE chunks (
    id           TEXT   NOT NULL PRIMARY KEY,
    workspace    TEXT   NOT NULL,
    document_id  TEXT   NOT NULL REFERENCES documents (id),
    version      BIGINT NOT NULL,
    ordinal      BIGINT NOT NULL,
    span_start   BIGINT NOT NULL,
    span_end     BIGINT NOT NULL,
    language     TEXT   NOT NULL,
    heading_path TEXT   NOT NULL,
    header       TEXT   NOT NULL,
    lines        TEXT   NOT NULL,
    pages        TEXT   NOT NULL,
    body         TEXT   NOT NULL, first_line INTEGER NOT NULL DEFAULT 0, last_line INTEGER NOT NULL DEFAULT 0, place TEXT NOT NULL DEFAULT '', start_time DOUBLE PRECISION NOT NULL DEFAULT 0, end_time DOUBLE PRECISION NOT NULL DEFAULT 0, modality TEXT NOT NULL DEFAULT '', figures TEXT NOT NULL DEFAULT '', context TEXT NOT NULL DEFAULT '', parent_start BIGINT NOT NULL DEFAULT 0, parent_end BIGINT NOT NULL DEFAULT 0, speech TEXT NOT NULL DEFAULT '',
    UNIQUE (document_id, version, ordinal)
);
INSERT INTO chunks VALUES('chunk-0','acme','published',1,0,0,0,'','["Travel"]','','','','Travel by train is paid in full.',0,0,'',0.0,0.0,'','','',0,0,'');
INSERT INTO chunks VALUES('chunk-1','acme','published',1,1,0,0,'','["Travel","Tickets"]','','','','It''s the ticket that is kept.',0,0,'',0.0,0.0,'','','',0,0,'');
CREATE TABLE runs (
    id              TEXT   NOT NULL PRIMARY KEY,
    workspace       TEXT   NOT NULL,
    project         TEXT   NOT NULL,
    kind            TEXT   NOT NULL,
    status          TEXT   NOT NULL,
    workflow_id     TEXT   NOT NULL,
    subject         TEXT   NOT NULL,
    version         BIGINT NOT NULL,
    owner           TEXT   NOT NULL,
    conversation_id TEXT   NOT NULL,
    first_offset    BIGINT NOT NULL,
    log_key         TEXT   NOT NULL,
    result_key      TEXT   NOT NULL,
    usage           TEXT   NOT NULL,
    error           TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    ended_at        BIGINT NOT NULL
, parent TEXT NOT NULL DEFAULT '', progress TEXT NOT NULL DEFAULT '', callback TEXT NOT NULL DEFAULT '', after_run TEXT NOT NULL DEFAULT '');
INSERT INTO runs VALUES('run-1','acme','handbook','ingest','completed','ingest/acme/published','published',1,'','',-1,'','','','',1772600767000000,1772600767000000,'','','','');
INSERT INTO runs VALUES('run-2','acme','handbook','ingest','running','ingest/acme/pending','pending',1,'','',-1,'','','','',1772600767000000,0,'','','','');
CREATE TABLE conversations (
    workspace  TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    project    TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    title      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, summary TEXT NOT NULL DEFAULT '', summarized BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);
INSERT INTO conversations VALUES('acme','talk','handbook','k:key','Trains',1772600767000000,1772600767000000,'',0);
CREATE TABLE messages (
    workspace       TEXT   NOT NULL,
    id              TEXT   NOT NULL,
    conversation_id TEXT   NOT NULL,
    position        BIGINT NOT NULL,
    run_id          TEXT   NOT NULL,
    role            TEXT   NOT NULL,
    body            TEXT   NOT NULL,
    sources         TEXT   NOT NULL,
    chunk_ids       TEXT   NOT NULL,
    status          TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (workspace, id),
    UNIQUE (workspace, conversation_id, position),
    FOREIGN KEY (workspace, conversation_id) REFERENCES conversations (workspace, id) ON DELETE CASCADE
);
INSERT INTO messages VALUES('acme','m1','talk',1,'run-3','user','Who pays for trains?','','["chunk-0"]','',1772600767000000);
CREATE TABLE message_chunks (
    chunk_id        TEXT NOT NULL,
    workspace       TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    PRIMARY KEY (chunk_id, workspace, message_id),
    FOREIGN KEY (workspace, message_id) REFERENCES messages (workspace, id) ON DELETE CASCADE
) WITHOUT ROWID;
INSERT INTO message_chunks VALUES('chunk-0','acme','m1','talk');
CREATE TABLE idempotency_keys (
    workspace    TEXT   NOT NULL,
    caller       TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    route        TEXT   NOT NULL,
    body_hash    TEXT   NOT NULL,
    run_id       TEXT   NOT NULL,
    status       BIGINT NOT NULL,
    content_type TEXT   NOT NULL,
    response     BLOB   NOT NULL,
    created_at   BIGINT NOT NULL, owner TEXT NOT NULL DEFAULT '', leased_until BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, caller, name)
);
CREATE TABLE preferences (
    workspace TEXT NOT NULL,
    owner     TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (workspace, owner)
);
CREATE TABLE import_sources (
    id        INTEGER NOT NULL PRIMARY KEY,
    workspace TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    UNIQUE (workspace, project, name)
);
CREATE TABLE imports (
    number     INTEGER NOT NULL PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    workspace  TEXT    NOT NULL,
    project    TEXT    NOT NULL,
    source_id  BIGINT  NOT NULL REFERENCES import_sources (id),
    run_id     TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    status     TEXT    NOT NULL,
    request    TEXT    NOT NULL,
    splitter   TEXT    NOT NULL,
    listed     BOOLEAN NOT NULL,
    discovered BIGINT  NOT NULL,
    published  BIGINT  NOT NULL,
    skipped    BIGINT  NOT NULL,
    failed     BIGINT  NOT NULL,
    vanished   BIGINT  NOT NULL,
    deleted    BIGINT  NOT NULL,
    bytes      BIGINT  NOT NULL,
    active     BIGINT  NOT NULL, -- microseconds of work
    error      TEXT    NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    ended_at   BIGINT  NOT NULL
);
CREATE TABLE import_objects (
    source_id   BIGINT NOT NULL REFERENCES import_sources (id),
    key         TEXT   NOT NULL,
    document_id TEXT   NOT NULL,
    import      BIGINT NOT NULL,
    page        BIGINT NOT NULL,
    outcome     TEXT   NOT NULL,
    etag        TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    version     BIGINT NOT NULL,
    PRIMARY KEY (source_id, key)
) WITHOUT ROWID;
CREATE TABLE import_pages (
    import  BIGINT  NOT NULL REFERENCES imports (number),
    page    BIGINT  NOT NULL,
    next    TEXT    NOT NULL, -- token of the page after, '' = none
    objects BIGINT  NOT NULL, -- in the manifest
    todo    BIGINT  NOT NULL, -- of them, to be imported
    known   BIGINT  NOT NULL, -- of them, listed by an import before
    PRIMARY KEY (import, page)
) WITHOUT ROWID;
CREATE TABLE import_sidecars (
    source_id BIGINT NOT NULL REFERENCES import_sources (id),
    key       TEXT   NOT NULL, -- of the object that it describes
    import    BIGINT NOT NULL,
    etag      TEXT   NOT NULL,
    object    TEXT   NOT NULL,
    PRIMARY KEY (source_id, key)
) WITHOUT ROWID;
CREATE TABLE import_failures (
    import      BIGINT NOT NULL REFERENCES imports (number),
    key         TEXT   NOT NULL,
    document_id TEXT   NOT NULL,
    version     BIGINT NOT NULL, -- with this error, 0 = none
    etag        TEXT   NOT NULL,
    fingerprint TEXT   NOT NULL,
    object      TEXT   NOT NULL, -- for its source
    error       TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (import, key)
) WITHOUT ROWID;
CREATE TABLE webhook_deliveries (
    id          TEXT   NOT NULL PRIMARY KEY,
    event       TEXT   NOT NULL,
    workspace   TEXT   NOT NULL,
    project     TEXT   NOT NULL,
    webhook     TEXT   NOT NULL,
    document_id TEXT   NOT NULL,
    number      BIGINT NOT NULL,
    type        TEXT   NOT NULL,
    document    TEXT   NOT NULL,
    status      TEXT   NOT NULL,
    attempts    BIGINT NOT NULL,
    http_status BIGINT NOT NULL,
    error       TEXT   NOT NULL,
    answer      TEXT   NOT NULL,
    next_at     BIGINT NOT NULL,
    since       BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL
);
CREATE TABLE webhook_queues (
    webhook   TEXT    NOT NULL PRIMARY KEY,
    workspace TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    awake     BOOLEAN NOT NULL,
    woken_at  BIGINT  NOT NULL
);
CREATE TABLE rate_limits (
    name       TEXT   NOT NULL PRIMARY KEY,
    used_until BIGINT NOT NULL
);
CREATE TABLE uploads (
    source_key   TEXT   NOT NULL PRIMARY KEY,
    document_id  TEXT   NOT NULL,
    owner        TEXT   NOT NULL,
    leased_until BIGINT NOT NULL
);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',30);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace, created_at, id);
CREATE INDEX documents_by_workspace ON documents (workspace, removed, created_at, id);
CREATE INDEX documents_by_project ON documents (workspace, project, removed, created_at, id);
CREATE INDEX documents_by_external_id ON documents (workspace, external_id);
CREATE INDEX documents_being_removed ON documents (removing_since) WHERE removing_upto > 0;
CREATE INDEX document_versions_pending ON document_versions (updated_at) WHERE status = 'pending';
CREATE INDEX runs_by_workspace ON runs (workspace, created_at, id);
CREATE INDEX runs_running ON runs (created_at) WHERE status = 'running';
CREATE INDEX conversations_by_owner ON conversations (workspace, owner, created_at, id);
CREATE INDEX message_chunks_by_message ON message_chunks (workspace, message_id);
CREATE INDEX message_chunks_by_conversation ON message_chunks (workspace, conversation_id);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
CREATE INDEX documents_by_conversation ON documents (workspace, conversation_id) WHERE conversation_id <> '';
CREATE INDEX documents_stale_in_index ON documents (stale_in_index) WHERE stale_in_index > 0;
CREATE INDEX documents_by_parent ON documents (parent) WHERE parent <> '';
CREATE INDEX imports_by_workspace ON imports (workspace, created_at, id);
CREATE INDEX imports_by_run ON imports (run_id);
CREATE UNIQUE INDEX imports_open ON imports (source_id) WHERE status IN ('running', 'paused');
CREATE INDEX import_objects_retrying ON import_objects (import, key) WHERE outcome = 'retrying';
CREATE INDEX webhook_deliveries_by_workspace ON webhook_deliveries (workspace, created_at, id);
CREATE INDEX webhook_deliveries_by_document ON webhook_deliveries (document_id, number);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, next_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, document_id, number) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE status <> 'pending';
CREATE INDEX chunks_by_parent ON chunks (document_id, version, parent_start) WHERE parent_end > 0;
CREATE INDEX runs_by_parent ON runs (parent, status) WHERE parent <> '';
CREATE INDEX rate_limits_by_use ON rate_limits (used_until);
CREATE INDEX uploads_by_lease ON uploads (leased_until);
CREATE INDEX projects_by_generation ON projects (workspace, generation);
CREATE INDEX documents_by_id ON documents (workspace, project, id);
CREATE INDEX runs_by_conversation_running ON runs (conversation_id) WHERE status = 'running' AND conversation_id <> '';
COMMIT;
