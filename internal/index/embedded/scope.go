package embedded

import (
	"encoding/json"
	"strings"

	"github.com/cairn-rag/cairn/internal/index"
)

// condition is SQL about a row v of versions, with the values that it binds.
// What a client sent is only ever among the values.
type condition struct {
	sql  string
	args []any
}

// and joins conditions, of which there is at least one.
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

func not(c condition) condition { return condition{"NOT (" + c.sql + ")", c.args} }

// scope says which versions the query may find: those of its workspace and
// projects that share a token with its principal, narrowed by its documents
// and its filter.
func scope(q index.Query, workspace int64) (condition, error) {
	list := []condition{
		{"v.workspace = ?", []any{workspace}},
		{"EXISTS (SELECT 1 FROM acl a WHERE a.version_id = v.id AND a.token IN " + listed + ")",
			[]any{jsonList(q.Principal.Tokens())}},
	}
	if projects := q.InProjects(); len(projects) > 0 {
		list = append(list, condition{"v.project IN " + listed, []any{jsonList(projects)}})
	}
	if len(q.Documents) > 0 {
		list = append(list, condition{"v.document_id IN " + listed, []any{jsonList(q.Documents)}})
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

// listed are the elements of a bound JSON list: one value to bind, however many
// elements.
const listed = "(SELECT value FROM json_each(?))"

func jsonList[T any](values []T) string {
	b, err := json.Marshal(values)
	if err != nil {
		// Strings, finite numbers and booleans, which Query.Check has seen to,
		// can always be written.
		return "[]"
	}
	return string(b)
}
