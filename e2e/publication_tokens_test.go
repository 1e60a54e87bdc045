package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TestVisitorsTokens refuses whom the publication does not let in: each refusal has a control that
// is let in.
func TestVisitorsTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish(t, "lamp", "The lamp of the lighthouse is cleaned every Tuesday.")
	made := s.putPublication(t, map[string]any{"allowedOrigins": []string{"https://shop.example"}})
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": "second"}, nil); status >= 300 {
		t.Fatalf("project second: status %d", status)
	}
	var other published
	if status := s.call(t, "PUT", "/workspaces/default/projects/second/publication", map[string]any{"visibility": "public", "title": "Another one"}, &other); status != http.StatusOK || other.Slug != "second" {
		t.Fatalf("publish the second project: status %d, %+v", status, other)
	}
	if status := s.call(t, "PUT", "/workspaces/default/projects/second/publication", map[string]any{"visibility": "public", "title": "Another one", "slug": "guide"}, nil); status != http.StatusConflict {
		t.Errorf("a slug that is taken: status %d", status)
	}
	question := map[string]any{"text": "When is the lamp cleaned?"}
	asks := func(header ...string) int {
		return s.call(t, "POST", "/agents/guide/questions", question, nil, header...)
	}
	anonymous := s.visit(t)
	expired := jwt.MapClaims{"sub": "ann", "exp": time.Now().Add(-time.Hour).Unix()}
	forged := append([]string{}, anonymous.header...)
	forged[1] = forged[1][:len(forged[1])-4] + "AAAA"
	for name, test := range map[string]struct {
		header []string
		want   int
	}{
		"a visitor":                             {anonymous.header, http.StatusAccepted},
		"a signed user":                         {signed(t, made.Secret, person("ann")), http.StatusAccepted},
		"nobody":                                {[]string{"Authorization", ""}, http.StatusUnauthorized},
		"a forged token":                        {forged, http.StatusUnauthorized},
		"an API key":                            {[]string{"Authorization", "Bearer " + s.key}, http.StatusUnauthorized},
		"an expired token":                      {signed(t, made.Secret, expired), http.StatusUnauthorized},
		"a token without an end":                {signed(t, made.Secret, jwt.MapClaims{"sub": "ann"}), http.StatusUnauthorized},
		"a token without a user":                {signed(t, made.Secret, jwt.MapClaims{"exp": person("")["exp"]}), http.StatusUnauthorized},
		"a token that names an anonymous one":   {signed(t, made.Secret, person("visitor:x")), http.StatusUnauthorized},
		"a token signed for another agent":      {signed(t, other.Secret, person("ann")), http.StatusUnauthorized},
		"a page of an origin that is listed":    {append([]string{"Origin", "https://shop.example"}, anonymous.header...), http.StatusAccepted},
		"a page of another origin":              {append([]string{"Origin", "https://shop.example.evil"}, anonymous.header...), http.StatusForbidden},
		"a page without an origin":              {append([]string{"Origin", "null"}, anonymous.header...), http.StatusForbidden},
		"a page of Cairn itself, as it says so": {append([]string{"Origin", s.ends.API}, anonymous.header...), http.StatusAccepted},
	} {
		if got := asks(test.header...); got != test.want {
			t.Errorf("%s: status %d, want %d", name, got, test.want)
		}
	}
	if got := s.call(t, "POST", "/agents/second/questions", question, nil, anonymous.header...); got != http.StatusUnauthorized {
		t.Errorf("a visitor of another agent: status %d", got)
	}
}

// TestVisitorsReachNothingElse sends the tokens of visitors to other routes, and what visitors may
// not choose to their own.
func TestVisitorsReachNothingElse(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.putPublication(t, nil)
	anonymous, ann := s.visit(t), visitor{s, signed(t, made.Secret, person("ann"))}
	question := map[string]any{"text": "When is the lamp cleaned?"}
	for name, paths := range map[*visitor][]string{
		&anonymous: {"/workspaces/default/documents", "/workspaces/default/projects", "/runs/one", "/v1/models", publication},
		&ann:       {"/workspaces/default/documents", "/runs/one"},
	} {
		for _, path := range paths { // fewer than ten wrong credentials, behind which there is 429
			if got := name.status(t, "GET", path, nil); got != http.StatusUnauthorized {
				t.Errorf("%s: status %d", path, got)
			}
		}
		if got := name.status(t, "POST", webhooks+"/query", question); got != http.StatusUnauthorized {
			t.Errorf("a question beside the agent: status %d", got)
		}
		if got := name.status(t, "POST", "/agents/guide/questions", question); got != http.StatusAccepted {
			t.Errorf("a question to the agent: status %d", got)
		}
	}
	override := map[string]any{"text": "lamp", "projectConfigOverride": map[string]any{"ai": map[string]any{"prompt": "${context}"}}}
	if got := anonymous.status(t, "POST", "/agents/guide/questions", override); got != http.StatusUnprocessableEntity {
		t.Errorf("an override: status %d", got)
	}
}

