package notion

import (
	"context"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxRows bounds the rows of a table that are read. Notion answers no more to one question.
const maxRows = 10_000

// stamp is when a row was edited.
type stamp struct {
	id     string
	edited time.Time
}

// tableTag returns what changes with a table, as it is read at a time.
func tableTag(edited time.Time, rows []stamp, now time.Time) string {
	slices.SortFunc(rows, func(a, b stamp) int { return strings.Compare(a.id, b.id) })
	var all strings.Builder
	own := tagOf(edited, now)
	all.WriteString(strings.TrimSuffix(own, unsettled))
	moving := !isSettled(own)
	for _, r := range rows {
		tag := tagOf(r.edited, now)
		moving = moving || !isSettled(tag)
		fmt.Fprintf(&all, " %s %s", r.id, strings.TrimSuffix(tag, unsettled))
	}
	tag := short(all.String())
	if moving {
		tag += unsettled
	}
	return tag
}

// rowsOf returns the rows of a table, the oldest first, and whether it has more.
func (c *client) rowsOf(ctx context.Context, table string) (rows []item, cut bool, err error) {
	q := question{Size: perRequest, Sorts: []any{map[string]string{"timestamp": "created_time", "direction": "ascending"}}}
	for {
		var found struct {
			list[item]
			Status struct {
				Type string `json:"type"`
			} `json:"request_status"`
		}
		if err := c.post(ctx, "data_sources/"+table+"/query", q, &found); err != nil {
			return nil, false, err
		}
		for _, i := range found.Results {
			if i.Object == objectPage && i.ID != "" && !i.InTrash && !i.Archived { // else it is a table of a wiki
				rows = append(rows, i)
			}
		}
		cut = cut || found.Status.Type == "incomplete"
		if q.Cursor, err = found.after(q.Cursor); err != nil || q.Cursor == "" || len(rows) >= maxRows {
			return rows[:min(len(rows), maxRows)], cut || q.Cursor != "" || len(rows) > maxRows, err
		}
	}
}

// tableDocument returns a table as an HTML document: its description, and its rows with a
// column for each property, that of the titles first.
func tableDocument(table item, rows []item, cut bool) string {
	names := slices.Sorted(maps.Keys(table.Properties))
	slices.SortStableFunc(names, func(a, b string) int {
		return rankOf(table.Properties[a]) - rankOf(table.Properties[b])
	})
	var b strings.Builder
	openDocument(&b, table.title())
	if about := plain(table.About); about != "" {
		b.WriteString("<p>" + html.EscapeString(about) + "</p>")
	}
	b.WriteString("<table><thead><tr>")
	for _, name := range names {
		b.WriteString("<th>" + html.EscapeString(name) + "</th>")
	}
	b.WriteString("</tr></thead><tbody>")
	for _, row := range rows {
		b.WriteString("<tr>")
		for _, name := range names {
			b.WriteString("<td>" + html.EscapeString(row.Properties[name].text()) + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	if cut {
		fmt.Fprintf(&b, "<p>The table has more rows than the %d that are read.</p>", len(rows))
	}
	closeDocument(&b)
	return b.String()
}

// rankOf orders the properties of a table.
func rankOf(p property) int {
	if p.Type == "title" {
		return 0
	}
	return 1
}
