package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// SubjectProfile is what a workspace knows of a person beside documents, conversations and runs.
type SubjectProfile struct {
	Person      string           `json:"person"`
	External    bool             `json:"external"`
	Members     []map[string]any `json:"membership"`
	Provisioned []map[string]any `json:"provisioned"` // as the identity provider sent it
	Grants      []map[string]any `json:"grants"`
	Keys        []map[string]any `json:"keys"` // without their secrets
	Sessions    []map[string]any `json:"sessions"`
	Preferences []map[string]any `json:"preferences"`
	Consents    []map[string]any `json:"consents"`
	Feedback    []map[string]any `json:"feedback"`
	Reviews     []map[string]any `json:"reviews"`
	TestSets    []map[string]any `json:"test_sets"`
	Imports     []map[string]any `json:"imports"`

	ServiceGroups []map[string]any `json:"service_groups"` // in which services that are followed have the person
}

// profileTable is a query for a part of a profile.
type profileTable struct {
	into *[]map[string]any
	sql  string
	args []any
}

// tables returns the queries of a profile. Each takes the workspace and then the person, by name
// or as an owner.
func (p *SubjectProfile) tables(scope SubjectScope) []profileTable {
	w, name, owner := scope.Workspace, scope.Person.Name, scope.owner()
	list := []profileTable{
		{&p.Preferences, "SELECT value FROM preferences WHERE workspace = ? AND owner = ?", []any{w, owner}},
		{&p.Consents, "SELECT id, subject, purpose, evidence, created_by, created_at, withdrawn_by, withdrawn_at FROM consents WHERE workspace = ? AND subject = ? ORDER BY id", []any{w, name}},
		{&p.Feedback, "SELECT run_id, rating, comment, expected, created_at FROM run_feedback WHERE workspace = ? AND author = ? ORDER BY run_id", []any{w, owner}},
		{&p.Reviews, "SELECT r.evaluation, r.number, r.review, r.created_at FROM evaluation_reviews AS r JOIN evaluations AS e ON e.id = r.evaluation WHERE e.workspace = ? AND r.author = ? ORDER BY r.evaluation, r.number", []any{w, owner}},
		{&p.TestSets, "SELECT t.id, t.name, t.created_at, v.version, v.items FROM test_sets AS t JOIN test_set_versions AS v ON v.test_set = t.id WHERE t.workspace = ? AND t.owner = ? ORDER BY t.id, v.version", []any{w, owner}},
		{&p.Imports, "SELECT id, project, request, status, created_at FROM imports WHERE workspace = ? AND owner = ? ORDER BY id", []any{w, owner}},
	}
	if scope.Person.External {
		return list
	}
	return append(list, []profileTable{
		{&p.Members, "SELECT name, kind, roles, project, group_names, clearance, expires_at, created_at, updated_at, deactivated_at FROM members WHERE workspace = ? AND name = ?", []any{w, name}},
		{&p.Provisioned, "SELECT id, external_id, active, attributes, created_at, updated_at FROM provisioned_users WHERE workspace = ? AND member = ?", []any{w, name}},
		{&p.Grants, "SELECT id, object, effect, permission, reason, created_by, expires_at, created_at FROM grants WHERE workspace = ? AND subject = ? ORDER BY id", []any{w, "u:" + name}},
		{&p.Keys, "SELECT id, project, name, scopes, role, created_by, expires_at, created_at, revoked_at, last_used_at FROM api_keys WHERE id IN (" + keysOfMaker + ") ORDER BY id", []any{w, UserMaker + name, UserMaker + name}},
		{&p.ServiceGroups, "SELECT connection, group_name FROM connection_members WHERE workspace = ? AND member = ? ORDER BY connection, group_name", []any{w, name}},
		{&p.Sessions, "SELECT id, expires_at, created_at FROM sessions WHERE workspace = ? AND key_id = '' AND member = ? ORDER BY id", []any{w, name}},
	}...)
}

