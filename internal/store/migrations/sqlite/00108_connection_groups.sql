-- Who is in the groups that files of connections are shared with: beside the documents, so that
-- a change of members changes no document. Members are named as documents name users.

-- +goose Up
CREATE TABLE connection_groups (
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    connection TEXT NOT NULL,
    name TEXT NOT NULL, -- as documents name the group
    read_by INTEGER NOT NULL, -- number of the import that has read the members last, 0 = none has
    complete BOOLEAN NOT NULL, -- the service has told all members
    PRIMARY KEY (workspace, connection, name)
);
CREATE TABLE connection_members (
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    member TEXT NOT NULL,
    connection TEXT NOT NULL,
    group_name TEXT NOT NULL,
    PRIMARY KEY (workspace, member, connection, group_name)
);
CREATE INDEX connection_members_by_group ON connection_members (workspace, connection, group_name);

-- +goose Down
DROP TABLE connection_members;
DROP TABLE connection_groups;
