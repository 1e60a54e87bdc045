package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

const scimPatch = `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[%s]}`

// provision sends a SCIM request with a token of the workspace, and returns the id in the answer.
func (s *server) provision(t *testing.T, token, method, path, body string) string {
	t.Helper()
	res, answer := s.raw(t, method, "/scim/v2"+path, "application/scim+json", []byte(body), "Authorization", "Bearer "+token)
	if res.StatusCode >= 300 {
		t.Fatalf("%s %s: status %d: %s", method, path, res.StatusCode, answer)
	}
	var made struct{ ID string }
	if len(answer) > 0 {
		decode(t, answer, &made)
	}
	return made.ID
}

// scimToken makes a role for provisioning and a key of it.
func (s *server) scimToken(t *testing.T) string {
	t.Helper()
	var table struct{ Roles map[string][]string }
	if status := s.call(t, "GET", "/workspaces/default/permissions", nil, &table); status != http.StatusOK {
		t.Fatalf("permissions: status %d", status)
	}
	body := map[string]any{"permissions": append(table.Roles["reader"], "members.read", "members.write")}
	if status := s.call(t, "PUT", "/workspaces/default/roles/provisioning", body, nil); status != http.StatusOK {
		t.Fatalf("role: status %d", status)
	}
	return s.newKey(t, map[string]any{"name": "identity provider", "role": "provisioning"})
}

// provisionUser provisions a user.
func (s *server) provisionUser(t *testing.T, token, name string) string {
	t.Helper()
	return s.provision(t, token, "POST", "/Users", fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":%q,"active":true}`, name))
}

// searchOf returns how many passages a user's search finds, -1 if he may not search.
func (s *server) searchOf(t *testing.T, user string) int {
	t.Helper()
	var found struct{ Chunks []json.RawMessage }
	status := s.call(t, "POST", webhooks+"/retrieve-context", map[string]any{"text": "What is on the northern pier?"}, &found, tokenOf(t, user)...)
	if status == http.StatusForbidden || status == http.StatusUnauthorized {
		return -1
	}
	if status != http.StatusOK {
		t.Fatalf("a search of %s: status %d", user, status)
	}
	return len(found.Chunks)
}

// wantPassages waits until the search of a user finds a number of passages.
func (s *server) wantPassages(t *testing.T, user string, want int) {
	t.Helper()
	await(t, 5*time.Second, fmt.Sprintf("the search of %s finds %d passages", user, want), func(context.Context) error {
		if got := s.searchOf(t, user); got != want {
			return fmt.Errorf("it finds %d", got)
		}
		return nil
	})
}

// TestSCIMRemovesOneMember removes a member of a group in every form that identity providers
// send. Each time his search finds nothing of the group within five seconds and still what is for
// everybody, and another member still finds both.
func TestSCIMRemovesOneMember(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL(), "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET")...)
	token := s.scimToken(t)
	ann, bob := s.provisionUser(t, token, "ann"), s.provisionUser(t, token, "bob")
	group := s.provision(t, token, "POST", "/Groups", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"keepers"}`)
	body := map[string]any{"name": "lights", "content": map[string]string{"text": "The northern pier has a lighthouse."}, "access": map[string]any{"groups": []string{"keepers"}}}
	var taken accepted
	if status := s.call(t, "POST", webhooks+"/document?wait=true", body, &taken); status != http.StatusOK {
		t.Fatalf("document: status %d", status)
	}
	s.publish(t, "pier", "The northern pier has a crane.") // which everybody finds
	member := func(id string) string { return fmt.Sprintf(`{"value":%q}`, id) }
	both := fmt.Sprintf(scimPatch, fmt.Sprintf(`{"op":"replace","path":"members","value":[%s,%s]}`, member(ann), member(bob)))
	for name, removal := range map[string]string{
		"by value, as Entra ID does":  fmt.Sprintf(`{"op":"Remove","path":"members","value":[{"$ref":null,"value":%q}]}`, ann),
		"by value alone":              fmt.Sprintf(`{"op":"Remove","path":"members","value":[%s]}`, member(ann)),
		"by one value without a list": fmt.Sprintf(`{"op":"remove","path":"members","value":%s}`, member(ann)),
		"by a filter, as Okta does":   fmt.Sprintf(`{"op":"remove","path":"members[value eq \"%s\"]"}`, ann),
		"by replacing all members":    fmt.Sprintf(`{"op":"replace","path":"members","value":[%s]}`, member(bob)),
		"by replacing without a path": fmt.Sprintf(`{"op":"Replace","value":{"members":[%s]}}`, member(bob)),
	} {
		s.provision(t, token, "PATCH", "/Groups/"+group, both)
		s.wantPassages(t, "ann", 2)
		s.wantPassages(t, "bob", 2)
		t.Log(name)
		s.provision(t, token, "PATCH", "/Groups/"+group, fmt.Sprintf(scimPatch, removal))
		s.wantPassages(t, "ann", 1)
		s.wantPassages(t, "bob", 2)
	}
	s.provision(t, token, "PATCH", "/Groups/"+group, both)
	s.wantPassages(t, "ann", 2)
	replaced := fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"keepers","members":[%s]}`, member(bob))
	s.provision(t, token, "PUT", "/Groups/"+group, replaced)
	s.wantPassages(t, "ann", 1)
	s.wantPassages(t, "bob", 2)
	s.provision(t, token, "DELETE", "/Users/"+ann, "")
	s.wantPassages(t, "ann", -1)
	s.wantPassages(t, "bob", 2)
	s.provision(t, token, "DELETE", "/Groups/"+group, "")
	s.wantPassages(t, "bob", 1)
}

