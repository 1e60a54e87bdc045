package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// RetentionDue is what a run of retention would find.
type RetentionDue struct {
	Documents     int // to be removed or hidden
	Conversations int
	Runs          int
	KeptByHold    int // documents that are due, and that a hold keeps
}

// Due returns all that is due.
func (d RetentionDue) Due() int { return d.Documents + d.Conversations + d.Runs }

// RetentionDue counts what is due in a workspace now. A document of several rules counts once.
func (s *retentionStore) RetentionDue(ctx context.Context, scope RetentionScope) (RetentionDue, error) {
	var due RetentionDue
	rules, err := s.rules(ctx, scope)
	if err != nil {
		return due, err
	}
	if err := s.countDocuments(ctx, rules, &due); err != nil {
		return due, fmt.Errorf("count documents whose time is over: %w", failure(err))
	}
	ids, configs, err := s.configs(ctx, scope.Workspace)
	if err != nil {
		return due, err
	}
	now := s.time(scope)
	for i, c := range configs {
		for _, count := range []struct {
			days *float64
			sql  string
			into *int
		}{
			{c.Conversations, "SELECT COUNT(*) FROM conversations AS c WHERE " + dueConversations, &due.Conversations},
			{c.Runs, "SELECT COUNT(*) FROM runs AS r WHERE " + dueRuns, &due.Runs},
		} {
			if count.days == nil {
				continue
			}
			n := 0
			if _, err := first(ctx, s.reader, []any{&n}, count.sql, scope.Workspace, ids[i], micros(knowledge.Cutoff(now, *count.days))); err != nil {
				return due, fmt.Errorf("count what is due: %w", failure(err))
			}
			*count.into += n
		}
	}
	return due, nil
}

// countDocuments counts the documents that rules concern, project by project.
func (s *retentionStore) countDocuments(ctx context.Context, rules []dueRule, due *RetentionDue) error {
	for len(rules) > 0 {
		project, anyRule, args := rules[0].place.Project, []string{}, []any{}
		for len(rules) > 0 && rules[0].place.Project == project {
			anyRule, args = append(anyRule, "("+rules[0].where+")"), append(args, rules[0].args...)
			rules = rules[1:]
		}
		var free, held int
		query := "SELECT COUNT(*) FILTER (WHERE " + unheld + "), COUNT(*) FILTER (WHERE NOT (" + unheld + ")) FROM documents AS d WHERE " + strings.Join(anyRule, " OR ")
		if _, err := first(ctx, s.reader, []any{&free, &held}, query, args...); err != nil {
			return err
		}
		due.Documents, due.KeptByHold = due.Documents+free, due.KeptByHold+held
	}
	return nil
}

// DueRetention is RetentionDue for the workspace of the principal, who covers all of it: others are
// CodeForbidden. base is the level of documents without a classification.
func (s *retentionStore) DueRetention(ctx context.Context, p knowledge.Principal, base string) (RetentionDue, error) {
	if err := requireWholeWorkspace(p, "retention"); err != nil {
		return RetentionDue{}, err
	}
	return s.RetentionDue(ctx, RetentionScope{Workspace: p.Workspace(), Base: base})
}

// BeginRetention is StartRetention for the workspace of the principal, who covers all of it.
func (s *retentionStore) BeginRetention(ctx context.Context, p knowledge.Principal, id string) (Run, error) {
	if err := requireWholeWorkspace(p, "retention"); err != nil {
		return Run{}, err
	}
	run, _, err := s.StartRetention(ctx, p.Workspace(), p.Owner(), id, time.Time{})
	return run, err
}

// StartRetention inserts a run that applies the retention of a workspace. It returns the run
// that is under way, if there is one, and started is false then. With since it inserts none if
// one began after that time.
func (s *retentionStore) StartRetention(ctx context.Context, workspace, owner, id string, since time.Time) (run Run, started bool, err error) {
	err = s.write(ctx, "start the retention of workspace "+workspace, func(ctx context.Context, tx transaction) error {
		started = false
		var row runRow
		there, err := runTable.first(ctx, tx, &row, "r.workspace = ? AND r.kind = 'retention' ORDER BY r.created_at DESC, r.id LIMIT 1", workspace)
		if err != nil {
			return err
		}
		if there && (row.Status == knowledge.RunRunning || row.ID == id || !since.IsZero() && row.CreatedAt > micros(since) && row.CreatedAt <= micros(s.now().Add(maxSkew))) {
			run, err = row.run()
			return err
		}
		run, started = Run{
			ID: id, Workspace: workspace, Kind: knowledge.KindRetention, Status: knowledge.RunRunning, Owner: owner,
			WorkflowID: knowledge.KindRetention.WorkflowID(workspace, workspace), Subject: workspace, CreatedAt: s.now(),
		}, true
		return insertRun(ctx, tx, run)
	})
	return run, started, err
}

// RetentionWorkspaces returns the workspaces with a project that does not keep everything, in
// which no run of retention began after a time.
func (s *retentionStore) RetentionWorkspaces(ctx context.Context, since time.Time) ([]string, error) {
	rows, err := projectTable.all(ctx, s.reader, `p.removing_run = '' AND p.config LIKE '%"retention"%' AND NOT EXISTS (SELECT 1 FROM runs AS r
		WHERE r.workspace = p.workspace AND r.kind = 'retention' AND r.created_at > ? AND r.created_at <= ?) ORDER BY p.workspace`, micros(since), micros(s.now().Add(maxSkew)))
	if err != nil {
		return nil, fmt.Errorf("list the workspaces with a retention: %w", failure(err))
	}
	var workspaces []string
	for _, row := range rows {
		p, err := row.project()
		if err != nil {
			return nil, err
		}
		if !p.Config.Retention.IsZero() && !slices.Contains(workspaces, p.Workspace) {
			workspaces = append(workspaces, p.Workspace)
		}
	}
	return workspaces, nil
}

// NoteRetention stores what a run of retention has done.
func (s *retentionStore) NoteRetention(ctx context.Context, ref knowledge.RunRef, p knowledge.RetentionProgress) error {
	progress, err := encode(p)
	if err != nil {
		return fmt.Errorf("encode the progress of run %s: %w", ref.Run, err)
	}
	return s.write(ctx, "note the progress of run "+ref.Run, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE runs SET progress = ? WHERE id = ? AND workspace = ?", progress, ref.Run, ref.Workspace)
		return err
	})
}

// retentionProgress returns what the run of a scope has done.
func retentionProgress(ctx context.Context, in querier, scope RetentionScope) (p knowledge.RetentionProgress, err error) {
	var progress string
	if _, err := first(ctx, in, []any{&progress}, "SELECT progress FROM runs WHERE id = ? AND workspace = ?", scope.Run, scope.Workspace); err != nil {
		return p, err
	}
	return p, decode(field{progress, &p})
}

// count adds a page to what its run has done.
func (page *RetainedDocuments) count(ctx context.Context, tx transaction, scope RetentionScope) (err error) {
	if page.Progress, err = retentionProgress(ctx, tx, scope); err != nil {
		return err
	}
	page.Progress.Removed += len(page.Removals)
	page.Progress.Inactive += len(page.Hidden)
	progress, err := encode(page.Progress)
	if err == nil {
		_, err = tx.exec(ctx, "UPDATE runs SET progress = ? WHERE id = ? AND workspace = ?", progress, scope.Run, scope.Workspace)
	}
	return err
}