// SubjectProfileOf reads the profile of the person of a scope.
func (s *subjectStore) SubjectProfileOf(ctx context.Context, scope SubjectScope) (SubjectProfile, error) {
	p := SubjectProfile{Person: scope.Person.Name, External: scope.Person.External}
	for _, table := range p.tables(scope) {
		rows, err := records(ctx, s.reader, table.sql, table.args...)
		if err != nil {
			return p, fmt.Errorf("read the profile of a person: %w", failure(err))
		}
		*table.into = rows
	}
	return p, nil
}

// records reads rows as objects. A text that is JSON stays JSON.
func records(ctx context.Context, db querier, query string, args ...any) ([]map[string]any, error) {
	rows, err := db.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		record := map[string]any{}
		for i, column := range columns {
			record[column] = recordValue(values[i])
		}
		list = append(list, record)
	}
	return list, rows.Err()
}

func recordValue(v any) any {
	text, ok := v.(string)
	if bytes, isBytes := v.([]byte); isBytes {
		text, ok = string(bytes), true
	}
	switch {
	case !ok:
		return v
	case len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return text
}

// SubjectConversation is a conversation with all of its messages.
type SubjectConversation struct {
	Conversation
	Messages []Message
}

// SubjectConversations lists conversations of the person of a scope, by id, from the first one
// after a conversation on.
func (s *subjectStore) SubjectConversations(ctx context.Context, scope SubjectScope, after string, limit int) ([]SubjectConversation, error) {
	rows, err := conversationTable.all(ctx, s.reader, "c.workspace = ? AND c.owner = ? AND c.id > ? ORDER BY c.id LIMIT ?", scope.Workspace, scope.owner(), after, limit)
	if err != nil {
		return nil, fmt.Errorf("list the conversations of a person: %w", failure(err))
	}
	list := make([]SubjectConversation, 0, len(rows))
	for _, row := range rows {
		said, err := messageTable.all(ctx, s.reader, "m.workspace = ? AND m.conversation_id = ? ORDER BY m.position", scope.Workspace, row.ID)
		if err != nil {
			return nil, fmt.Errorf("read conversation %s: %w", row.ID, failure(err))
		}
		messages, err := decodeRows(said, (*messageRow).message)
		if err != nil {
			return nil, err
		}
		list = append(list, SubjectConversation{row.conversation(), messages})
	}
	return list, nil
}

// SubjectAudit lists the entries of the audit that the person of a scope caused, or that name the
// person, from the first one behind a place on, as JSON. It returns the place of the last one.
func (s *subjectStore) SubjectAudit(ctx context.Context, scope SubjectScope, after string, limit int) (entries []json.RawMessage, last string, err error) {
	place, _ := strconv.ParseInt(after, 10, 64) // "" = 0
	kind := "user:"
	if scope.Person.External {
		kind = "external:"
	}
	quoted, err := encode(kind + scope.Person.Name)
	if err != nil {
		return nil, "", err
	}
	var rows []auditRow
	err = s.reader.NewSelect().Model(&rows).Where("a.workspace = ? AND a.seq > ?", scope.Workspace, place).
		Where(`(a.actor = ? OR a.details LIKE ? ESCAPE '!' OR EXISTS (SELECT 1 FROM audit_objects AS o WHERE o.workspace = a.workspace AND o.object = ? AND o.seq = a.seq))`,
			kind+scope.Person.Name, `%"for":`+likeEscaper().Replace(quoted)+`%`, scope.Person.Name).
		OrderExpr("a.seq").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("read the audit of a person: %w", failure(err))
	}
	for _, row := range rows {
		entry, err := json.Marshal(row.entry())
		if err != nil {
			return nil, "", fmt.Errorf("encode entry %d of the audit: %w", row.Seq, err)
		}
		entries, last = append(entries, entry), strconv.FormatInt(row.Seq, 10)
	}
	return entries, last, nil
}

// likeEscaper escapes what LIKE takes for any characters, with "!".
func likeEscaper() *strings.Replacer { return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_") }
