-- The generation of vectors that the searches of a project read, '' = that of the
-- instance, and the one that a reindex fills beside it, '' = none.

-- +goose Up
ALTER TABLE projects ADD COLUMN generation TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE projects ADD COLUMN filling TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX projects_by_generation ON projects (workspace, generation);

-- +goose Down
DROP INDEX projects_by_generation;
ALTER TABLE projects DROP COLUMN filling;
ALTER TABLE projects DROP COLUMN generation;
