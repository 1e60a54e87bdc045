-- A chunk's place in a spreadsheet, its seconds in audio or video, what it was made
-- from, the pictures that show it, and the passage that is read in its place.

-- +goose Up
ALTER TABLE chunks ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE chunks ADD COLUMN start_time DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN end_time DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN modality TEXT NOT NULL DEFAULT '';
ALTER TABLE chunks ADD COLUMN figures TEXT NOT NULL DEFAULT '';
ALTER TABLE chunks ADD COLUMN context TEXT NOT NULL DEFAULT '';
ALTER TABLE chunks ADD COLUMN parent_start BIGINT NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN parent_end BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE chunks DROP COLUMN parent_end;
ALTER TABLE chunks DROP COLUMN parent_start;
ALTER TABLE chunks DROP COLUMN context;
ALTER TABLE chunks DROP COLUMN figures;
ALTER TABLE chunks DROP COLUMN modality;
ALTER TABLE chunks DROP COLUMN end_time;
ALTER TABLE chunks DROP COLUMN start_time;
ALTER TABLE chunks DROP COLUMN place;
