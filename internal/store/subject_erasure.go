package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// deletion is a statement that deletes rows, and where their number is added.
type deletion struct {
	count *int
	sql   string
	args  []any
}

// erase deletes rows in one transaction, and adds their numbers to the progress of the erasure.
func (s *subjectStore) erase(ctx context.Context, scope SubjectScope, work func(ctx context.Context, tx transaction, n *knowledge.Erased) ([]deletion, error)) error {
	return s.write(ctx, "erase rows of a person", func(ctx context.Context, tx transaction) error {
		var n knowledge.Erased
		list, err := work(ctx, tx, &n)
		if err != nil {
			return err
		}
		for _, d := range list {
			result, err := tx.exec(ctx, d.sql, d.args...)
			if err != nil {
				return err
			}
			rows, err := result.RowsAffected()
			if err != nil {
				return err
			}
			*d.count += int(rows)
		}
		if n == (knowledge.Erased{}) {
			return nil
		}
		return scope.noteErased(ctx, tx, func(p *knowledge.ErasureProgress) { p.Removed.Add(n) })
	})
}

// keysOfMaker selects the keys that somebody, by two names, made in a workspace, with all keys
// that these made.
const keysOfMaker = `WITH RECURSIVE tree (id) AS (
	SELECT k.id FROM api_keys AS k WHERE k.workspace = ? AND k.created_by IN (?, ?)
	UNION SELECT c.id FROM api_keys AS c JOIN tree ON c.created_by = tree.id
) SELECT tree.id FROM tree`

