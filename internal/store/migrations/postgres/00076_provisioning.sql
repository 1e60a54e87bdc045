-- People and groups that an identity provider provisions by SCIM. A provisioned user is the
-- member of its name; one that was removed stays as a mark, so that its tokens stay refused.

-- +goose Up
ALTER TABLE members ADD COLUMN deactivated_at BIGINT NOT NULL DEFAULT 0; -- 0 = active
CREATE TABLE provisioned_users (
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    id TEXT COLLATE "C" NOT NULL,
    member TEXT COLLATE "C" NOT NULL, -- its name: the userName
    folded TEXT COLLATE "C" NOT NULL, -- the same in lower case
    external_id TEXT COLLATE "C" NOT NULL, -- '' = none
    active BOOLEAN NOT NULL,
    attributes TEXT COLLATE "C" NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    removed_at BIGINT NOT NULL, -- 0 = not
    PRIMARY KEY (workspace, id)
);
CREATE UNIQUE INDEX provisioned_users_by_name ON provisioned_users (workspace, folded);
CREATE INDEX provisioned_users_by_member ON provisioned_users (workspace, member);
CREATE INDEX provisioned_users_by_external_id ON provisioned_users (workspace, external_id);
CREATE TABLE provisioned_groups (
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL, -- the displayName, by which the access of documents names it
    folded TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, id)
);
CREATE UNIQUE INDEX provisioned_groups_by_name ON provisioned_groups (workspace, folded);
CREATE TABLE provisioned_group_users (
    workspace TEXT COLLATE "C" NOT NULL,
    group_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, group_id, user_id),
    FOREIGN KEY (workspace, group_id) REFERENCES provisioned_groups (workspace, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace, user_id) REFERENCES provisioned_users (workspace, id) ON DELETE CASCADE
);
CREATE INDEX provisioned_group_users_by_user ON provisioned_group_users (workspace, user_id);

-- +goose Down
DROP TABLE provisioned_group_users;
DROP TABLE provisioned_groups;
DROP TABLE provisioned_users;
ALTER TABLE members DROP COLUMN deactivated_at;
