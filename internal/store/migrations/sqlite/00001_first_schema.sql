-- Times are microseconds since 1970, UTC. JSON stands in TEXT. What is not
-- there is '' or 0, not NULL, so that a query needs one comparison. WITHOUT ROWID
-- is for tables that are nothing but their key.

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
    workspace  TEXT   NOT NULL REFERENCES workspaces (id),
    id         TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    config     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, id)
);

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
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace, created_at, id);

-- A removed document stays as a tombstone: its id and its version counter.
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
);
CREATE INDEX documents_by_workspace ON documents (workspace, removed, created_at, id);
CREATE INDEX documents_by_project ON documents (workspace, project, removed, created_at, id);
CREATE INDEX documents_by_external_id ON documents (workspace, external_id);
CREATE INDEX documents_being_removed ON documents (removing_since) WHERE removing_upto > 0;

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
    replaced     BIGINT  NOT NULL,
    created_at   BIGINT  NOT NULL,
    updated_at   BIGINT  NOT NULL,
    PRIMARY KEY (document_id, version)
);
CREATE INDEX document_versions_pending ON document_versions (updated_at) WHERE status = 'pending';

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
    body         TEXT   NOT NULL,
    UNIQUE (document_id, version, ordinal)
);

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
);
CREATE INDEX runs_by_workspace ON runs (workspace, created_at, id);
CREATE INDEX runs_running ON runs (created_at) WHERE status = 'running';

CREATE TABLE conversations (
    workspace  TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    project    TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    title      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
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
    PRIMARY KEY (workspace, caller, name)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE preferences (
    workspace TEXT NOT NULL,
    owner     TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (workspace, owner)
);

-- +goose Down
DROP TABLE preferences;
DROP TABLE idempotency_keys;
DROP TABLE message_chunks;
DROP TABLE messages;
DROP TABLE conversations;
DROP TABLE runs;
DROP TABLE chunks;
DROP TABLE document_versions;
DROP TABLE document_tags;
DROP TABLE document_tokens;
DROP TABLE documents;
DROP TABLE api_keys;
DROP TABLE projects;
DROP TABLE workspaces;
DROP TABLE settings;
