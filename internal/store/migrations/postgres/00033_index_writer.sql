-- The number of the newest change that the index has to follow, and the process that
-- writes it there now, until when others believe that.

-- +goose Up
ALTER TABLE documents ADD COLUMN index_change BIGINT NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN index_writer TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN index_writer_until BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE documents DROP COLUMN index_writer_until;
ALTER TABLE documents DROP COLUMN index_writer;
ALTER TABLE documents DROP COLUMN index_change;
