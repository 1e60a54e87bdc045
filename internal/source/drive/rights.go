package drive

import (
	"context"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// permission is a right of somebody to read a file. All roles of Drive may read.
type permission struct {
	Type    string `json:"type"` // user, group, domain or anyone
	Email   string `json:"emailAddress"`
	Domain  string `json:"domain"`
	Deleted bool   `json:"deleted"`
}

// access returns who may see a file. Drive tells the rights of files in shared drives by a
// request for each.
func (s *Source) access(ctx context.Context, f file) (*knowledge.Access, error) {
	list := f.Permissions
	if f.Drive != "" || s.follow.Scope.Drive != "" {
		var err error
		if list, err = s.permissions(ctx, f.ID); err != nil {
			return nil, err
		}
	}
	a := &knowledge.Access{}
	for _, p := range list {
		address := strings.ToLower(p.Email)
		switch {
		case p.Deleted:
		case p.Type == "user" && address != "":
			a.Users = append(a.Users, address)
		case p.Type == "group" && address != "":
			a.Groups = append(a.Groups, address)
		case p.Type == "domain" && s.isOurs(p.Domain): // anyone in the organisation
			a.Workspace = true
		}
	}
	a.Users, a.Groups = source.Distinct(a.Users), source.Distinct(a.Groups)
	return a, nil
}

// isOurs reports whether a domain is the one of the user for whom the account acts.
func (s *Source) isOurs(domain string) bool {
	_, own, found := strings.Cut(s.follow.Options.Subject, "@")
	return found && strings.EqualFold(domain, own)
}

func (s *Source) permissions(ctx context.Context, id string) (all []permission, err error) {
	q := url.Values{"fields": {"nextPageToken,permissions(" + rightsFields + ")"}, "pageSize": {"100"}}
	for {
		var answer struct {
			Next string       `json:"nextPageToken"`
			List []permission `json:"permissions"`
		}
		err := s.client.get(ctx, "files/"+url.PathEscape(id)+"/permissions", q, &answer)
		if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeForbidden) {
			return nil, nil // it has gone, or its rights are not told: nobody sees it
		}
		if err != nil {
			return nil, err
		}
		all = append(all, answer.List...)
		if answer.Next == "" {
			return all, nil
		}
		q.Set("pageToken", answer.Next)
	}
}
