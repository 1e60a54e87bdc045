package sourcetest

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The clauses of queries.
var (
	clauseSince = regexp.MustCompile(`lastmodified >= now\("-(\d+)m"\)`)
	clauseIDs   = regexp.MustCompile(`id in \(([^)]+)\)`)
	clauseSpace = regexp.MustCompile(`space = "([^"]+)"`)
)

// matching returns the ids that a query finds, in the order of their creation.
func (c *Confluence) matching(cql string) []int {
	ids := c.World.ids(false)
	if c.Gone {
		return nil
	}
	if c.Archives {
		ids = append(ids, c.World.ids(true)...)
		slices.Sort(ids)
	}
	space := ""
	if m := clauseSpace.FindStringSubmatch(cql); m != nil {
		space = m[1]
	}
	var asked []string
	if m := clauseIDs.FindStringSubmatch(cql); m != nil {
		asked = strings.Split(m[1], ",")
	}
	since := time.Time{}
	if m := clauseSince.FindStringSubmatch(cql); m != nil {
		minutes, _ := strconv.Atoi(m[1])
		since = time.Now().Add(-time.Duration(minutes) * time.Minute).Truncate(time.Minute)
	}
	indexed := time.Now().Add(-c.Lag)
	return slices.DeleteFunc(ids, func(id int) bool {
		i, _, _ := c.World.look(id)
		if space != "" && c.space(id)["key"] != space {
			return true
		}
		old := !since.IsZero() && (i.Edited.Before(since) || i.Edited.After(indexed))
		return i.Created.After(indexed) || old || asked != nil && !slices.Contains(asked, c.idOf(id))
	})
}

// idOf returns the id of an item.
func (c *Confluence) idOf(id int) string {
	if c.attached(id) {
		return fmt.Sprintf("att%d", id)
	}
	return strconv.Itoa(id)
}

func (c *Confluence) attached(id int) bool {
	i, _, _ := c.World.look(id)
	return c.Attached(id) && !i.Folder && i.Parent != 0
}

// search answers a page of what a query finds: in the cloud behind a cursor, in a data center
// behind a number of contents.
func (c *Confluence) search(w http.ResponseWriter, q url.Values) {
	found := c.matching(q.Get("cql"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	limit = min(limit, 50) // less than is asked for
	start, _ := strconv.Atoi(q.Get("start"))
	if after, err := strconv.Atoi(q.Get("cursor")); err == nil {
		start = len(slices.DeleteFunc(slices.Clone(found), func(id int) bool { return id > after }))
	}
	start = min(start, len(found))
	part := found[start:min(start+limit, len(found))]
	list := []any{}
	for _, id := range part {
		if shown := c.render(id, q.Get("expand")); shown != nil {
			list = append(list, shown)
		}
	}
	links := map[string]string{"base": "http://" + c.Base}
	if len(part) > 0 && start+len(part) < len(found) {
		next := url.Values{"cql": {q.Get("cql")}, "limit": {strconv.Itoa(limit)}}
		if c.Cloud {
			next.Set("cursor", strconv.Itoa(part[len(part)-1]))
		} else {
			next.Set("start", strconv.Itoa(start+len(part)))
		}
		links["next"] = "/rest/api/content/search?" + next.Encode()
	}
	answer(w, map[string]any{"results": list, "start": start, "limit": limit, "size": len(list), "_links": links})
}
