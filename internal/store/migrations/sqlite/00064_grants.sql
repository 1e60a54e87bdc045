-- Keys get a clearance, and workspaces get grants: rules that allow or deny a person, a group
-- or the keys of a project what the access lists of documents do not say.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN clearance TEXT NOT NULL DEFAULT ''; -- '' = nobody gave one
CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    project TEXT NOT NULL, -- of the object, '' = a tag, in every project
    subject TEXT NOT NULL, -- 'u:' a person, 'g:' a group or 'p:' a project
    object TEXT NOT NULL, -- 'd:' a document, 't:' a tag or 'p:' a project
    effect TEXT NOT NULL, -- allow or deny
    permission TEXT NOT NULL, -- read or write
    reason TEXT NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER NOT NULL, -- 0 = never
    created_at INTEGER NOT NULL
);
CREATE INDEX grants_by_subject ON grants (workspace, subject);
CREATE INDEX grants_by_creation ON grants (workspace, created_at, id);

-- +goose Down
DROP TABLE grants;
ALTER TABLE api_keys DROP COLUMN clearance;
