package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// RunEnd is how a run ended.
type RunEnd struct {
	Kind      knowledge.RunKind // of the run; KindImport ends its import too
	Status    knowledge.RunStatus
	LogKey    string
	ResultKey string
	Usage     json.RawMessage
	Error     *knowledge.Failure
	At        time.Time
}

// EndRun stores how a run ended. The first end counts; later ones change nothing.
// A run that does not exist is not found.
func (s *runStore) EndRun(ctx context.Context, workspace, id string, end RunEnd) error {
	return s.EndAnswer(ctx, workspace, id, end)
}

// EndRuns is EndRun for runs of a workspace that end alike, in one transaction.
func (s *runStore) EndRuns(ctx context.Context, workspace string, ids []string, end RunEnd) error {
	return s.write(ctx, "end runs of workspace "+workspace, func(ctx context.Context, tx transaction) error {
		for _, id := range ids {
			if _, err := endRun(ctx, tx, workspace, id, end); err != nil {
				return err
			}
		}
		return nil
	})
}

// EndAnswer stores how a run ended, and the messages that it adds to its
// conversation, in one transaction. The first end counts; later ones change neither
// the run nor the messages. Messages of a conversation that its owner deleted
// meanwhile are left out, and the run ends all the same.
func (s *runStore) EndAnswer(ctx context.Context, workspace, runID string, end RunEnd, messages ...Message) error {
	return s.write(ctx, "end run "+runID, func(ctx context.Context, tx transaction) error {
		ended, err := endRun(ctx, tx, workspace, runID, end)
		if err != nil || !ended {
			return err
		}
		for _, m := range messages {
			m.CreatedAt = s.orNow(m.CreatedAt)
			if _, err := saveMessage(ctx, tx, workspace, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// endRun stores how a run ended. It reports whether the run was running until now. A usage
// that was stored before stays if the end has none.
func endRun(ctx context.Context, tx transaction, workspace, id string, end RunEnd) (ended bool, err error) {
	row := runRow{
		Status: end.Status, LogKey: end.LogKey, ResultKey: end.ResultKey, Usage: string(end.Usage), EndedAt: micros(tx.orNow(end.At)),
	}
	if err := row.setError(end.Error); err != nil {
		return false, fmt.Errorf("encode the error of run %s: %w", id, err)
	}
	ended, err = first(ctx, tx, []any{&row.Project, &row.Callback, &row.Usage, &row.Parent, &row.Owner, &row.Accounts, &row.CreatedAt, &row.Kind}, `UPDATE runs SET status = ?, log_key = ?, result_key = ?, usage = CASE WHEN ? = '' THEN usage ELSE ? END, error = ?, ended_at = ?
		WHERE id = ? AND workspace = ? AND status = 'running' RETURNING project, callback, usage, parent, owner, accounts, created_at, kind`,
		row.Status, row.LogKey, row.ResultKey, row.Usage, row.Usage, row.Error, row.EndedAt, id, workspace)
	if err == nil && row.Callback != "" {
		err = callBack(ctx, tx, WebhookQueue{workspace, row.Project, id}, row.EndedAt)
	}
	if err == nil && ended && end.Kind == knowledge.KindImport {
		err = endImport(ctx, tx, workspace, id, row)
	}
	if err == nil && ended {
		row.ID, row.Workspace = id, workspace
		err = chargeRun(ctx, tx, &row)
	}
	if err != nil || ended {
		return ended, err
	}
	there, err := runTable.first(ctx, tx, &row, "r.id = ? AND r.workspace = ?", id, workspace)
	if err == nil && !there {
		err = knowledge.NotFound("run", id)
	}
	return false, err
}
