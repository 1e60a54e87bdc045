package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// retentionStore finds and removes what projects keep no longer.
type retentionStore struct{ *database }

// RetentionScope is a workspace, and the moment at which its things are due.
type RetentionScope struct {
	Workspace string
	// Now is the time by which ages are counted. The clock of the store counts in its place if
	// it is earlier, so that one clock that jumped ahead removes nothing.
	Now time.Time
	// Base is the level of documents without a classification.
	Base string
	// Run is the run that applies the retention, "" = none.
	Run string
}

// dueRule is a rule of a project with its documents as a condition.
type dueRule struct {
	action knowledge.RetentionAction
	where  string
	args   []any
}

// now is the time of a scope.
func (s *retentionStore) time(scope RetentionScope) time.Time {
	now := s.now()
	if !scope.Now.IsZero() && scope.Now.Before(now) {
		return scope.Now
	}
	return now
}

// configs returns the retention of the projects of a workspace that have any, by project.
func (s *retentionStore) configs(ctx context.Context, workspace string) ([]string, []knowledge.RetentionConfig, error) {
	rows, err := projectTable.all(ctx, s.reader, "p.workspace = ? AND p.removing_run = '' ORDER BY p.id", workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("read the retention of workspace %s: %w", workspace, failure(err))
	}
	var ids []string
	var configs []knowledge.RetentionConfig
	for _, row := range rows {
		p, err := row.project()
		if err != nil {
			return nil, nil, err
		}
		if !p.Config.Retention.IsZero() {
			ids, configs = append(ids, p.ID), append(configs, p.Config.Retention)
		}
	}
	return ids, configs, nil
}

// rules returns the rules of a workspace for documents.
func (s *retentionStore) rules(ctx context.Context, scope RetentionScope) ([]dueRule, error) {
	ids, configs, err := s.configs(ctx, scope.Workspace)
	if err != nil {
		return nil, err
	}
	now := s.time(scope)
	var rules []dueRule
	for i, c := range configs {
		for _, r := range c.Documents {
			rules = append(rules, newDueRule(scope, ids[i], r, knowledge.Cutoff(now, r.Days)))
		}
	}
	return rules, nil
}

// newDueRule returns the condition on documents d that a rule concerns them, and that their
// time is over. Attachments go with the document that contains them.
func newDueRule(scope RetentionScope, project string, r knowledge.RetentionRule, cutoff time.Time) dueRule {
	parts := []string{"d.workspace = ? AND d.project = ? AND d.removed = FALSE AND d.removing_upto = 0 AND d.parent = ''"}
	args := []any{scope.Workspace, project}
	if r.Action == knowledge.RetentionInactive {
		parts = append(parts, "d.inactive = FALSE")
	}
	switch {
	case r.Tag != "":
		parts, args = append(parts, "EXISTS (SELECT 1 FROM document_tags AS g WHERE g.document_id = d.id AND g.tag = ?)"), append(args, r.Tag)
	case r.Classification != "" && r.Classification == scope.Base:
		parts, args = append(parts, "(d.classification = ? OR d.classification = '')"), append(args, r.Classification)
	case r.Classification != "":
		parts, args = append(parts, "d.classification = ?"), append(args, r.Classification)
	}
	parts = append(parts, "d.created_at <= ? AND (SELECT v.created_at FROM document_versions AS v WHERE v.document_id = d.id AND v.version = d.version) <= ?")
	return dueRule{r.Action, strings.Join(parts, " AND "), append(args, micros(cutoff), micros(cutoff))} // the first one is of an index
}

// due lists the next documents that a rule concerns and no hold keeps, the oldest first. It holds
// up no writer, however many documents it looks at.
func (s *retentionStore) due(ctx context.Context, rule dueRule, limit int) (ids []string, err error) {
	query := "SELECT d.id FROM documents AS d WHERE " + rule.where + " AND " + unheld + " ORDER BY d.created_at, d.id LIMIT ?"
	err = each(ctx, s.reader, query, slices.Concat(rule.args, []any{limit}), func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list documents whose time is over: %w", failure(err))
	}
	return ids, nil
}

// RetainDocuments removes or hides the next documents of a workspace whose time is over, at most
// limit of them, those under hold excepted. It returns the removals, whose workflows the caller
// starts, and how many it has hidden; none of either if nothing is due.
func (s *retentionStore) RetainDocuments(ctx context.Context, scope RetentionScope, limit int) (removals []Removal, hidden int, err error) {
	rules, err := s.rules(ctx, scope)
	if err != nil {
		return nil, 0, err
	}
	for _, rule := range rules {
		ids, err := s.due(ctx, rule, limit)
		if err != nil {
			return nil, 0, err
		}
		if removals, hidden, err = s.retain(ctx, scope, rule, ids); err != nil || len(removals)+hidden > 0 {
			return removals, hidden, err
		}
	}
	return nil, 0, nil
}

