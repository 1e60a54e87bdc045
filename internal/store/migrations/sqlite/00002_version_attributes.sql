-- A version has the attributes of its upload: publishing it makes them the
-- document's.

-- +goose Up
ALTER TABLE document_versions ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE document_versions ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
ALTER TABLE document_versions ADD COLUMN classification TEXT NOT NULL DEFAULT '';
ALTER TABLE document_versions ADD COLUMN access TEXT NOT NULL DEFAULT '{}';
ALTER TABLE document_versions ADD COLUMN external_user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE document_versions ADD COLUMN conversation_id TEXT NOT NULL DEFAULT '';

-- Until now an upload's attributes were the document's at once; only of its
-- name does the published version still know its own.
UPDATE document_versions AS v SET tags = d.tags, metadata = d.metadata, classification = d.classification,
    access = d.access, external_user_id = d.external_user_id, conversation_id = d.conversation_id
FROM documents AS d WHERE d.id = v.document_id;
UPDATE documents AS d SET name = v.name
FROM document_versions AS v WHERE v.document_id = d.id AND v.version = d.published_version;

-- +goose Down
ALTER TABLE document_versions DROP COLUMN conversation_id;
ALTER TABLE document_versions DROP COLUMN external_user_id;
ALTER TABLE document_versions DROP COLUMN access;
ALTER TABLE document_versions DROP COLUMN classification;
ALTER TABLE document_versions DROP COLUMN metadata;
ALTER TABLE document_versions DROP COLUMN tags;
