-- Sessions of people who signed in with an identity provider, beside those of keys, and the
-- sign-ins that browsers have begun.

-- +goose Up
ALTER TABLE sessions DROP CONSTRAINT sessions_key_id_fkey;
ALTER TABLE sessions ADD COLUMN workspace TEXT COLLATE "C" NOT NULL DEFAULT ''; -- of the person
ALTER TABLE sessions ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT ''; -- the name of the person
ALTER TABLE sessions ADD COLUMN person TEXT COLLATE "C" NOT NULL DEFAULT ''; -- JSON: what the identity provider said
CREATE INDEX sessions_by_member ON sessions (workspace, member);
CREATE TABLE sign_ins (
    hash TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- of the state
    data TEXT COLLATE "C" NOT NULL, -- JSON
    expires_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE sign_ins;
DROP INDEX sessions_by_member;
DELETE FROM sessions WHERE key_id = '';
ALTER TABLE sessions DROP COLUMN person;
ALTER TABLE sessions DROP COLUMN member;
ALTER TABLE sessions DROP COLUMN workspace;
ALTER TABLE sessions ADD CONSTRAINT sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys (id) ON DELETE CASCADE;