// retain applies a rule to documents, those excepted that it no longer concerns.
func (s *retentionStore) retain(ctx context.Context, scope RetentionScope, rule dueRule, ids []string) (removals []Removal, hidden int, err error) {
	if len(ids) == 0 {
		return nil, 0, nil
	}
	err = s.write(ctx, "apply the retention of workspace "+scope.Workspace, func(ctx context.Context, tx transaction) error {
		removals, hidden = nil, 0
		var done []string
		for _, id := range ids {
			rows, err := loadDocuments(ctx, tx, rule.where+" AND "+unheld+" AND d.id = ?", slices.Concat(rule.args, []any{id})...)
			switch {
			case err != nil:
				return err
			case len(rows) == 0:
				continue
			case rule.action == knowledge.RetentionRemove:
				err = rows[0].retire(ctx, tx, s.now())
				removals = append(removals, rows[0].removal())
			default:
				err = hide(ctx, tx, &rows[0], s.now())
				hidden++
			}
			if err != nil {
				return err
			}
			done = append(done, id)
		}
		action := "retention-hide-documents"
		if rule.action == knowledge.RetentionRemove {
			action = "retention-remove-documents"
		}
		return tx.auditOwn(ctx, scope.change(action, done))
	})
	return removals, hidden, err
}

// retire starts the removal of a document and of its attachments.
func (r *documentRow) retire(ctx context.Context, tx transaction, now time.Time) error {
	if err := r.mark(ctx, tx, "", knowledge.NewID(), now); err != nil {
		return err
	}
	return markChildren(ctx, tx, "", r.ID, now)
}

func hide(ctx context.Context, tx transaction, row *documentRow, now time.Time) error {
	inactive := knowledge.StatusInactive
	return DocumentPatch{Status: &inactive}.write(ctx, tx, row, now)
}

// RetainConversations deletes the next conversations of a workspace whose time is over, at most
// limit of them, as DeleteConversation does. It returns their number.
func (s *retentionStore) RetainConversations(ctx context.Context, scope RetentionScope, limit int) (n int, err error) {
	ids, configs, err := s.configs(ctx, scope.Workspace)
	if err != nil {
		return 0, err
	}
	for i, c := range configs {
		if c.Conversations == nil {
			continue
		}
		cutoff := micros(knowledge.Cutoff(s.time(scope), *c.Conversations))
		err := s.write(ctx, "delete conversations of workspace "+scope.Workspace, func(ctx context.Context, tx transaction) error {
			rows, err := conversationTable.all(ctx, tx, dueConversations+" ORDER BY c.id LIMIT ?", scope.Workspace, ids[i], cutoff, limit)
			for n = range rows {
				if err == nil {
					err = dropConversation(ctx, tx, scope.Workspace, "", rows[n].ID, s.now())
				}
			}
			n = len(rows)
			if err != nil {
				return err
			}
			return tx.auditOwn(ctx, scope.change("retention-remove-conversations", convert(rows, func(r conversationRow) string { return r.ID })))
		})
		if err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// dueConversations is the condition on conversations c of a project that none of their questions
// is being answered, and that they ended before a time.
const dueConversations = `c.workspace = ? AND c.project = ? AND c.updated_at <= ?
	AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace = c.workspace AND r.conversation_id = c.id AND r.status = 'running')`

// dueRuns is the condition on runs r of a project that they answered questions and ended before
// a time.
const dueRuns = "r.workspace = ? AND r.project = ? AND r.status <> 'running' AND r.ended_at > 0 AND r.ended_at <= ? AND r.kind IN ('query', 'tool', 'research')"

// DueRuns lists the next runs of questions of a workspace whose time is over, at most limit.
// The caller removes what belongs to them, and then drops them.
func (s *retentionStore) DueRuns(ctx context.Context, scope RetentionScope, limit int) ([]Run, error) {
	ids, configs, err := s.configs(ctx, scope.Workspace)
	if err != nil {
		return nil, err
	}
	for i, c := range configs {
		if c.Runs == nil {
			continue
		}
		cutoff := micros(knowledge.Cutoff(s.time(scope), *c.Runs))
		rows, err := runTable.all(ctx, s.reader, dueRuns+" ORDER BY r.id LIMIT ?", scope.Workspace, ids[i], cutoff, limit)
		if err != nil {
			return nil, fmt.Errorf("list runs whose time is over: %w", failure(err))
		}
		if len(rows) > 0 {
			return decodeRows(rows, (*runRow).run)
		}
	}
	return nil, nil
}

// DropDueRuns is DropRuns for runs whose time is over.
func (s *retentionStore) DropDueRuns(ctx context.Context, scope RetentionScope, ids []string) error {
	return s.write(ctx, "delete runs of workspace "+scope.Workspace, func(ctx context.Context, tx transaction) error {
		if err := dropRuns(ctx, tx, scope.Workspace, ids); err != nil {
			return err
		}
		return tx.auditOwn(ctx, scope.change("retention-remove-runs", ids))
	})
}