// TestPublicationsEnd replaces the secret of a publication, and ends the publication.
func TestPublicationsEnd(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.putPublication(t, nil)
	anonymous := s.visit(t)
	lists := func(secret string) int {
		return visitor{s, signed(t, secret, person("ann"))}.status(t, "GET", "/agents/guide/conversations", nil)
	}
	if got := lists(made.Secret); got != http.StatusOK {
		t.Fatalf("before: status %d", got)
	}
	fresh := s.putPublication(t, map[string]any{"rotate_secret": true})
	if old, young := lists(made.Secret), lists(fresh.Secret); old != http.StatusUnauthorized || young != http.StatusOK {
		t.Errorf("the earlier secret: status %d, the new one: %d", old, young)
	}
	if got := anonymous.status(t, "GET", "/agents/guide/conversations", nil); got != http.StatusOK {
		t.Errorf("an anonymous visitor: status %d", got)
	}
	if status := s.call(t, "DELETE", publication, nil, nil); status != http.StatusNoContent {
		t.Fatalf("the end: status %d", status)
	}
	if got := anonymous.status(t, "GET", "/agents/guide/conversations", nil); got != http.StatusNotFound {
		t.Errorf("behind the end: status %d", got)
	}
}

// TestSharedConversations reads a conversation by two links: one is withdrawn, the other one ends
// with the conversation. Then both are as links that never were.
func TestSharedConversations(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish(t, "lamp", "The lamp of the lighthouse is cleaned every Tuesday.")
	s.putPublication(t, nil)
	ann, bob := s.visit(t), s.visit(t)
	_, talk, _ := ann.asked(t, "When is the lamp cleaned?", "")
	shares := "/agents/guide/conversations/" + talk + "/shares"
	type shared struct {
		ID, URL string
		Expires time.Time `json:"expires_at"`
	}
	var link, second shared
	if status := s.call(t, "POST", shares, map[string]any{"days": 2}, &link, ann.header...); status != http.StatusCreated || time.Until(link.Expires) > 48*time.Hour || time.Until(link.Expires) < 47*time.Hour {
		t.Fatalf("status %d, %+v", status, link)
	}
	if status := s.call(t, "POST", shares, map[string]any{}, &second, ann.header...); status != http.StatusCreated {
		t.Fatalf("the second link: status %d", status)
	}
	var list struct{ Data []shared }
	if status := s.call(t, "GET", shares, nil, &list, ann.header...); status != http.StatusOK || len(list.Data) != 2 || list.Data[0].URL != second.URL || list.Data[1].ID != link.ID {
		t.Errorf("status %d, the links %+v", status, list.Data)
	}
	for method, path := range map[string]string{"POST": shares, "GET": shares, "DELETE": shares + "/" + link.ID} {
		if got := bob.status(t, method, path, map[string]any{}); got != http.StatusNotFound {
			t.Errorf("another one's %s: status %d", method, got)
		}
	}
	read := func(link shared) (body string, status int) {
		_, token, _ := strings.Cut(link.URL, "#share=")
		res, err := s.send(t.Context(), "GET", "/agents/guide/shared/"+token, nil, "Authorization", "")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		read, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(read), res.StatusCode
	}
	wantOpen := func(link shared) {
		t.Helper()
		if text, status := read(link); status != http.StatusOK || !strings.Contains(text, "When is the lamp cleaned?") || !strings.Contains(text, "Tuesday") {
			t.Errorf("status %d, %q", status, text)
		}
	}
	never, _ := read(shared{URL: "#share=" + strings.Repeat("A", 200)})
	wantClosed := func(link shared) {
		t.Helper()
		if text, status := read(link); status != http.StatusUnauthorized || text != never {
			t.Errorf("status %d, %q; a link that never was: %q", status, text, never)
		}
	}
	wantOpen(link)
	wantOpen(second)
	wantClosed(shared{URL: link.URL[:len(link.URL)-3] + "AAA"})
	_, token, _ := strings.Cut(link.URL, "#share=")
	if got := (visitor{s, []string{"Authorization", "Bearer " + token}}).status(t, "GET", "/agents/guide/conversations", nil); got != http.StatusUnauthorized {
		t.Errorf("the token of a link is taken for that of a visitor: status %d", got)
	}
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
		if got := ann.status(t, "DELETE", shares+"/"+link.ID, nil); got != want {
			t.Errorf("the link is withdrawn: status %d, want %d", got, want)
		}
	}
	wantClosed(link)
	wantOpen(second)
	if got := ann.status(t, "DELETE", "/agents/guide/conversations/"+talk, nil); got != http.StatusNoContent {
		t.Fatalf("the conversation is deleted: status %d", got)
	}
	wantClosed(second)
}
