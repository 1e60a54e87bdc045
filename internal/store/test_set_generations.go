package store

import (
	"context"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// StartGeneration inserts the run in which a model makes a test set of a project, and returns it. A
// run that the same owner started before under this id is returned as it is. A project that the
// principal does not cover is not found.
func (s *testSetStore) StartGeneration(ctx context.Context, p knowledge.Principal, project, id string, begun knowledge.GenerationProgress) (Run, error) {
	if err := requireProjectOf(p, project); err != nil {
		return Run{}, err
	}
	progress, err := encode(begun)
	if err != nil {
		return Run{}, err
	}
	fresh := Run{
		ID: id, Workspace: p.Workspace(), Project: project, Kind: knowledge.KindGenerate, Status: knowledge.RunRunning, Owner: p.Owner(), Progress: []byte(progress),
		WorkflowID: knowledge.KindGenerate.WorkflowID(p.Workspace(), id), Subject: id, CreatedAt: s.now(),
	}
	var run Run
	err = s.write(ctx, "start generation "+id, func(ctx context.Context, tx transaction) error {
		run = fresh
		var row runRow
		there, err := runTable.first(ctx, tx, &row, "r.workspace = ? AND r.id = ? AND r.owner = ?", run.Workspace, id, run.Owner)
		if err == nil && there {
			run, err = row.run()
			return err
		}
		if err == nil {
			err = requireProject(ctx, tx, run.Workspace, project)
		}
		if err != nil {
			return err
		}
		return insertRun(ctx, tx, run)
	})
	return run, err
}

// NoteGeneration stores how far a generation is, unless it has ended.
func (s *testSetStore) NoteGeneration(ctx context.Context, workspace, run string, progress knowledge.GenerationProgress) error {
	text, err := encode(progress)
	if err != nil {
		return err
	}
	usage := string(knowledge.RunUsage{Usage: progress.Usage, Model: progress.Model}.Encode())
	return s.write(ctx, "note the progress of generation "+run, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE runs SET progress = ? WHERE id = ? AND workspace = ? AND status = 'running'", text, run, workspace)
		if err == nil && usage != "" {
			_, err = tx.exec(ctx, "UPDATE runs SET usage = ? WHERE id = ? AND workspace = ? AND status = 'running'", usage, run, workspace)
		}
		return err
	})
}
