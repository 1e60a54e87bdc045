package confluence

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// searchPath is the path of searches for content.
const searchPath = "rest/api/content/search"

// perRequest is how many contents one request asks for. Confluence may give fewer.
const perRequest = 100

// expand returns what searches ask for beside the contents.
func (s *Source) expand() string {
	what := "space,version,ancestors,container,metadata.labels"
	if s.follow.Mirror {
		what += ",restrictions.read.restrictions.user,restrictions.read.restrictions.group"
	}
	return what
}

// query returns the query of a listing. The order does not change, so that contents which
// are changed meanwhile do not move. The time is relative, so that no time zone matters.
func (s *Source) query(at token) string {
	cql := `type in ("page","blogpost","attachment")`
	if key := s.follow.Scope.Space; key != "" {
		cql += ` and space = "` + key + `"`
	}
	if !at.All {
		cql += fmt.Sprintf(` and lastmodified >= now("-%dm")`, 1+int(math.Ceil(time.Since(at.Since).Minutes())))
	}
	return cql + " order by created"
}

// gather returns the contents of a page of a listing, each once, and whether there are more.
func (s *Source) gather(ctx context.Context, at *token) (list []content, more bool, err error) {
	place := map[identifier]int{}
	for more = true; more && len(list) < s.size; {
		var part []content
		if part, more, err = s.search(ctx, at, min(perRequest, s.size-len(list))); err != nil {
			return nil, false, err
		}
		for _, c := range part {
			if n, there := place[c.ID]; there {
				list[n] = c
				continue
			}
			place[c.ID] = len(list)
			list = append(list, c)
		}
	}
	return list, more, nil
}

// search returns the next contents of a listing. A data center counts those that it has
// listed: so that none is missed when others before it are removed, each request asks for the
// last one of the request before again, which must come first.
func (s *Source) search(ctx context.Context, at *token, limit int) (list []content, more bool, err error) {
	q := url.Values{"cql": {s.query(*at)}, "expand": {s.expand()}}
	again := at.Start > 0
	switch {
	case at.Next != "":
		q.Set("cursor", at.Next)
	case again:
		q.Set("start", strconv.Itoa(at.Start-1))
		limit++
	}
	q.Set("limit", strconv.Itoa(limit))
	var found results[content]
	if err := s.client.get(ctx, searchPath, q, &found); err != nil {
		return nil, false, err
	}
	list = found.Results
	if again {
		if len(list) > 0 && string(list[0].ID) == at.Last {
			list = list[1:]
		} else {
			at.Shifted = true
		}
	}
	if len(list) > 0 {
		at.Last = string(list[len(list)-1].ID)
	}
	next := found.nextQuery()
	if next == nil {
		return list, false, nil
	}
	before := *at
	at.Next = next.Get("cursor")
	at.Start, _ = strconv.Atoi(next.Get("start"))
	if at.Next == "" && at.Start <= before.Start || at.Next != "" && at.Next == before.Next {
		return nil, false, source.Unavailable(fmt.Errorf("the next page of the search, %q, is none", found.Links.Next))
	}
	return list, true, nil
}

// contents returns contents by their ids, without those that the account does not see.
func (s *Source) contents(ctx context.Context, ids map[identifier]bool) (map[identifier]content, error) {
	found := map[identifier]content{}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(ids)), perRequest/2) {
		var list results[content]
		q := url.Values{"cql": {"id in (" + join(part) + ")"}, "expand": {s.expand()}, "limit": {strconv.Itoa(len(part))}}
		err := s.client.get(ctx, searchPath, q, &list)
		if err != nil && !knowledge.IsCode(err, knowledge.CodeInvalid) { // else one of them is gone: each is asked for by itself
			return nil, err
		}
		for _, c := range list.Results {
			found[c.ID] = c
		}
	}
	return found, s.addMissing(ctx, ids, found)
}

func join(ids []identifier) string {
	var b strings.Builder
	for n, id := range ids {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(id))
	}
	return b.String()
}

// addMissing adds the contents that a search did not find: its index may lack them.
func (s *Source) addMissing(ctx context.Context, ids map[identifier]bool, found map[identifier]content) error {
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if _, there := found[id]; there {
			continue
		}
		var c content
		err := s.client.get(ctx, "rest/api/content/"+url.PathEscape(string(id)), url.Values{"expand": {s.expand()}}, &c)
		switch {
		case err == nil:
			found[id] = c
		case !knowledge.IsCode(err, knowledge.CodeNotFound) && !knowledge.IsCode(err, knowledge.CodeForbidden):
			return err
		}
	}
	return nil
}

// pageOf returns the page of contents. Of changes it names those that are no documents any
// more.
func (s *Source) pageOf(ctx context.Context, list []content, all bool) (page source.Page, err error) {
	needed := map[identifier]bool{}
	for _, c := range list {
		if c.Type == kindAttachment && c.Container != nil {
			needed[c.Container.ID] = true
		}
	}
	containers, err := s.contents(ctx, needed)
	if err != nil {
		return page, err
	}
	r, err := s.readRights(ctx, list, containers)
	if err != nil {
		return page, err
	}
	for _, c := range list {
		var in *content
		if c.Type == kindAttachment && c.Container != nil {
			if container, there := containers[c.Container.ID]; there && container.isDocument() {
				in = &container
			}
		}
		if !c.isDocument() || c.Type == kindAttachment && in == nil {
			if !all {
				page.Removed = append(page.Removed, c.key())
			}
			continue
		}
		o := s.object(c, in)
		if s.follow.Mirror {
			if o.Access, err = r.access(ctx, c, in); err != nil {
				return page, err
			}
		}
		page.Objects = append(page.Objects, o)
	}
	return page, nil
}
