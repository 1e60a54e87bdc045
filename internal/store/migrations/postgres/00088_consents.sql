-- Consents of the people whom documents are about, the people whom each version of a document
-- names as its subjects, and who uploaded each version.

-- +goose Up
CREATE TABLE consents (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    subject TEXT COLLATE "C" NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL,
    evidence TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    withdrawn_by TEXT COLLATE "C" NOT NULL,
    withdrawn_at BIGINT NOT NULL -- 0 = it holds
);
CREATE INDEX consents_by_creation ON consents (workspace, created_at, id);
CREATE INDEX consents_by_subject ON consents (workspace, subject);
CREATE TABLE document_subjects (
    document_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    workspace TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (document_id, version, subject)
);
CREATE INDEX document_subjects_by_subject ON document_subjects (workspace, subject);
ALTER TABLE documents ADD COLUMN subjects TEXT COLLATE "C" NOT NULL DEFAULT ''; -- JSON, '' = none
ALTER TABLE documents ADD COLUMN withdrawn TEXT COLLATE "C" NOT NULL DEFAULT ''; -- the consent whose withdrawal waits for the end of a hold, '' = none
CREATE INDEX documents_withdrawn ON documents (withdrawn) WHERE withdrawn <> '';
ALTER TABLE document_versions ADD COLUMN subjects TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE document_versions ADD COLUMN uploaded_by TEXT COLLATE "C" NOT NULL DEFAULT ''; -- as the owner of a run; '' = not known, or the server
CREATE INDEX document_versions_by_uploader ON document_versions (workspace, uploaded_by) WHERE uploaded_by <> '';

-- +goose Down
DROP INDEX document_versions_by_uploader;
ALTER TABLE document_versions DROP COLUMN uploaded_by;
ALTER TABLE document_versions DROP COLUMN subjects;
DROP INDEX documents_withdrawn;
ALTER TABLE documents DROP COLUMN withdrawn;
ALTER TABLE documents DROP COLUMN subjects;
DROP TABLE document_subjects;
DROP TABLE consents;
