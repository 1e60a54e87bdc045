package confluence

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// rights are what a page of a listing needs to know who may see its contents. They are read
// after the contents, so that they are not older.
type rights struct {
	*Source
	above  map[identifier]content     // the ancestors
	spaces map[string]audience        // by their keys
	groups map[string]map[string]user // members by the ids of groups
}

// readRights reads the restrictions of what is above contents.
func (s *Source) readRights(ctx context.Context, list []content, containers map[identifier]content) (*rights, error) {
	r := &rights{Source: s, spaces: map[string]audience{}, groups: map[string]map[string]user{}}
	if !s.follow.Mirror {
		return r, nil
	}
	needed := map[identifier]bool{}
	for _, c := range append(slices.Collect(maps.Values(containers)), list...) {
		for _, a := range c.Ancestors {
			needed[a.ID] = true
		}
	}
	var err error
	r.above, err = s.contents(ctx, needed)
	return r, err
}

// access returns who may see a content in a page, or a page itself: those who may see the
// space, and to whom neither it nor a page above it is restricted.
func (r *rights) access(ctx context.Context, c content, in *content) (*knowledge.Access, error) {
	chain := []content{c}
	if in != nil {
		chain, c = append(chain, *in), *in
	}
	for _, a := range c.Ancestors {
		above, there := r.above[a.ID]
		if !there { // nobody knows to whom it is restricted
			return &knowledge.Access{}, nil
		}
		chain = append(chain, above)
	}
	who, err := r.space(ctx, c.Space)
	for n := 0; n < len(chain) && err == nil; n++ {
		who, err = r.both(ctx, who, chain[n].Restrictions.audience())
	}
	if err != nil {
		return nil, err
	}
	return r.named(ctx, who)
}

// named returns an audience as the access of a document.
func (r *rights) named(ctx context.Context, who audience) (*knowledge.Access, error) {
	a := &knowledge.Access{Workspace: who.everybody}
	for _, u := range who.users {
		name, err := r.userName(ctx, u)
		if err != nil {
			return nil, err
		}
		a.Users = append(a.Users, name)
	}
	for id := range who.groups {
		a.Groups = append(a.Groups, r.groupPrefix()+id)
	}
	a.Users, a.Groups = source.Distinct(a.Users), source.Distinct(a.Groups)
	return a, nil
}

// space returns who may see a space.
func (r *rights) space(ctx context.Context, of space) (audience, error) {
	if who, known := r.spaces[of.Key]; known {
		return who, nil
	}
	public, err := r.client.isPublic(ctx, `space = "`+of.Key+`"`)
	who := audienceOf(true, nil, nil)
	if err == nil && !public {
		who, err = r.spaceAudience(ctx, of)
	}
	if knowledge.IsCode(err, knowledge.CodeForbidden) || knowledge.IsCode(err, knowledge.CodeNotFound) {
		return who, knowledge.Errorf(knowledge.CodeForbidden, "Confluence does not tell who may see the space %q: make the account of the connection an administrator of the space; a data center needs Confluence 9.1 or later", of.Key)
	}
	if err == nil {
		r.spaces[of.Key] = who
	}
	return who, err
}

// permission is a right in a space. The cloud and a data center use other words.
type permission struct {
	Operation struct {
		Key    string `json:"key"`
		DCKey  string `json:"operationKey"`
		Target string `json:"targetType"`
	} `json:"operation"`
	Principal struct { // in the cloud
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"principal"`
	Subject struct { // in a data center
		Type    string `json:"type"`
		Name    string `json:"name"`
		UserKey string `json:"userKey"`
	} `json:"subject"`
}

// spaceAudience reads who has the right to see a space. Roles, such as all people with a
// licence, name nobody.
func (r *rights) spaceAudience(ctx context.Context, of space) (audience, error) {
	var list []permission
	var err error
	if r.client.username == "" {
		err = r.client.get(ctx, "rest/api/space/"+url.PathEscape(of.Key)+"/permissions", nil, &list)
	} else {
		list, err = r.permissions(ctx, "api/v2/spaces/"+url.PathEscape(string(of.ID))+"/permissions")
	}
	var users []user
	var groups []group
	for _, p := range list {
		if cmp.Or(p.Operation.Key, p.Operation.DCKey) != "read" || p.Operation.Target != "space" {
			continue
		}
		switch cmp.Or(p.Principal.Type, p.Subject.Type) {
		case "user":
			users = append(users, user{AccountID: p.Principal.ID, UserKey: p.Subject.UserKey})
		case "group":
			groups = append(groups, group{ID: p.Principal.ID, Name: p.Subject.Name})
		}
	}
	return audienceOf(false, users, groups), err
}

// perList is how many permissions or members one request asks for.
const perList = 200

// permissions returns the permissions of a list of the cloud.
func (r *rights) permissions(ctx context.Context, path string) (all []permission, err error) {
	q := url.Values{"limit": {strconv.Itoa(perList)}}
	for {
		var list results[permission]
		if err := r.client.get(ctx, path, q, &list); err != nil {
			return nil, err
		}
		all = append(all, list.Results...)
		next := list.nextQuery()
		if next == nil {
			return all, nil
		}
		q.Set("cursor", next.Get("cursor"))
	}
}

// userName returns the name of a user in the access of documents: his mail address if
// Confluence shows it, else his account id in the cloud and his user name in a data center.
func (r *rights) userName(ctx context.Context, u user) (string, error) {
	if u.Email == "" && (u.AccountID != "" || u.Username == "") {
		q := url.Values{"accountId": {u.AccountID}}
		if u.AccountID == "" {
			q = url.Values{"key": {u.UserKey}}
		}
		return r.name(ctx, "user "+u.id(), "rest/api/user", q, func(told named) string {
			return cmp.Or(strings.ToLower(told.Email), u.AccountID, told.Username)
		})
	}
	return cmp.Or(strings.ToLower(u.Email), u.Username), nil
}

// named is a user as Confluence describes it.
type named struct {
	Username string `json:"username"`
	Email    string `json:"email"`
}

// name asks for the name of a user once.
func (s *Source) name(ctx context.Context, id, path string, q url.Values, choose func(named) string) (string, error) {
	s.mu.Lock()
	name, known := s.names[id]
	s.mu.Unlock()
	if known {
		return name, nil
	}
	var told named
	err := s.client.get(ctx, path, q, &told)
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) && !knowledge.IsCode(err, knowledge.CodeForbidden) {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[id] = choose(told)
	return s.names[id], nil
}
