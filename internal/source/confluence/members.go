package confluence

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// maxMembers bounds the members of a group that are read. Whether others are in it is not
// known, so it lets them see nothing.
const maxMembers = 20_000

// groupPrefix is how the names of groups begin in the access of documents. Confluence chooses
// the ids and names of groups, so a group is one of its connection alone: the group "staff" of a
// token, or of another Confluence, is another one.
func (s *Source) groupPrefix() string { return "confluence:" + s.follow.Connection + ":" }

// Members implements source.Directory. Confluence lists those in the groups in a group, too, so
// that neither depth nor cycles matter. A member whose mail address the cloud hides is named by
// the account id, as in the access of documents, and counts as one who is not told.
func (s *Source) Members(ctx context.Context, name string) (members []string, complete bool, err error) {
	id, is := strings.CutPrefix(name, s.groupPrefix())
	if !is {
		return nil, false, knowledge.NotFound("group", name)
	}
	g := group{ID: id}
	if s.client.username == "" {
		g = group{Name: id}
	}
	users, complete, err := s.listMembers(ctx, g)
	for _, u := range users {
		name := cmp.Or(strings.ToLower(u.Email), u.AccountID, u.Username)
		complete = complete && name != "" && (u.Email != "" || u.AccountID == "")
		members = append(members, name)
	}
	return source.Distinct(members), complete, err
}

// members returns the members of a group by their ids. A group that the account does not see
// has none.
func (r *rights) members(ctx context.Context, g group) (map[string]user, error) {
	if known, ok := r.groups[g.id()]; ok {
		return known, nil
	}
	members, _, err := r.listMembers(ctx, g)
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) && !knowledge.IsCode(err, knowledge.CodeForbidden) {
		return nil, err
	}
	delete(members, "")
	r.groups[g.id()] = members
	return members, nil
}

// listMembers asks for the members of a group. complete is false if there are more than are
// read.
func (s *Source) listMembers(ctx context.Context, g group) (members map[string]user, complete bool, err error) {
	path := "rest/api/group/" + url.PathEscape(g.Name) + "/member"
	if g.ID != "" {
		path = "rest/api/group/" + url.PathEscape(g.ID) + "/membersByGroupId"
	}
	members = map[string]user{}
	for start := 0; start < maxMembers; {
		var list results[user]
		if err := s.client.get(ctx, path, url.Values{"start": {strconv.Itoa(start)}, "limit": {strconv.Itoa(perList)}}, &list); err != nil {
			return nil, false, err
		}
		for _, u := range list.Results {
			members[u.id()] = u
		}
		limit := perList
		if list.Limit > 0 { // Confluence may give fewer than are asked for
			limit = min(limit, list.Limit)
		}
		if len(list.Results) < limit && list.Links.Next == "" {
			return members, true, nil
		}
		start += limit
	}
	return members, false, nil
}
