package store

import (
	"context"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// StartRun stores a run that starts and, unless c is nil, the principal's
// conversation c.ID that it belongs to, which is inserted if there is none, in one
// transaction. If the same owner started a run under this id before, nothing changes:
// a conversation that was deleted since stays deleted. A run of somebody else with
// this id is a conflict; a conversation of somebody else is not found. A run whose accounts
// have nothing left of their day is CodeRateLimited. after is the
// running question of the conversation that the run has to wait for, "" = none.
func (s *runStore) StartRun(ctx context.Context, p knowledge.Principal, r Run, c *Conversation) (after string, err error) {
	if err := requireWorkspace(p); err != nil {
		return "", err
	}
	if r.Workspace != p.Workspace() || r.Owner != p.Owner() {
		return "", knowledge.Errorf(knowledge.CodeForbidden, "a run is started by its owner")
	}
	r.CreatedAt = s.orNow(r.CreatedAt)
	err = s.write(ctx, "start run "+r.ID, func(ctx context.Context, tx transaction) error {
		var row runRow
		there, err := runTable.first(ctx, tx, &row, "r.id = ? AND r.workspace = ? AND r.owner = ?", r.ID, r.Workspace, r.Owner)
		if err != nil || there {
			after = row.After
			return err
		}
		if c != nil {
			if _, err := ensureConversation(ctx, tx, p, *c); err != nil {
				return err
			}
		} else if r.After, err = lastRunning(ctx, tx, r); err != nil {
			return err
		}
		after = r.After
		if err := insertRun(ctx, tx, r); err != nil || !r.Reserves {
			return err
		}
		if row, err = newRunRow(r); err != nil {
			return err
		}
		return reserveDay(ctx, tx, &row)
	})
	return after, err
}

// lastRunning returns the run that answers the newest question of a run's conversation,
// if it has not ended: the one that no other one waits for.
func lastRunning(ctx context.Context, tx transaction, r Run) (string, error) {
	if r.ConversationID == "" || r.Kind == knowledge.KindTool {
		return "", nil
	}
	var last runRow
	_, err := runTable.first(ctx, tx, &last, `r.workspace = ? AND r.conversation_id = ? AND r.status = 'running' AND r.kind <> 'tool' AND NOT EXISTS (
		SELECT 1 FROM runs AS n WHERE n.conversation_id = r.conversation_id AND n.status = 'running' AND n.after_run = r.id) ORDER BY r.created_at DESC LIMIT 1`,
		r.Workspace, r.ConversationID)
	return last.ID, err
}

// RunningBefore returns the id of the workflow of the first run that is running, of the run
// after and the runs for which after itself waited. The next run of their conversation starts
// when none of them runs: then it returns "".
func (s *runStore) RunningBefore(ctx context.Context, workspace, after string) (string, error) {
	for after != "" {
		var row runRow
		there, err := runTable.first(ctx, s.reader, &row, "r.id = ? AND r.workspace = ?", after, workspace)
		if err != nil || !there {
			return "", err
		}
		if row.Status == knowledge.RunRunning {
			return row.WorkflowID, nil
		}
		after = row.After
	}
	return "", nil
}
