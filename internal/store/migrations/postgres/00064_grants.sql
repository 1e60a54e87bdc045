-- Keys get a clearance, and workspaces get grants: rules that allow or deny a person, a group
-- or the keys of a project what the access lists of documents do not say.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN clearance TEXT COLLATE "C" NOT NULL DEFAULT ''; -- '' = nobody gave one
CREATE TABLE grants (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    project TEXT COLLATE "C" NOT NULL, -- of the object, '' = a tag, in every project
    subject TEXT COLLATE "C" NOT NULL, -- 'u:' a person, 'g:' a group or 'p:' a project
    object TEXT COLLATE "C" NOT NULL, -- 'd:' a document, 't:' a tag or 'p:' a project
    effect TEXT COLLATE "C" NOT NULL, -- allow or deny
    permission TEXT COLLATE "C" NOT NULL, -- read or write
    reason TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL, -- 0 = never
    created_at BIGINT NOT NULL
);
CREATE INDEX grants_by_subject ON grants (workspace, subject);
CREATE INDEX grants_by_creation ON grants (workspace, created_at, id);

-- +goose Down
DROP TABLE grants;
ALTER TABLE api_keys DROP COLUMN clearance;