// TestSCIMDeactivationEndsEverything deactivates a user in the middle of an answer. Within two
// seconds his streams have ended, with his token and by a link, and his key and his token are
// refused, although the token has a role of its own. Another user still finds.
func TestSCIMDeactivationEndsEverything(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{Tokens: 600, TokenDelay: 50 * time.Millisecond}).URL(), "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET")...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	token := s.scimToken(t)
	ann := s.provisionUser(t, token, "ann")
	s.provisionUser(t, token, "bob")
	claims := jwt.MapClaims{"sub": "ann", "workspace": "default", "roles": []string{"admin"}, "exp": time.Now().Add(time.Hour).Unix()}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(tokenSecret))
	if err != nil {
		t.Fatal(err)
	}
	bearer := []string{"Authorization", "Bearer " + signed}
	var key client.Key
	if status := s.call(t, "POST", "/workspaces/default/keys", map[string]any{"name": "hers", "scopes": []string{"read"}}, &key, bearer...); status != http.StatusCreated {
		t.Fatalf("key: status %d", status)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	streams := s.openStreams(ctx, t, bearer)
	s.provision(t, token, "PATCH", "/Users/"+ann, fmt.Sprintf(scimPatch, `{"op":"Replace","path":"active","value":"False"}`))
	off := time.Now()
	for _, stream := range streams {
		rest, err := io.ReadAll(stream.Body)
		if took := time.Since(off); err != nil || took > 2*time.Second || bytes.Contains(rest, []byte("completedMessage")) {
			t.Errorf("the stream ended after %v: %v", took, err)
		}
	}
	if status := s.call(t, "GET", "/workspaces/default/projects", nil, nil, "Authorization", "Bearer "+key.Secret); status != http.StatusUnauthorized {
		t.Errorf("her key: status %d", status)
	}
	endsWithin(t, off, 2*time.Second, "her token is refused", func() error {
		if status := s.call(t, "GET", "/workspaces/default/projects", nil, nil, bearer...); status != http.StatusForbidden {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
	if status := s.call(t, "GET", streams[1].Request.URL.RequestURI(), nil, nil, "Authorization", ""); status != http.StatusUnauthorized {
		t.Errorf("her link: status %d", status)
	}
	s.wantPassages(t, "bob", 1)
}

// openStreams asks a question and reads its first events, by the answer and by the link.
func (s *server) openStreams(ctx context.Context, t *testing.T, header []string) []*http.Response {
	t.Helper()
	answer, err := s.send(ctx, "POST", webhooks+"/query", map[string]any{"text": "What is on the northern pier?", "projectId": "default", "sse": true}, header...)
	if err != nil {
		t.Fatal(err)
	}
	link := strings.TrimPrefix(answer.Header.Get("Cairn-Events-Url"), s.ends.API)
	byLink, err := s.send(ctx, "GET", link, nil, "Authorization", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []*http.Response{answer, byLink} {
		t.Cleanup(func() { _ = stream.Body.Close() })
		if _, err := io.ReadFull(stream.Body, make([]byte, 20)); err != nil || stream.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %v", stream.StatusCode, err)
		}
	}
	return []*http.Response{answer, byLink}
}
