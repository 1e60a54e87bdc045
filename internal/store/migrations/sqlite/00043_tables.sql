-- The tables as commit da499b6 left them, at the same number. Times are microseconds
-- since 1970, UTC. JSON stands in TEXT. What is not there is '' or 0, not NULL, so that a
-- query needs one comparison. WITHOUT ROWID is for tables that are nothing but
-- their key.

-- +goose Up
CREATE TABLE settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE workspaces (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE projects (
    workspace       TEXT   NOT NULL REFERENCES workspaces (id),
    id              TEXT   NOT NULL,
    name            TEXT   NOT NULL,
    config          TEXT   NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    webhooks        TEXT   NOT NULL DEFAULT '', -- JSON
    generation      TEXT   NOT NULL DEFAULT '', -- of the vectors that searches read
    filling         TEXT   NOT NULL DEFAULT '', -- generation that a reindex fills beside it, '' = none
    callback_secret TEXT   NOT NULL DEFAULT '', -- signs the answers that are sent to callbacks, sealed
    removing_run    TEXT   NOT NULL DEFAULT '', -- removes the project with everything in it, '' = none
    PRIMARY KEY (workspace, id)
);
CREATE INDEX projects_by_generation ON projects (workspace, generation);

CREATE TABLE api_keys (
    id                 TEXT    NOT NULL PRIMARY KEY,
    workspace          TEXT    NOT NULL REFERENCES workspaces (id),
    project            TEXT    NOT NULL,
    name               TEXT    NOT NULL,
    hash               TEXT    NOT NULL UNIQUE,
    prefix             TEXT    NOT NULL,
    scopes             TEXT    NOT NULL,
    instance           BOOLEAN NOT NULL,
    expires_at         BIGINT  NOT NULL,
    created_at         BIGINT  NOT NULL,
    revoked_at         BIGINT  NOT NULL,
    queries_per_minute BIGINT  NOT NULL DEFAULT 0 -- 0 = the limit of the instance
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace, created_at, id);

-- A removed document stays as a tombstone: its id and its version counter.
CREATE TABLE documents (
    id                 TEXT    NOT NULL PRIMARY KEY,
    workspace          TEXT    NOT NULL,
    project            TEXT    NOT NULL,
    external_id        TEXT    NOT NULL,
    name               TEXT    NOT NULL,
    media_type         TEXT    NOT NULL,
    bytes              BIGINT  NOT NULL,
    status             TEXT    NOT NULL,
    stage              TEXT    NOT NULL,
    progress           DOUBLE PRECISION NOT NULL,
    version            BIGINT  NOT NULL,
    published_version  BIGINT  NOT NULL,
    error              TEXT    NOT NULL,
    chunk_count        BIGINT  NOT NULL,
    page_count         BIGINT  NOT NULL,
    language           TEXT    NOT NULL,
    tags               TEXT    NOT NULL,
    metadata           TEXT    NOT NULL,
    classification     TEXT    NOT NULL,
    access             TEXT    NOT NULL,
    external_user_id   TEXT    NOT NULL,
    conversation_id    TEXT    NOT NULL,
    legal_hold         BOOLEAN NOT NULL,
    inactive           BOOLEAN NOT NULL,
    removing_upto      BIGINT  NOT NULL,
    removing_run       TEXT    NOT NULL,
    removing_since     BIGINT  NOT NULL,
    removed            BOOLEAN NOT NULL,
    created_at         BIGINT  NOT NULL,
    updated_at         BIGINT  NOT NULL,
    stale_in_index     INTEGER NOT NULL DEFAULT 0, -- when a change was made that the index has not followed, 0 = it has
    parent             TEXT    NOT NULL DEFAULT '', -- document that contained this one as an attachment
    parent_version     BIGINT  NOT NULL DEFAULT 0, -- its version that contained it last
    found              TEXT    NOT NULL DEFAULT '', -- metadata keys and tags found in the file or by a model, JSON; not inherited
    events             BIGINT  NOT NULL DEFAULT 0, -- how many for webhooks
    webhook_errors     TEXT    NOT NULL DEFAULT '',
    waiting            TEXT    NOT NULL DEFAULT '', -- why a step waits, and until when, JSON; '' = none waits
    index_change       BIGINT  NOT NULL DEFAULT 0, -- number of the newest change that the index has to follow
    index_writer       TEXT    NOT NULL DEFAULT '', -- process that writes it there now
    index_writer_until BIGINT  NOT NULL DEFAULT 0 -- until when others believe that
);
CREATE INDEX documents_by_workspace ON documents (workspace, removed, created_at, id);
CREATE INDEX documents_by_project ON documents (workspace, project, removed, created_at, id);
CREATE INDEX documents_by_external_id ON documents (workspace, external_id);
CREATE INDEX documents_being_removed ON documents (removing_since) WHERE removing_upto > 0;
CREATE INDEX documents_by_conversation ON documents (workspace, conversation_id) WHERE conversation_id <> '';
CREATE INDEX documents_stale_in_index ON documents (stale_in_index) WHERE stale_in_index > 0;
CREATE INDEX documents_by_parent ON documents (parent) WHERE parent <> '';
CREATE INDEX documents_by_id ON documents (workspace, project, id);

-- The access tokens and the tags of a document once more, to be searched.
CREATE TABLE document_tokens (
    document_id TEXT NOT NULL REFERENCES documents (id),
    token       TEXT NOT NULL,
    PRIMARY KEY (document_id, token)
) WITHOUT ROWID;

CREATE TABLE document_tags (
    document_id TEXT NOT NULL REFERENCES documents (id),
    tag         TEXT NOT NULL,
    PRIMARY KEY (document_id, tag)
) WITHOUT ROWID;

CREATE TABLE document_versions (
    document_id      TEXT    NOT NULL REFERENCES documents (id),
    version          BIGINT  NOT NULL,
    workspace        TEXT    NOT NULL,
    project          TEXT    NOT NULL,
    run_id           TEXT    NOT NULL,
    begun            BOOLEAN NOT NULL,
    status           TEXT    NOT NULL,
    stage            TEXT    NOT NULL,
    error            TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    media_type       TEXT    NOT NULL,
    language         TEXT    NOT NULL,
    source_key       TEXT    NOT NULL,
    source_url       TEXT    NOT NULL,
    bytes            BIGINT  NOT NULL,
    chunk_count      BIGINT  NOT NULL,
    page_count       BIGINT  NOT NULL,
    splitter         TEXT    NOT NULL,
    created_at       BIGINT  NOT NULL,
    updated_at       BIGINT  NOT NULL,
    tags             TEXT    NOT NULL DEFAULT '[]', -- this and the next five: the upload's; the document's once published
    metadata         TEXT    NOT NULL DEFAULT '{}',
    classification   TEXT    NOT NULL DEFAULT '',
    access           TEXT    NOT NULL DEFAULT '{}',
    external_user_id TEXT    NOT NULL DEFAULT '',
    conversation_id  TEXT    NOT NULL DEFAULT '',
    override         TEXT    NOT NULL DEFAULT '', -- of its project's configuration, JSON
    sealed_password  TEXT    NOT NULL DEFAULT '', -- of its file, until the version ends
    found            TEXT    NOT NULL DEFAULT '', -- as in documents
    enrichment       TEXT    NOT NULL DEFAULT '', -- what a model finds out about it, JSON; '' = nothing
    had_password     BOOLEAN NOT NULL DEFAULT FALSE, -- the upload brought one, which is not kept
    digest           TEXT    NOT NULL DEFAULT '', -- of the original's bytes, its transcript and its kind; '' = not known
    PRIMARY KEY (document_id, version)
);
CREATE INDEX document_versions_pending ON document_versions (updated_at) WHERE status = 'pending';

CREATE TABLE chunks (
    id           TEXT    NOT NULL PRIMARY KEY,
    workspace    TEXT    NOT NULL,
    document_id  TEXT    NOT NULL REFERENCES documents (id),
    version      BIGINT  NOT NULL,
    ordinal      BIGINT  NOT NULL,
    span_start   BIGINT  NOT NULL,
    span_end     BIGINT  NOT NULL,
    language     TEXT    NOT NULL,
    heading_path TEXT    NOT NULL,
    header       TEXT    NOT NULL,
    lines        TEXT    NOT NULL,
    pages        TEXT    NOT NULL,
    body         TEXT    NOT NULL,
    first_line   INTEGER NOT NULL DEFAULT 0, -- of the original file, 0 = not known
    last_line    INTEGER NOT NULL DEFAULT 0,
    place        TEXT    NOT NULL DEFAULT '', -- in a spreadsheet
    start_time   DOUBLE PRECISION NOT NULL DEFAULT 0, -- seconds in audio or video
    end_time     DOUBLE PRECISION NOT NULL DEFAULT 0,
    modality     TEXT    NOT NULL DEFAULT '', -- what it was made from
    figures      TEXT    NOT NULL DEFAULT '', -- pictures that show it
    context      TEXT    NOT NULL DEFAULT '',
    parent_start BIGINT  NOT NULL DEFAULT 0, -- of the passage that is read in its place
    parent_end   BIGINT  NOT NULL DEFAULT 0,
    speech       TEXT    NOT NULL DEFAULT '', -- segments: characters, and the seconds in which they are said
    UNIQUE (document_id, version, ordinal)
);
CREATE INDEX chunks_by_parent ON chunks (document_id, version, parent_start) WHERE parent_end > 0;

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
    ended_at        BIGINT NOT NULL,
    parent          TEXT   NOT NULL DEFAULT '', -- reindex that started it, '' = none
    progress        TEXT   NOT NULL DEFAULT '', -- of a reindex, JSON
    callback        TEXT   NOT NULL DEFAULT '', -- where the answer is sent, JSON
    after_run       TEXT   NOT NULL DEFAULT '' -- that a question of a conversation waits for, '' = none
);
CREATE INDEX runs_by_workspace ON runs (workspace, created_at, id);
CREATE INDEX runs_running ON runs (created_at) WHERE status = 'running';
CREATE INDEX runs_by_parent ON runs (parent, status) WHERE parent <> '';
CREATE INDEX runs_by_conversation_running ON runs (conversation_id) WHERE status = 'running' AND conversation_id <> '';

