package embedded

import (
	"encoding/json"
	"strings"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// condition is SQL about a row v of versions and a row e of its entries, with the
// values that it binds. A client's input is only ever among the values.
//
// The + before each EXISTS keeps SQLite from turning it into a join, which it
// would then run last, after reading the vectors.
type condition struct {
	sql  string
	args []any
}

// and joins at least one condition.
func and(list ...condition) condition {
	var c condition
	parts := make([]string, len(list))
	for i, part := range list {
		parts[i] = "(" + part.sql + ")"
		c.args = append(c.args, part.args...)
	}
	c.sql = strings.Join(parts, " AND ")
	return c
}

// or joins at least one condition.
func or(list []condition) condition {
	var c condition
	parts := make([]string, len(list))
	for i, part := range list {
		parts[i] = "(" + part.sql + ")"
		c.args = append(c.args, part.args...)
	}
	c.sql = strings.Join(parts, " OR ")
	return c
}

func not(c condition) condition { return condition{"NOT (" + c.sql + ")", c.args} }

// scope returns the condition for the entries that the query may find:
// entries of its workspace and projects that share a token with its principal, narrowed
// by its documents and its filter.
func scope(q index.Query, workspace int64) (condition, error) {
	list := append([]condition{{"v.workspace = ?", []any{workspace}}}, permitted(q)...)
	if projects := q.InProjects(); len(projects) > 0 {
		list = append(list, in("v.project", projects, ""))
	}
	if len(q.Documents) > 0 {
		list = append(list, in("v.document_id", q.Documents, ""))
	}
	for _, c := range q.Filter {
		compiled, err := compile(c)
		if err != nil {
			return condition{}, err
		}
		list = append(list, compiled)
	}
	return and(list...), nil
}

// permitted returns the conditions for the entries that the principal may read: its clearance
// covers their classification, their tokens or a grant let it in, and no grant denies them.
func permitted(q index.Query) []condition {
	admitted := in("+EXISTS (SELECT 1 FROM acl a WHERE a.version_id = v.id AND a.token", q.Principal.Tokens(), ")")
	if !q.Granted.Allowed.IsEmpty() {
		admitted = or(append(objects(q.Granted.Allowed), admitted))
	}
	list := []condition{admitted}
	if !q.Granted.Denied.IsEmpty() {
		list = append(list, not(or(objects(q.Granted.Denied))))
	}
	if !q.Principal.CoversEveryLevel() {
		list = append(list, in("v.classification", q.Principal.Covered(), ""))
	}
	return list
}

// objects returns the conditions of which the entries that grants name meet one.
func objects(o knowledge.Objects) []condition {
	var list []condition
	for _, kind := range []struct {
		before string
		names  []string
		after  string
	}{
		{"v.document_id", o.Documents, ""}, {"v.project", o.Projects, ""},
		{"+EXISTS (SELECT 1 FROM tags t WHERE t.version_id = v.id AND t.tag", o.Tags, ")"},
	} {
		if len(kind.names) > 0 {
			list = append(list, in(kind.before, kind.names, kind.after))
		}
	}
	return list
}

// maxBound is the largest list whose values are bound one by one, which is
// fastest. SQLite limits the number of values of a statement.
const maxBound = 200

// in compares the expression before with values; after closes what before
// opened.
func in[T any](before string, values []T, after string) condition {
	if len(values) > maxBound {
		return condition{before + " IN (SELECT value FROM json_each(?))" + after, []any{jsonList(values)}}
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return condition{before + " IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + ")" + after, args}
}

func jsonList[T any](values []T) string {
	b, err := json.Marshal(values)
	if err != nil {
		// Strings, finite numbers and booleans can always be encoded, and
		// Query.Check has refused everything else.
		return "[]"
	}
	return string(b)
}
