package drive

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The Directory API of Google Workspace. A token for it is one of its own: Google refuses a token
// for two scopes if an administrator has delegated only one.
const (
	googleDirectory = "https://admin.googleapis.com"
	scopeMembers    = "https://www.googleapis.com/auth/admin.directory.group.member.readonly"
)

// maxPages bounds the pages of the members of a group, of 200 members each.
const maxPages = 1000

// member is somebody or something in a group.
type member struct {
	Type  string `json:"type"` // USER, EXTERNAL, GROUP or CUSTOMER
	Email string `json:"email"`
}

// Members implements source.Directory. Google lists those in the groups in a group, too, so that
// neither depth nor cycles matter.
func (s *Source) Members(ctx context.Context, group string) (members []string, complete bool, err error) {
	path := s.client.directory + "/admin/directory/v1/groups/" + url.PathEscape(group) + "/members"
	q := url.Values{"includeDerivedMembership": {"true"}, "maxResults": {"200"}}
	complete = true
	for range maxPages {
		var page struct {
			Next string   `json:"nextPageToken"`
			List []member `json:"members"`
		}
		err := source.ReadJSON(ctx, func() (*http.Response, error) { return s.client.request(ctx, scopeMembers, path+"?"+q.Encode()) },
			func(answer *http.Response) error { return untold(answer, group) }, &page)
		if err != nil {
			return nil, false, err
		}
		for _, m := range page.List {
			switch {
			case m.Type == "GROUP": // its members are in the list
			case m.Email == "": // everybody in the organisation
				complete = false
			default:
				members = append(members, strings.ToLower(m.Email))
			}
		}
		if page.Next == "" {
			return source.Distinct(members), complete, nil
		}
		q.Set("pageToken", page.Next)
	}
	return nil, false, knowledge.Errorf(knowledge.CodeTooLarge, "the group %s has more members than are read", group)
}

// untold returns the error for a group whose members Google does not tell.
func untold(answer *http.Response, group string) error {
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		return source.Unavailable(errToken)
	case http.StatusForbidden:
		if isLimit(reasonOf(answer)) {
			return source.Throttled(source.RetryAfter(answer.Header))
		}
		return errUntold("the group " + group)
	}
	return source.FromStatus(answer.StatusCode, answer.Header, "group", group)
}

func errUntold(what string) error {
	return knowledge.Errorf(knowledge.CodeForbidden, "Google does not tell who is in %s: enable the Admin SDK API in the project of the service account, "+
		"delegate the scope %s to its client id, and let options.subject be a user who may read groups", what, scopeMembers)
}

// TryDirectory implements source.TriedDirectory. It asks for a group that is not there.
func (s *Source) TryDirectory(ctx context.Context) error {
	_, domain, acts := strings.Cut(s.client.subject, "@")
	if !acts { // the Directory API answers users only
		return errUntold("groups")
	}
	_, _, err := s.Members(ctx, "cairn-check@"+domain)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		return nil
	case knowledge.IsCode(err, knowledge.CodeForbidden): // also of the token
		return errUntold("groups")
	}
	return err
}
