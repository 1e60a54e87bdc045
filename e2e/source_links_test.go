package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/client"
)

// TestLinksOfSourcesFollowRights asks as people who may read a document, opens it without a key by
// the link of its source, and takes the right away. The links of others open it still.
func TestLinksOfSourcesFollowRights(t *testing.T) {
	t.Parallel()
	s := start(t, "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET")
	only := func(kind string, names ...string) map[string]any {
		return map[string]any{"access": map[string]any{"workspace": false, kind: names}}
	}
	lights := s.publishIn(t, "default", "lights", "The northern pier has a lighthouse.", only("users", "ann", "bob"))
	leases := s.publishIn(t, "default", "leases", "The leases of the warehouses end in March.", only("groups", "law", "press", "post"))
	s.putGroups(t, "erin", "press")
	grant := map[string]any{"object": map[string]string{"document_id": lights}, "permission": "read"}
	give := func(user, effect string, ends time.Time) {
		t.Helper()
		grant["subject"], grant["effect"], grant["expires_at"] = map[string]string{"user": user}, effect, ends
		s.addGrant(t, grant)
	}
	key := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "application", "scopes": []string{"read"}})}
	const pier, march = "What is on the northern pier?", "When do the leases of the warehouses end?"
	ann, bob := s.sourceLink(t, pier, "ann", key...), s.sourceLink(t, pier, "bob", key...)
	dan, erin, frank := s.sourceLink(t, march, "", inGroups(t, "dan", "law")...), s.sourceLink(t, march, "", inGroups(t, "erin")...), s.sourceLink(t, march, "", inGroups(t, "frank", "post")...)

	change := func(document string, fields map[string]any) {
		t.Helper()
		if status := s.call(t, "PATCH", "/workspaces/default/documents/"+document, fields, nil); status != http.StatusOK {
			t.Fatalf("change the document: status %d", status)
		}
	}
	answers := func(what, link string, want int) {
		t.Helper()
		if status := s.call(t, "GET", link, nil, nil, "Authorization", ""); status != want {
			t.Errorf("%s: status %d, want %d", what, status, want)
		}
	}
	const opens, closed = http.StatusOK, http.StatusNotFound
	for _, link := range []string{ann, bob, dan, erin, frank} {
		answers("before", link, opens)
	}
	ends := time.Now().Add(10 * time.Second)
	give("carol", "allow", ends)
	carol := s.sourceLink(t, pier, "carol", key...)
	answers("with the grant", carol, opens)
	time.Sleep(time.Until(ends)) // it is the end that is tried
	answers("behind the end of the grant", carol, closed)
	answers("beside the grant", ann, opens)
	change(lights, only("users", "bob"))
	answers("ann lost the access", ann, closed)
	answers("bob has the access", bob, opens)
	give("bob", "deny", time.Now().Add(time.Hour))
	answers("a grant denies it to bob", bob, closed)
	change(leases, only("groups", "press", "post"))
	answers("the group of dan's token lost the access", dan, closed)
	answers("frank's has it", frank, opens)
	s.putGroups(t, "erin")
	endsWithin(t, time.Now(), 2*time.Second, "erin left the group", func() error {
		if status := s.call(t, "GET", erin, nil, nil, "Authorization", ""); status != closed {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
	answers("frank did not", frank, opens)
}

// putGroups makes a reader a member of groups, and of no others.
func (s *server) putGroups(t *testing.T, user string, groups ...string) {
	t.Helper()
	if _, err := s.PutMember(t.Context(), user, client.NewMember{Roles: []string{"reader"}, Groups: groups}); err != nil {
		t.Fatal(err)
	}
}

// inGroups is the header of a reader's token that names its groups.
func inGroups(t *testing.T, user string, groups ...string) []string {
	t.Helper()
	return signed(t, tokenSecret, jwt.MapClaims{"sub": user, "workspace": "default", "exp": time.Now().Add(time.Hour).Unix(), "roles": []string{"reader"}, "groups": groups})
}

// sourceLink asks and returns the path of the answer's one source.
func (s *server) sourceLink(t *testing.T, question, user string, header ...string) string {
	t.Helper()
	body := map[string]any{"text": question, "projectId": "default"}
	if user != "" {
		body["userId"] = user
	}
	var answer struct{ Sources []struct{ URL string } }
	if status := s.call(t, "POST", webhooks+"/query", body, &answer, header...); status != http.StatusOK || len(answer.Sources) != 1 {
		t.Fatalf("%s of %q: status %d, %+v", question, user, status, answer)
	}
	return strings.TrimPrefix(answer.Sources[0].URL, s.ends.API)
}
