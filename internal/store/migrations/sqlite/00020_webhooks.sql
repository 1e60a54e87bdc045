-- Events of documents, and the webhooks that are told of them.

-- +goose Up
ALTER TABLE projects ADD COLUMN webhooks TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN events BIGINT NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN webhook_errors TEXT NOT NULL DEFAULT '';

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

-- +goose Down
DROP TABLE webhook_queues;
DROP TABLE webhook_deliveries;
ALTER TABLE documents DROP COLUMN webhook_errors;
ALTER TABLE documents DROP COLUMN events;
ALTER TABLE projects DROP COLUMN webhooks;
