-- The tables as commit da499b6 left them, at the same number. Times are microseconds
-- since 1970, UTC. JSON stands in TEXT. What is not there is '' or 0, not NULL, so that a
-- query needs one comparison. Texts are compared byte by byte, as in SQLite, whatever
-- the language of the database is.

-- +goose Up
-- Transactions that are tried again wait for each other by a lock on this table.
CREATE TABLE write_turns ();

CREATE TABLE settings (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE workspaces (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE projects (
    workspace       TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    id              TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    config          TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    webhooks        TEXT COLLATE "C" NOT NULL, -- JSON
    generation      TEXT COLLATE "C" NOT NULL DEFAULT '', -- of the vectors that searches read
    filling         TEXT COLLATE "C" NOT NULL DEFAULT '', -- generation that a reindex fills beside it, '' = none
    callback_secret TEXT COLLATE "C" NOT NULL DEFAULT '', -- signs the answers that are sent to callbacks, sealed
    removing_run    TEXT COLLATE "C" NOT NULL DEFAULT '', -- removes the project with everything in it, '' = none
    PRIMARY KEY (workspace, id)
);
CREATE INDEX projects_by_generation ON projects (workspace, generation);

CREATE TABLE api_keys (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace          TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    project            TEXT COLLATE "C" NOT NULL,
    name               TEXT COLLATE "C" NOT NULL,
    hash               TEXT COLLATE "C" NOT NULL UNIQUE,
    prefix             TEXT COLLATE "C" NOT NULL,
    scopes             TEXT COLLATE "C" NOT NULL,
    instance           BOOLEAN NOT NULL,
    expires_at         BIGINT NOT NULL,
    created_at         BIGINT NOT NULL,
    revoked_at         BIGINT NOT NULL,
    queries_per_minute BIGINT NOT NULL DEFAULT 0 -- 0 = the limit of the instance
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace, created_at, id);

-- A removed document stays as a tombstone: its id and its version counter.
CREATE TABLE documents (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace          TEXT COLLATE "C" NOT NULL,
    project            TEXT COLLATE "C" NOT NULL,
    external_id        TEXT COLLATE "C" NOT NULL,
    name               TEXT COLLATE "C" NOT NULL,
    media_type         TEXT COLLATE "C" NOT NULL,
    bytes              BIGINT NOT NULL,
    status             TEXT COLLATE "C" NOT NULL,
    stage              TEXT COLLATE "C" NOT NULL,
    progress           DOUBLE PRECISION NOT NULL,
    version            BIGINT NOT NULL,
    published_version  BIGINT NOT NULL,
    error              TEXT COLLATE "C" NOT NULL,
    chunk_count        BIGINT NOT NULL,
    page_count         BIGINT NOT NULL,
    language           TEXT COLLATE "C" NOT NULL,
    tags               TEXT COLLATE "C" NOT NULL,
    metadata           TEXT COLLATE "C" NOT NULL,
    classification     TEXT COLLATE "C" NOT NULL,
    access             TEXT COLLATE "C" NOT NULL,
    external_user_id   TEXT COLLATE "C" NOT NULL,
    conversation_id    TEXT COLLATE "C" NOT NULL,
    legal_hold         BOOLEAN NOT NULL,
    inactive           BOOLEAN NOT NULL,
    removing_upto      BIGINT NOT NULL,
    removing_run       TEXT COLLATE "C" NOT NULL,
    removing_since     BIGINT NOT NULL,
    removed            BOOLEAN NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    stale_in_index     BIGINT NOT NULL, -- when a change was made that the index has not followed, 0 = it has
    parent             TEXT COLLATE "C" NOT NULL, -- document that contained this one as an attachment
    parent_version     BIGINT NOT NULL, -- its version that contained it last
    found              TEXT COLLATE "C" NOT NULL, -- metadata keys and tags found in the file or by a model, JSON; not inherited
    events             BIGINT NOT NULL, -- how many for webhooks
    webhook_errors     TEXT COLLATE "C" NOT NULL,
    waiting            TEXT COLLATE "C" NOT NULL, -- why a step waits, and until when, JSON; '' = none waits
    index_change       BIGINT NOT NULL DEFAULT 0, -- number of the newest change that the index has to follow
    index_writer       TEXT COLLATE "C" NOT NULL DEFAULT '', -- process that writes it there now
    index_writer_until BIGINT NOT NULL DEFAULT 0 -- until when others believe that
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
    document_id TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    token       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (document_id, token)
);

CREATE TABLE document_tags (
    document_id TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    tag         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (document_id, tag)
);

CREATE TABLE document_versions (
    document_id      TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    version          BIGINT NOT NULL,
    workspace        TEXT COLLATE "C" NOT NULL,
    project          TEXT COLLATE "C" NOT NULL,
    run_id           TEXT COLLATE "C" NOT NULL,
    begun            BOOLEAN NOT NULL,
    status           TEXT COLLATE "C" NOT NULL,
    stage            TEXT COLLATE "C" NOT NULL,
    error            TEXT COLLATE "C" NOT NULL,
    name             TEXT COLLATE "C" NOT NULL,
    media_type       TEXT COLLATE "C" NOT NULL,
    language         TEXT COLLATE "C" NOT NULL,
    source_key       TEXT COLLATE "C" NOT NULL,
    source_url       TEXT COLLATE "C" NOT NULL,
    bytes            BIGINT NOT NULL,
    chunk_count      BIGINT NOT NULL,
    page_count       BIGINT NOT NULL,
    splitter         TEXT COLLATE "C" NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    tags             TEXT COLLATE "C" NOT NULL, -- this and the next five: the upload's; the document's once published
    metadata         TEXT COLLATE "C" NOT NULL,
    classification   TEXT COLLATE "C" NOT NULL,
    access           TEXT COLLATE "C" NOT NULL,
    external_user_id TEXT COLLATE "C" NOT NULL,
    conversation_id  TEXT COLLATE "C" NOT NULL,
    override         TEXT COLLATE "C" NOT NULL, -- of its project's configuration, JSON
    sealed_password  TEXT COLLATE "C" NOT NULL, -- of its file, until the version ends
    found            TEXT COLLATE "C" NOT NULL, -- as in documents
    enrichment       TEXT COLLATE "C" NOT NULL, -- what a model finds out about it, JSON; '' = nothing
    had_password     BOOLEAN NOT NULL, -- the upload brought one, which is not kept
    digest           TEXT COLLATE "C" NOT NULL DEFAULT '', -- of the original's bytes, its transcript and its kind; '' = not known
    PRIMARY KEY (document_id, version)
);
CREATE INDEX document_versions_pending ON document_versions (updated_at) WHERE status = 'pending';

CREATE TABLE chunks (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace    TEXT COLLATE "C" NOT NULL,
    document_id  TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    version      BIGINT NOT NULL,
    ordinal      BIGINT NOT NULL,
    span_start   BIGINT NOT NULL,
    span_end     BIGINT NOT NULL,
    language     TEXT COLLATE "C" NOT NULL,
    heading_path TEXT COLLATE "C" NOT NULL,
    header       TEXT COLLATE "C" NOT NULL,
    lines        TEXT COLLATE "C" NOT NULL,
    pages        TEXT COLLATE "C" NOT NULL,
    body         TEXT COLLATE "C" NOT NULL,
    first_line   BIGINT NOT NULL, -- of the original file, 0 = not known
    last_line    BIGINT NOT NULL,
    place        TEXT COLLATE "C" NOT NULL, -- in a spreadsheet
    start_time   DOUBLE PRECISION NOT NULL, -- seconds in audio or video
    end_time     DOUBLE PRECISION NOT NULL,
    modality     TEXT COLLATE "C" NOT NULL, -- what it was made from
    figures      TEXT COLLATE "C" NOT NULL, -- pictures that show it
    context      TEXT COLLATE "C" NOT NULL,
    parent_start BIGINT NOT NULL, -- of the passage that is read in its place
    parent_end   BIGINT NOT NULL,
    speech       TEXT COLLATE "C" NOT NULL, -- segments: characters, and the seconds in which they are said
    UNIQUE (document_id, version, ordinal)
);
CREATE INDEX chunks_by_parent ON chunks (document_id, version, parent_start) WHERE parent_end > 0;

CREATE TABLE runs (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace       TEXT COLLATE "C" NOT NULL,
    project         TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    workflow_id     TEXT COLLATE "C" NOT NULL,
    subject         TEXT COLLATE "C" NOT NULL,
    version         BIGINT NOT NULL,
    owner           TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    first_offset    BIGINT NOT NULL,
    log_key         TEXT COLLATE "C" NOT NULL,
    result_key      TEXT COLLATE "C" NOT NULL,
    usage           TEXT COLLATE "C" NOT NULL,
    error           TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    ended_at        BIGINT NOT NULL,
    parent          TEXT COLLATE "C" NOT NULL, -- reindex that started it, '' = none
    progress        TEXT COLLATE "C" NOT NULL, -- of a reindex, JSON
    callback        TEXT COLLATE "C" NOT NULL DEFAULT '', -- where the answer is sent, JSON
    after_run       TEXT COLLATE "C" NOT NULL DEFAULT '' -- that a question of a conversation waits for, '' = none
);
CREATE INDEX runs_by_workspace ON runs (workspace, created_at, id);
CREATE INDEX runs_running ON runs (created_at) WHERE status = 'running';
CREATE INDEX runs_by_parent ON runs (parent, status) WHERE parent <> '';
CREATE INDEX runs_by_conversation_running ON runs (conversation_id) WHERE status = 'running' AND conversation_id <> '';

CREATE TABLE conversations (
    workspace  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    project    TEXT COLLATE "C" NOT NULL,
    owner      TEXT COLLATE "C" NOT NULL,
    title      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    summary    TEXT COLLATE "C" NOT NULL DEFAULT '', -- of the messages up to the position summarized
    summarized BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX conversations_by_owner ON conversations (workspace, owner, created_at, id);

CREATE TABLE messages (
    workspace       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    position        BIGINT NOT NULL,
    run_id          TEXT COLLATE "C" NOT NULL,
    role            TEXT COLLATE "C" NOT NULL,
    body            TEXT COLLATE "C" NOT NULL,
    sources         TEXT COLLATE "C" NOT NULL,
    chunk_ids       TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (workspace, id),
    UNIQUE (workspace, conversation_id, position),
    FOREIGN KEY (workspace, conversation_id) REFERENCES conversations (workspace, id) ON DELETE CASCADE
);

-- Which message cites which chunk: such a chunk is kept when its document gets
-- a newer version.
CREATE TABLE message_chunks (
    chunk_id        TEXT COLLATE "C" NOT NULL,
    workspace       TEXT COLLATE "C" NOT NULL,
    message_id      TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (chunk_id, workspace, message_id),
    FOREIGN KEY (workspace, message_id) REFERENCES messages (workspace, id) ON DELETE CASCADE
);
CREATE INDEX message_chunks_by_message ON message_chunks (workspace, message_id);
CREATE INDEX message_chunks_by_conversation ON message_chunks (workspace, conversation_id);

CREATE TABLE idempotency_keys (
    workspace    TEXT COLLATE "C" NOT NULL,
    caller       TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    route        TEXT COLLATE "C" NOT NULL,
    body_hash    TEXT COLLATE "C" NOT NULL,
    run_id       TEXT COLLATE "C" NOT NULL,
    status       BIGINT NOT NULL,
    content_type TEXT COLLATE "C" NOT NULL,
    response     BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    owner        TEXT COLLATE "C" NOT NULL DEFAULT '', -- process that runs the request now, '' = none
    leased_until BIGINT NOT NULL DEFAULT 0, -- until when others believe that
    PRIMARY KEY (workspace, caller, name)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE preferences (
    workspace TEXT COLLATE "C" NOT NULL,
    owner     TEXT COLLATE "C" NOT NULL,
    value     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, owner)
);

-- Bulk imports. A source is listed page by page, and has one import at a time.
-- import_objects has one row for each object that was ever listed, with its
-- outcome in the import that listed it last. The counters of an import change in
-- the same transaction as these rows.
CREATE TABLE import_sources (
    id        BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL,
    project   TEXT COLLATE "C" NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    UNIQUE (workspace, project, name)
);

CREATE TABLE imports (
    number     BIGINT NOT NULL PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    workspace  TEXT COLLATE "C" NOT NULL,
    project    TEXT COLLATE "C" NOT NULL,
    source_id  BIGINT NOT NULL REFERENCES import_sources (id),
    run_id     TEXT COLLATE "C" NOT NULL,
    owner      TEXT COLLATE "C" NOT NULL,
    status     TEXT COLLATE "C" NOT NULL,
    request    TEXT COLLATE "C" NOT NULL,
    splitter   TEXT COLLATE "C" NOT NULL,
    listed     BOOLEAN NOT NULL,
    discovered BIGINT NOT NULL,
    published  BIGINT NOT NULL,
    skipped    BIGINT NOT NULL,
    failed     BIGINT NOT NULL,
    vanished   BIGINT NOT NULL,
    deleted    BIGINT NOT NULL,
    bytes      BIGINT NOT NULL,
    active     BIGINT NOT NULL, -- microseconds of work
    error      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL
);
CREATE INDEX imports_by_workspace ON imports (workspace, created_at, id);
CREATE INDEX imports_by_run ON imports (run_id);
CREATE UNIQUE INDEX imports_open ON imports (source_id) WHERE status IN ('running', 'paused');

-- etag, fingerprint and version are those that were published last. page is of
-- the import that listed the object last.
CREATE TABLE import_objects (
    source_id   BIGINT NOT NULL REFERENCES import_sources (id),
    key         TEXT COLLATE "C" NOT NULL,
    document_id TEXT COLLATE "C" NOT NULL,
    import      BIGINT NOT NULL,
    page        BIGINT NOT NULL,
    outcome     TEXT COLLATE "C" NOT NULL,
    etag        TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    PRIMARY KEY (source_id, key)
);
CREATE INDEX import_objects_retrying ON import_objects (import, key) WHERE outcome = 'retrying';

CREATE TABLE import_pages (
    import  BIGINT NOT NULL REFERENCES imports (number),
    page    BIGINT NOT NULL,
    next    TEXT COLLATE "C" NOT NULL, -- token of the page after, '' = none
    objects BIGINT NOT NULL, -- in the manifest
    todo    BIGINT NOT NULL, -- of them, to be imported
    known   BIGINT NOT NULL, -- of them, listed by an import before
    PRIMARY KEY (import, page)
);

-- An object's tags and metadata in an object beside it.
CREATE TABLE import_sidecars (
    source_id BIGINT NOT NULL REFERENCES import_sources (id),
    key       TEXT COLLATE "C" NOT NULL, -- of the object that it describes
    import    BIGINT NOT NULL,
    etag      TEXT COLLATE "C" NOT NULL,
    object    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (source_id, key)
);

CREATE TABLE import_failures (
    import      BIGINT NOT NULL REFERENCES imports (number),
    key         TEXT COLLATE "C" NOT NULL,
    document_id TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL, -- with this error, 0 = none
    etag        TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    object      TEXT COLLATE "C" NOT NULL, -- for its source
    error       TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (import, key)
);

-- One event for one webhook. Events of a document have its numbers 1, 2, …
CREATE TABLE webhook_deliveries (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    event       TEXT COLLATE "C" NOT NULL,
    workspace   TEXT COLLATE "C" NOT NULL,
    project     TEXT COLLATE "C" NOT NULL,
    webhook     TEXT COLLATE "C" NOT NULL,
    document_id TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    type        TEXT COLLATE "C" NOT NULL,
    document    TEXT COLLATE "C" NOT NULL,
    status      TEXT COLLATE "C" NOT NULL,
    attempts    BIGINT NOT NULL,
    http_status BIGINT NOT NULL,
    error       TEXT COLLATE "C" NOT NULL,
    answer      TEXT COLLATE "C" NOT NULL,
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
    webhook   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL,
    project   TEXT COLLATE "C" NOT NULL,
    awake     BOOLEAN NOT NULL,
    woken_at  BIGINT NOT NULL
);

-- Limits per minute that several processes share. The time up to which the allowance of a
-- minute is used: what lies more than a minute ahead is refused.
CREATE TABLE rate_limits (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    used_until BIGINT NOT NULL
);
CREATE INDEX rate_limits_by_use ON rate_limits (used_until);

-- Originals whose bytes are being stored, and that no version names yet. If the lease of
-- the process that stores them ends, they are deleted.
CREATE TABLE uploads (
    source_key   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    document_id  TEXT COLLATE "C" NOT NULL,
    owner        TEXT COLLATE "C" NOT NULL,
    leased_until BIGINT NOT NULL
);
CREATE INDEX uploads_by_lease ON uploads (leased_until);
