package store

import (
	"strconv"
	"strings"
)

// Statements that are prepared are written for SQLite, in words that PostgreSQL knows
// too wherever there are some. The rest has its twin here.

// postgresWords are what only SQLite knows, each with what PostgreSQL has in its place.
var postgresWords = strings.NewReplacer(
	"json_each(?3)", "json_array_elements_text(CAST(CAST(?3 AS TEXT) AS JSON)) AS e (value)",
	"json_each(?5)", "json_array_elements_text(CAST(CAST(?5 AS TEXT) AS JSON)) AS e (value)",
	"json_each(?4) AS i", "json_array_elements_text(CAST(CAST(?4 AS TEXT) AS JSON)) WITH ORDINALITY AS i (value, key)",
	"json_each(?4)", "json_array_elements_text(CAST(CAST(?4 AS TEXT) AS JSON)) AS e (value)",
	"json_extract(d.error, '$.code')", "(CAST(d.error AS JSON) ->> 'code')",
	"json_extract(d.waiting, '$.code')", "(CAST(d.waiting AS JSON) ->> 'code')",
	"json_extract(d.waiting, '$.message')", "(CAST(d.waiting AS JSON) ->> 'message')",
	"json_extract(d.waiting, '$.since')", "(CAST(d.waiting AS JSON) ->> 'since')",
	"json_extract(i.request, '$.source.type')", "(CAST(i.request AS JSON) #>> '{source,type}')",
)

// postgresTwin returns a statement for SQLite as PostgreSQL knows it. Parameters are
// ?1, ?2, … or all of them ? alone.
func postgresTwin(text string) string {
	text = postgresWords.Replace(text)
	var b strings.Builder
	quoted, next := false, 1
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\'' {
			quoted = !quoted
		}
		if c != '?' || quoted {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('$')
		if i+1 == len(text) || text[i+1] < '0' || text[i+1] > '9' {
			b.WriteString(strconv.Itoa(next))
			next++
		}
	}
	return b.String()
}
