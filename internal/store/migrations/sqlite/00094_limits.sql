-- Limits of keys, members and workspaces, and what is counted against them. A project has its
-- limits among its settings.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN limits TEXT NOT NULL DEFAULT ''; -- JSON; '' = none of its own
ALTER TABLE members ADD COLUMN limits TEXT NOT NULL DEFAULT '';
ALTER TABLE workspaces ADD COLUMN limits TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN accounts TEXT NOT NULL DEFAULT ''; -- to whom its use is counted, JSON; '' = its owner, project and workspace
ALTER TABLE documents ADD COLUMN uploader_key TEXT NOT NULL DEFAULT ''; -- the key that brought the document; '' = none
ALTER TABLE documents ADD COLUMN uploader_user TEXT NOT NULL DEFAULT ''; -- for whom
CREATE INDEX documents_of_keys ON documents (workspace, uploader_key) WHERE uploader_key <> '';
CREATE INDEX documents_of_users ON documents (workspace, uploader_user) WHERE uploader_user <> '';
CREATE TABLE request_windows (
    name TEXT NOT NULL PRIMARY KEY,
    counts TEXT NOT NULL, -- JSON: the requests of each second
    updated_at INTEGER NOT NULL
);
CREATE INDEX request_windows_by_update ON request_windows (updated_at);
CREATE TABLE day_use (
    workspace TEXT NOT NULL,
    account TEXT NOT NULL, -- its kind and id
    day TEXT NOT NULL, -- in UTC
    tokens INTEGER NOT NULL,
    cost DOUBLE PRECISION NOT NULL,
    runs INTEGER NOT NULL, -- that were held to a limit of the day and have ended
    run_tokens INTEGER NOT NULL, -- of these
    run_cost DOUBLE PRECISION NOT NULL,
    running INTEGER NOT NULL, -- those that have not ended
    PRIMARY KEY (workspace, account, day)
);
CREATE INDEX day_use_by_day ON day_use (day);

-- +goose Down
DROP TABLE day_use;
DROP TABLE request_windows;
DROP INDEX documents_of_users;
DROP INDEX documents_of_keys;
ALTER TABLE documents DROP COLUMN uploader_user;
ALTER TABLE documents DROP COLUMN uploader_key;
ALTER TABLE runs DROP COLUMN accounts;
ALTER TABLE workspaces DROP COLUMN limits;
ALTER TABLE members DROP COLUMN limits;
ALTER TABLE api_keys DROP COLUMN limits;