// EraseAccounts deletes what lets the person of a scope in, and what is kept for the person alone:
// sessions, keys, grants, the membership, preferences, consents, and answers for repeated
// requests. A user whom an identity provider provisions stays as a mark with names alone, so that
// the person stays out.
func (s *subjectStore) EraseAccounts(ctx context.Context, scope SubjectScope) error {
	return s.erase(ctx, scope, func(ctx context.Context, tx transaction, n *knowledge.Erased) ([]deletion, error) {
		w, name := scope.Workspace, scope.Person.Name
		list := []deletion{
			{&n.Preferences, "DELETE FROM preferences WHERE workspace = ? AND owner = ?", []any{w, scope.owner()}},
			{&n.Consents, "DELETE FROM consents WHERE workspace = ? AND subject = ?", []any{w, name}},
		}
		callers, err := scope.callers(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, caller := range callers {
			list = append(list, deletion{&n.Requests, "DELETE FROM idempotency_keys WHERE workspace = ? AND caller = ?", []any{w, caller}})
		}
		if scope.Person.External {
			return list, nil
		}
		member, err := scope.eraseMember(ctx, tx, n, micros(s.now()))
		if err != nil {
			return nil, err
		}
		maker := []any{w, UserMaker + name, UserMaker + name}
		return append(append(list, member...),
			deletion{&n.Memberships, "DELETE FROM connection_members WHERE workspace = ? AND member = ?", []any{w, name}},
			deletion{&n.Sessions, "DELETE FROM sessions WHERE workspace = ? AND key_id = '' AND member = ?", []any{w, name}},
			deletion{&n.Sessions, "DELETE FROM sessions WHERE key_id <> '' AND key_id IN (" + keysOfMaker + ")", maker},
			deletion{&n.Keys, "DELETE FROM api_keys WHERE instance = FALSE AND id IN (" + keysOfMaker + ")", maker},
			deletion{&n.Grants, "DELETE FROM grants WHERE workspace = ? AND subject = ?", []any{w, "u:" + name}},
		), nil
	})
}

// callers returns as what the idempotency keys of a workspace name the person, as
// idempotency.Caller writes them.
func (s SubjectScope) callers(ctx context.Context, db querier) ([]string, error) {
	end := "\n" + s.Person.Name + "\n"
	if s.Person.External {
		end = "\n\n" + s.Person.Name
	}
	all, err := texts(ctx, db, "SELECT DISTINCT i.caller FROM idempotency_keys AS i WHERE i.workspace = ?", s.Workspace)
	var callers []string
	for _, caller := range all {
		if strings.HasSuffix(caller, end) {
			callers = append(callers, caller)
		}
	}
	return callers, err
}

// eraseMember returns what deletes the membership of the person. A provisioned one is
// deactivated, and what the identity provider said of the person is deleted.
func (s SubjectScope) eraseMember(ctx context.Context, tx transaction, n *knowledge.Erased, now int64) ([]deletion, error) {
	var user provisionedUserRow
	there, err := provisionedUserTable.first(ctx, tx, &user, "u.workspace = ? AND u.member = ?", s.Workspace, s.Person.Name)
	if err != nil {
		return nil, err
	}
	if !there {
		return []deletion{{&n.Memberships, "DELETE FROM members WHERE workspace = ? AND name = ? AND kind = ?", []any{s.Workspace, s.Person.Name, PersonMember}}}, nil
	}
	var ignored int
	return []deletion{
		{&n.Memberships, "DELETE FROM provisioned_group_users WHERE workspace = ? AND user_id = ?", []any{s.Workspace, user.ID}},
		{&n.Memberships, "UPDATE members SET deactivated_at = ?, roles = '[]', group_names = '[]', clearance = '', project = '' WHERE workspace = ? AND name = ? AND (deactivated_at = 0 OR roles <> '[]')",
			[]any{now, s.Workspace, s.Person.Name}},
		{&ignored, "UPDATE provisioned_users SET attributes = '{}', active = FALSE, removed_at = CASE WHEN removed_at = 0 THEN ? ELSE removed_at END WHERE workspace = ? AND id = ?", []any{now, s.Workspace, user.ID}},
	}, nil
}

// EraseWords deletes what the person of a scope said of answers, the person's test sets, and the
// questions and expected answers of the person in those of others. It comes before EraseRuns,
// which deletes the rows that say whose they are.
func (s *subjectStore) EraseWords(ctx context.Context, scope SubjectScope) error {
	return s.erase(ctx, scope, func(ctx context.Context, tx transaction, n *knowledge.Erased) ([]deletion, error) {
		w, owner := scope.Workspace, scope.owner()
		if err := scope.eraseTestItems(ctx, tx, n); err != nil {
			return nil, err
		}
		const said = "(SELECT f.run_id FROM run_feedback AS f WHERE f.workspace = ? AND f.author = ?)"
		return []deletion{
			{&n.TestItems, "DELETE FROM evaluation_items WHERE item_id IN " + said + " AND evaluation IN (SELECT e.id FROM evaluations AS e WHERE e.workspace = ?)", []any{w, owner, w}},
			{&n.TestSets, "DELETE FROM test_sets WHERE workspace = ? AND owner = ?", []any{w, owner}},
			{&n.Feedback, "DELETE FROM run_feedback WHERE workspace = ? AND author = ?", []any{w, owner}},
			{&n.Feedback, "DELETE FROM evaluation_reviews WHERE author = ? AND evaluation IN (SELECT e.id FROM evaluations AS e WHERE e.workspace = ?)", []any{owner, w}},
		}, nil
	})
}

// eraseTestItems takes the items that were made of answers to the person, or of what the person
// said of answers, out of the test sets of the workspace. Such an item has the id of the run.
func (s SubjectScope) eraseTestItems(ctx context.Context, tx transaction, n *knowledge.Erased) error {
	list, err := texts(ctx, tx, `SELECT r.id FROM runs AS r WHERE r.workspace = ? AND r.owner = ? AND r.kind IN ('query', 'tool', 'research')
		UNION SELECT f.run_id FROM run_feedback AS f WHERE f.workspace = ? AND f.author = ?`, s.Workspace, s.owner(), s.Workspace, s.owner())
	if err != nil || len(list) == 0 {
		return err
	}
	runs := map[string]bool{}
	for _, id := range list {
		runs[id] = true
	}
	var rows []testSetVersionRow
	err = tx.NewSelect().Model(&rows).Join("JOIN test_sets AS t ON t.id = v.test_set").Where("t.workspace = ? AND v.items LIKE ?", s.Workspace, `%"feedback"%`).Scan(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		dropped, err := rows[i].drop(runs)
		if err != nil {
			return err
		}
		if dropped == 0 {
			continue
		}
		n.TestItems += dropped
		_, err = tx.exec(ctx, "UPDATE test_set_versions SET items = ?, count = ?, hash = ? WHERE test_set = ? AND version = ?", rows[i].Items, rows[i].Count, rows[i].Hash, rows[i].TestSet, rows[i].Version)
		if err != nil {
			return err
		}
	}
	return nil
}

// drop takes the items with these ids out of a version of a test set. It returns their number.
func (r *testSetVersionRow) drop(ids map[string]bool) (int, error) {
	var items []json.RawMessage
	if err := decode(field{r.Items, &items}); err != nil {
		return 0, fmt.Errorf("decode test set %s: %w", r.TestSet, err)
	}
	kept := make([]json.RawMessage, 0, len(items))
	for _, item := range items {
		var named struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(item, &named); err != nil {
			return 0, fmt.Errorf("decode an item of test set %s: %w", r.TestSet, err)
		}
		if !ids[named.ID] {
			kept = append(kept, item)
		}
	}
	dropped := len(items) - len(kept)
	if dropped == 0 {
		return 0, nil
	}
	text, err := encode(kept)
	sum := sha256.Sum256([]byte(text))
	r.Items, r.Count, r.Hash = text, len(kept), hex.EncodeToString(sum[:])
	return dropped, err
}

// EraseConversations deletes the next conversations of the person of a scope, at most limit of
// them, and returns their number. Those in which a question is being answered stay.
func (s *subjectStore) EraseConversations(ctx context.Context, scope SubjectScope, limit int) (n int, err error) {
	err = s.write(ctx, "erase conversations of a person", func(ctx context.Context, tx transaction) error {
		rows, err := conversationTable.all(ctx, tx, "c.workspace = ? AND c.owner = ? AND "+notAnswering+" ORDER BY c.id LIMIT ?", scope.Workspace, scope.owner(), limit)
		for n = range rows {
			if err == nil {
				err = dropConversation(ctx, tx, scope.Workspace, "", rows[n].ID, s.now())
			}
		}
		n = len(rows)
		if err != nil || n == 0 {
			return err
		}
		return scope.noteErased(ctx, tx, func(p *knowledge.ErasureProgress) { p.Removed.Conversations += n })
	})
	return n, err
}

// notAnswering is the condition on a conversation c that none of its questions is being answered.
const notAnswering = "NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace = c.workspace AND r.conversation_id = c.id AND r.status = 'running')"

// SubjectRuns lists the runs of the person of a scope whose words are the person's, by id: the
// answers to the person, the answers that evaluations gave to questions of the person, the
// evaluations that the person started, the imports of archives that the person uploaded, and the
// exports of the person. They are those that run, or
// those that have ended.
func (s *subjectStore) SubjectRuns(ctx context.Context, scope SubjectScope, running bool, after string, limit int) ([]Run, error) {
	status := "r.status <> 'running'"
	if running {
		status = "r.status = 'running'"
	}
	rows, err := runTable.all(ctx, s.reader, `r.workspace = ? AND r.id <> ? AND `+status+` AND (r.owner = ? AND r.kind IN ('query', 'tool', 'research', 'evaluate')
		OR r.kind = 'import' AND r.owner = ? AND r.subject IN (SELECT m.id FROM imports AS m WHERE m.workspace = ? AND m.owner = ? AND m.request LIKE '%"archive":%')
		OR r.kind = 'export' AND r.subject = ?
		OR r.id IN (SELECT i.run_id FROM evaluation_items AS i JOIN runs AS o ON o.id = i.item_id WHERE o.workspace = ? AND o.owner = ?))
		AND r.id > ? ORDER BY r.id LIMIT ?`, scope.Workspace, scope.Run, scope.owner(), scope.owner(), scope.Workspace, scope.owner(), scope.owner(), scope.Workspace, scope.owner(), after, limit)
	if err != nil {
		return nil, fmt.Errorf("list the runs of a person: %w", failure(err))
	}
	return decodeRows(rows, (*runRow).run)
}

// ItemRuns returns the runs that evaluations made for items of these ids.
func (s *subjectStore) ItemRuns(ctx context.Context, workspace string, items []string) ([]Run, error) {
	var rows []runRow
	err := s.reader.NewSelect().Model(&rows).Where("r.workspace = ? AND r.id IN (SELECT i.run_id FROM evaluation_items AS i WHERE i.item_id IN (?))", workspace, bun.List(items)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the runs of items of evaluations: %w", failure(err))
	}
	return decodeRows(rows, (*runRow).run)
}

// EraseImport deletes an import that has ended, with the keys of its objects.
func (s *subjectStore) EraseImport(ctx context.Context, scope SubjectScope, id string) error {
	return s.write(ctx, "erase import "+id, func(ctx context.Context, tx transaction) error {
		var number, source int64
		there, err := first(ctx, tx, []any{&number, &source}, "SELECT number, source_id FROM imports WHERE id = ? AND workspace = ? AND ended_at > 0", id, scope.Workspace)
		if err != nil || !there {
			return err
		}
		for _, table := range []string{"sync_listings", "import_failures", "import_waits", "import_pages"} {
			if _, err := tx.exec(ctx, "DELETE FROM "+table+" WHERE import = ?", number); err != nil {
				return err
			}
		}
		if _, err := tx.exec(ctx, "DELETE FROM imports WHERE number = ?", number); err != nil {
			return err
		}
		const unused = " AND NOT EXISTS (SELECT 1 FROM imports AS i WHERE i.source_id = ?)"
		for _, statement := range []string{"DELETE FROM import_objects WHERE source_id = ?", "DELETE FROM import_sidecars WHERE source_id = ?", "DELETE FROM import_sources WHERE id = ?"} {
			if _, err := tx.exec(ctx, statement+unused, source, source); err != nil {
				return err
			}
		}
		return nil
	})
}

// EraseRuns deletes runs that have ended with what is kept for repeated requests, and the items of
// evaluations that were made of them.
func (s *subjectStore) EraseRuns(ctx context.Context, scope SubjectScope, ids []string) error {
	return s.erase(ctx, scope, func(_ context.Context, _ transaction, n *knowledge.Erased) ([]deletion, error) {
		var list []deletion
		for _, id := range ids {
			list = append(list,
				deletion{&n.Requests, "DELETE FROM idempotency_keys WHERE workspace = ? AND run_id = ?", []any{scope.Workspace, id}},
				deletion{&n.TestItems, "DELETE FROM evaluation_items WHERE item_id = ? AND evaluation IN (SELECT e.id FROM evaluations AS e WHERE e.workspace = ?)", []any{id, scope.Workspace}},
				deletion{&n.Runs, "DELETE FROM runs WHERE id = ? AND workspace = ? AND status <> 'running'", []any{id, scope.Workspace}},
			)
		}
		return list, nil
	})
}