CREATE TABLE conversations (
    workspace  TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    project    TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    title      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    summary    TEXT   NOT NULL DEFAULT '', -- of the messages up to the position summarized
    summarized BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX conversations_by_owner ON conversations (workspace, owner, created_at, id);

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

-- Which message cites which chunk: such a chunk is kept when its document gets
-- a newer version.
CREATE TABLE message_chunks (
    chunk_id        TEXT NOT NULL,
    workspace       TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    PRIMARY KEY (chunk_id, workspace, message_id),
    FOREIGN KEY (workspace, message_id) REFERENCES messages (workspace, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX message_chunks_by_message ON message_chunks (workspace, message_id);
CREATE INDEX message_chunks_by_conversation ON message_chunks (workspace, conversation_id);

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
    created_at   BIGINT NOT NULL,
    owner        TEXT   NOT NULL DEFAULT '', -- process that runs the request now, '' = none
    leased_until BIGINT NOT NULL DEFAULT 0, -- until when others believe that
    PRIMARY KEY (workspace, caller, name)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE preferences (
    workspace TEXT NOT NULL,
    owner     TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (workspace, owner)
);

-- Bulk imports. A source is listed page by page, and has one import at a time.
-- import_objects has one row for each object that was ever listed, with its
-- outcome in the import that listed it last. The counters of an import change in
-- the same transaction as these rows.
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
CREATE INDEX imports_by_workspace ON imports (workspace, created_at, id);
CREATE INDEX imports_by_run ON imports (run_id);
CREATE UNIQUE INDEX imports_open ON imports (source_id) WHERE status IN ('running', 'paused');

-- etag, fingerprint and version are those that were published last. page is of
-- the import that listed the object last.
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
CREATE INDEX import_objects_retrying ON import_objects (import, key) WHERE outcome = 'retrying';

CREATE TABLE import_pages (
    import  BIGINT NOT NULL REFERENCES imports (number),
    page    BIGINT NOT NULL,
    next    TEXT   NOT NULL, -- token of the page after, '' = none
    objects BIGINT NOT NULL, -- in the manifest
    todo    BIGINT NOT NULL, -- of them, to be imported
    known   BIGINT NOT NULL, -- of them, listed by an import before
    PRIMARY KEY (import, page)
) WITHOUT ROWID;

-- An object's tags and metadata in an object beside it.
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

-- One event for one webhook. Events of a document have its numbers 1, 2, …
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
CREATE INDEX webhook_deliveries_by_workspace ON webhook_deliveries (workspace, created_at, id);
CREATE INDEX webhook_deliveries_by_document ON webhook_deliveries (document_id, number);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, next_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, document_id, number) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE status <> 'pending';

-- The webhooks with pending deliveries. A workflow that is awake looks for more
-- before it rests.
CREATE TABLE webhook_queues (
    webhook   TEXT    NOT NULL PRIMARY KEY,
    workspace TEXT    NOT NULL,
    project   TEXT    NOT NULL,
    awake     BOOLEAN NOT NULL,
    woken_at  BIGINT  NOT NULL
);

-- Limits per minute that several processes share. The time up to which the allowance of a
-- minute is used: what lies more than a minute ahead is refused.
CREATE TABLE rate_limits (
    name       TEXT   NOT NULL PRIMARY KEY,
    used_until BIGINT NOT NULL
);
CREATE INDEX rate_limits_by_use ON rate_limits (used_until);

-- Originals whose bytes are being stored, and that no version names yet. If the lease of
-- the process that stores them ends, they are deleted.
CREATE TABLE uploads (
    source_key   TEXT   NOT NULL PRIMARY KEY,
    document_id  TEXT   NOT NULL,
    owner        TEXT   NOT NULL,
    leased_until BIGINT NOT NULL
);
CREATE INDEX uploads_by_lease ON uploads (leased_until);
