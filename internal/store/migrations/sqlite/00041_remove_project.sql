-- The run that removes a project with everything in it, '' = none.

-- +goose Up
ALTER TABLE projects ADD COLUMN removing_run TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE projects DROP COLUMN removing_run;
