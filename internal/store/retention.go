package store

import (
	"cmp"
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

// RetentionPlace is how far a run has looked through the documents of a workspace: the rule, by
// its project and its number there, and the document that it looked at last. A document that is
// kept is so looked at once in a run, not once in each page. Of rules that change meanwhile the
// next run finds what this one has passed.
type RetentionPlace struct {
	Project  string `json:"project,omitempty"`
	Rule     int    `json:"rule,omitempty"`
	Created  int64  `json:"created,omitempty"` // microseconds
	Document string `json:"document,omitempty"`
}

// RetainedDocuments is what a page did to documents. Done says that no document is left to look at.
// Progress is what the run has done to documents so far, pages that a crash repeats included.
type RetainedDocuments struct {
	Removals []Removal // that have been started in SQL alone
	Hidden   []string
	Next     RetentionPlace
	Done     bool
	Progress knowledge.RetentionProgress
}

// dueRule is a rule of a project with its documents as a condition.
type dueRule struct {
	place  RetentionPlace // before its first document
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
		for number, r := range c.Documents {
			rule := newDueRule(scope, ids[i], r, knowledge.Cutoff(now, r.Days))
			rule.place = RetentionPlace{Project: ids[i], Rule: number}
			rules = append(rules, rule)
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
	return dueRule{action: r.Action, where: strings.Join(parts, " AND "), args: append(args, micros(cutoff), micros(cutoff))} // the first one is of an index
}

// due lists the next documents that a rule concerns and no hold keeps, the oldest first. It holds
// up no writer, however many documents it looks at.
func (s *retentionStore) due(ctx context.Context, rule dueRule, after RetentionPlace, limit int) (ids []string, next RetentionPlace, err error) {
	query := "SELECT d.id, d.created_at FROM documents AS d WHERE " + rule.where + " AND " + unheld +
		" AND (d.created_at, d.id) > (?, ?) ORDER BY d.created_at, d.id LIMIT ?"
	next = rule.place
	err = each(ctx, s.reader, query, slices.Concat(rule.args, []any{after.Created, after.Document, limit}), func(rows *sql.Rows) error {
		err := rows.Scan(&next.Document, &next.Created)
		ids = append(ids, next.Document)
		return err
	})
	if err != nil {
		return nil, next, fmt.Errorf("list documents whose time is over: %w", failure(err))
	}
	return ids, next, nil
}

// RetainDocuments removes or hides the next documents of a workspace whose time is over, at most
// limit of them behind a place, those under hold excepted. The caller ends the removals.
func (s *retentionStore) RetainDocuments(ctx context.Context, scope RetentionScope, after RetentionPlace, limit int) (RetainedDocuments, error) {
	rules, err := s.rules(ctx, scope)
	if err != nil {
		return RetainedDocuments{}, err
	}
	for _, rule := range rules {
		order := cmp.Or(strings.Compare(rule.place.Project, after.Project), cmp.Compare(rule.place.Rule, after.Rule))
		if order < 0 {
			continue
		}
		if order > 0 {
			after = rule.place
		}
		ids, next, err := s.due(ctx, rule, after, limit)
		if err != nil {
			return RetainedDocuments{}, err
		}
		if len(ids) > 0 {
			done, err := s.retain(ctx, scope, rule, ids)
			done.Next = next
			return done, err
		}
	}
	progress, err := retentionProgress(ctx, s.reader, scope)
	return RetainedDocuments{Done: true, Progress: progress}, failure(err)
}

// retain applies a rule to documents, those excepted that it no longer concerns.
func (s *retentionStore) retain(ctx context.Context, scope RetentionScope, rule dueRule, ids []string) (page RetainedDocuments, err error) {
	err = s.write(ctx, "apply the retention of workspace "+scope.Workspace, func(ctx context.Context, tx transaction) error {
		page = RetainedDocuments{}
		for _, id := range ids {
			rows, err := loadDocuments(ctx, tx, rule.where+" AND "+unheld+" AND d.id = ?", slices.Concat(rule.args, []any{id})...)
			switch {
			case err != nil:
				return err
			case len(rows) == 0:
				continue
			case rule.action == knowledge.RetentionRemove:
				err = rows[0].retire(ctx, tx, s.now())
				page.Removals = append(page.Removals, rows[0].removal())
			default:
				err = hide(ctx, tx, &rows[0], s.now())
				page.Hidden = append(page.Hidden, id)
			}
			if err != nil {
				return err
			}
		}
		if err := page.count(ctx, tx, scope); err != nil {
			return err
		}
		removed := convert(page.Removals, func(r Removal) string { return r.Document })
		if rule.action == knowledge.RetentionRemove {
			return tx.auditOwn(ctx, scope.change("retention-remove-documents", removed))
		}
		return tx.auditOwn(ctx, scope.change("retention-hide-documents", page.Hidden))
	})
	return page, err
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
			rows, err := conversationTable.all(ctx, tx, dueConversations+dueConversationsOrder, scope.Workspace, ids[i], cutoff, limit)
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

// The orders in which pages of conversations c and runs r are read: those that are due stand first.
const (
	dueConversationsOrder = " ORDER BY c.updated_at, c.id LIMIT ?"
	dueRunsOrder          = " ORDER BY r.ended_at, r.id LIMIT ?"
)

// dueConversations is the condition on conversations c of a project that none of their questions
// is being answered, and that they ended before a time.
const dueConversations = `c.workspace = ? AND c.project = ? AND c.updated_at <= ?
	AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace = c.workspace AND r.conversation_id = c.id AND r.status = 'running')`

// dueRuns is the condition on runs r of a project that they answered questions and ended before
// a time.
const dueRuns = "r.workspace = ? AND r.project = ? AND r.status <> 'running' AND r.ended_at > 0 AND r.ended_at <= ? AND r.kind IN ('query', 'tool', 'research')"

// DueRuns lists the next runs of questions of a workspace whose time is over, at most limit, the
// oldest first. The caller removes what belongs to them, and then drops them.
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
		rows, err := runTable.all(ctx, s.reader, dueRuns+dueRunsOrder, scope.Workspace, ids[i], cutoff, limit)
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
