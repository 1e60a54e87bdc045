package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const publication = "/workspaces/default/projects/default/publication"

// published is the answer to a publication.
type published struct {
	Slug, URL, Secret string
	CardURL           string `json:"card_url"`
}

// putPublication publishes project default.
func (s *server) putPublication(t *testing.T, settings map[string]any) (p published) {
	t.Helper()
	body := map[string]any{"slug": "guide", "visibility": "public", "title": "The guide of the harbour"}
	for name, value := range settings {
		body[name] = value
	}
	if status := s.call(t, "PUT", publication, body, &p); status != http.StatusOK {
		t.Fatalf("publish %v: status %d", settings, status)
	}
	return p
}

// visitor is somebody who asks the agent guide.
type visitor struct {
	*server
	header []string
}

// visit returns a new anonymous visitor.
func (s *server) visit(t *testing.T) visitor {
	t.Helper()
	var made struct{ Token string }
	if status := s.call(t, "POST", "/agents/guide/visits", map[string]any{}, &made, "Authorization", ""); status != http.StatusCreated {
		t.Fatalf("visit: status %d", status)
	}
	return visitor{s, []string{"Authorization", "Bearer " + made.Token}}
}

// asked asks a question and returns the run, the conversation and all events of the answer as text.
func (v visitor) asked(t *testing.T, question, conversation string) (run, talk, text string) {
	t.Helper()
	var started struct {
		Run  string `json:"run_id"`
		Talk string `json:"conversation_id"`
	}
	body := map[string]any{"text": question}
	if conversation != "" {
		body["conversation_id"] = conversation
	}
	if status := v.call(t, "POST", "/agents/guide/questions", body, &started, v.header...); status != http.StatusAccepted {
		t.Fatalf("%s: status %d", question, status)
	}
	res, err := v.send(t.Context(), "GET", "/agents/guide/runs/"+started.Run+"/events", nil, v.header...)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(all), "event: completedMessage") {
		t.Fatalf("%s: %v, %.2000s", question, err, all)
	}
	return started.Run, started.Talk, string(all)
}

// status returns the status of a request of the visitor.
func (v visitor) status(t *testing.T, method, path string, body any) int {
	t.Helper()
	return v.call(t, method, path, body, nil, v.header...)
}

// signed returns the header of a visitor whom an application has signed in.
func signed(t *testing.T, secret string, claims jwt.MapClaims) []string {
	t.Helper()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return []string{"Authorization", "Bearer " + token}
}

// person are the claims of a user for an hour.
func person(name string) jwt.MapClaims {
	return jwt.MapClaims{"sub": name, "exp": time.Now().Add(time.Hour).Unix()}
}

// TestVisitorsSeeWhatEverybodyMay publishes a project with documents for some people. An anonymous
// visitor is shown those that the whole workspace may read and that nobody has classified above
// the lowest level, and a signed user those of its own besides. Keys that may read the others are
// shown them.
func TestVisitorsSeeWhatEverybodyMay(t *testing.T) {
	t.Parallel()
	s := start(t)
	const question = "Who keeps the lamp of the lighthouse?"
	for name, more := range map[string]map[string]any{
		"Alder":  nil,
		"Birch":  {"classification": "public"},
		"Cedar":  {"classification": "internal"},
		"Dogwod": {"access": map[string]any{"users": []string{"ann"}}},
		"Elmtre": {"externalUserId": "customer-7"},
		"Firtre": {"externalUserId": "customer-8"},
		"Gorsey": {"access": map[string]any{"groups": []string{"keepers"}}},
	} {
		s.publishIn(t, "default", name, "The lamp of the lighthouse is kept by "+name+".", more)
	}
	made := s.putPublication(t, nil)
	if made.Secret == "" || made.URL != s.ends.API+"/agents/guide" {
		t.Fatalf("published as %+v", made)
	}
	if again := s.putPublication(t, nil); again.Secret != "" {
		t.Error("the secret is shown twice")
	}
	shown := func(text string) (names string) {
		for _, name := range []string{"Alder", "Birch", "Cedar", "Dogwod", "Elmtre", "Firtre", "Gorsey"} {
			if strings.Contains(text, name) {
				names += name[:1]
			}
		}
		return names
	}
	_, _, anonymous := s.visit(t).asked(t, question, "")
	customer := visitor{s, signed(t, made.Secret, person("customer-7"))}
	_, _, own := customer.asked(t, question, "")
	if shown(anonymous) != "AB" || shown(own) != "ABE" {
		t.Errorf("an anonymous visitor is shown %s, and customer-7 %s", shown(anonymous), shown(own))
	}
	for _, leaked := range []string{s.ends.UI, "content?token", "operator"} {
		if value := `"operatorUrl":""`; strings.Contains(strings.ReplaceAll(anonymous, value, ""), leaked) && leaked != "" {
			t.Errorf("the events of a visitor have %q", leaked)
		}
	}
	res, err := s.send(t.Context(), "POST", webhooks+"/query", map[string]any{"text": question, "projectId": "default", "userId": "ann"})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if all, err := io.ReadAll(res.Body); err != nil || shown(string(all)) != "ABCD" {
		t.Errorf("ann is shown %s (%v)", shown(string(all)), err)
	}
}

// TestVisitorsAreApart lets two users and an anonymous visitor ask: nobody reads what another one
// has asked, and each reads its own again.
func TestVisitorsAreApart(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish(t, "lamp", "The lamp of the lighthouse is cleaned every Tuesday.")
	made := s.putPublication(t, nil)
	ann, bob := visitor{s, signed(t, made.Secret, person("ann"))}, visitor{s, signed(t, made.Secret, person("bob"))}
	run, talk, text := ann.asked(t, "When is the lamp cleaned?", "")
	if again, same, _ := ann.asked(t, "And who cleans the lamp?", talk); again == run || same != talk {
		t.Errorf("the second question has the run %s and the conversation %s", again, same)
	}
	_, chunk, _ := strings.Cut(text, `"chunkId":"`)
	chunk, _, _ = strings.Cut(chunk, `"`)
	for path, method := range map[string]string{
		"/conversations/" + talk: "GET", "/runs/" + run + "/events?after=100000": "GET", "/runs/" + run + "/feedback": "POST", "/runs/" + run + "/cancel": "POST",
	} {
		var body any
		if method == "POST" {
			body = map[string]any{}
		}
		if strings.HasSuffix(path, "feedback") {
			body = map[string]any{"rating": "up"}
		}
		if got := ann.status(t, method, "/agents/guide"+path, body); got != http.StatusOK && got != http.StatusNoContent && got != http.StatusConflict {
			t.Errorf("ann, %s %s: status %d", method, path, got)
		}
		for _, other := range []visitor{bob, s.visit(t)} {
			if got := other.status(t, method, "/agents/guide"+path, body); got != http.StatusNotFound {
				t.Errorf("another one, %s %s: status %d", method, path, got)
			}
		}
	}
	if got := bob.status(t, "POST", "/agents/guide/questions", map[string]any{"text": "lamp", "conversation_id": talk}); got != http.StatusNotFound {
		t.Errorf("a question in the conversation of another one: status %d", got)
	}
	var list struct{ Data []struct{ ID string } }
	if s.call(t, "GET", "/agents/guide/conversations", nil, &list, bob.header...); len(list.Data) != 0 {
		t.Errorf("bob has the conversations %v", list.Data)
	}
	if s.call(t, "GET", "/agents/guide/conversations", nil, &list, ann.header...); len(list.Data) != 1 || list.Data[0].ID != talk {
		t.Errorf("ann has the conversations %v", list.Data)
	}
	if got := bob.status(t, "GET", "/agents/guide/chunks/"+chunk, nil); got != http.StatusOK { // everybody may read it
		t.Errorf("a passage: status %d", got)
	}
	var feedback struct{ Data []struct{ Rating string } }
	if s.call(t, "GET", "/workspaces/default/runs/"+run+"/feedback", nil, &feedback); len(feedback.Data) != 1 || feedback.Data[0].Rating != "up" {
		t.Errorf("the administrator reads the ratings %v", feedback.Data)
	}
}

// TestAgentsOfAWorkspace lets people and keys of the workspace ask, and nobody else.
func TestAgentsOfAWorkspace(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.publish(t, "lamp", "The lamp of the lighthouse is cleaned every Tuesday.")
	made := s.putPublication(t, map[string]any{"visibility": "workspace"})
	reader := s.newKey(t, map[string]any{"name": "reader", "role": "reader"})
	auditor := s.newKey(t, map[string]any{"name": "auditor", "role": "auditor"})
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": "second"}, nil); status >= 300 {
		t.Fatalf("project second: status %d", status)
	}
	neighbour := s.newKey(t, map[string]any{"name": "neighbour", "project_id": "second", "scopes": []string{"read"}})
	for name, test := range map[string]struct {
		header []string
		want   int
	}{
		"a key of the workspace":         {[]string{"Authorization", "Bearer " + reader}, http.StatusAccepted},
		"nobody":                         {[]string{"Authorization", ""}, http.StatusUnauthorized},
		"a user of an application":       {signed(t, made.Secret, person("ann")), http.StatusUnauthorized},
		"a key without the right to ask": {[]string{"Authorization", "Bearer " + auditor}, http.StatusForbidden},
		"a key of another project":       {[]string{"Authorization", "Bearer " + neighbour}, http.StatusNotFound},
		"a key of another workspace":     {[]string{"Authorization", "Bearer " + s.otherKey(t)}, http.StatusNotFound},
	} {
		if got := s.call(t, "POST", "/agents/guide/questions", map[string]any{"text": "When is the lamp cleaned?"}, nil, test.header...); got != test.want {
			t.Errorf("%s: status %d, want %d", name, got, test.want)
		}
	}
	if got := s.call(t, "POST", "/agents/guide/visits", map[string]any{}, nil, "Authorization", ""); got != http.StatusUnauthorized {
		t.Errorf("a visit: status %d", got)
	}
	if known, none := s.call(t, "GET", "/agents/guide", nil, nil, "Authorization", ""), s.call(t, "GET", "/agents/guidf", nil, nil, "Authorization", ""); known != none {
		t.Errorf("strangers can tell an agent (%d) from none (%d)", known, none)
	}
	var gallery struct {
		Data []struct{ Slug, Title, URL string }
	}
	if s.call(t, "GET", "/workspaces/default/agents", nil, &gallery, "Authorization", "Bearer "+reader); len(gallery.Data) != 1 || gallery.Data[0].URL != s.ends.API+"/agents/guide" {
		t.Errorf("the gallery has %v", gallery.Data)
	}
	if s.call(t, "GET", "/workspaces/default/agents", nil, &gallery, "Authorization", "Bearer "+neighbour); len(gallery.Data) != 0 {
		t.Errorf("a key of another project sees %v", gallery.Data)
	}
	if got := s.call(t, "PUT", publication, map[string]any{"visibility": "public", "title": "taken"}, nil, "Authorization", "Bearer "+reader); got != http.StatusForbidden {
		t.Errorf("a reader publishes: status %d", got)
	}
}

// TestVisitorsAreLimited counts the requests of each visitor, and those of all to an agent.
func TestVisitorsAreLimited(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.putPublication(t, map[string]any{"limits": map[string]any{"visitorRequestsPerMinute": 3, "requestsPerMinute": 7}})
	ann, bob := s.visit(t), s.visit(t) // two requests to the agent
	accepted := func(v visitor) (n int) {
		for range 10 {
			if v.status(t, "GET", "/agents/guide/conversations", nil) == http.StatusOK {
				n++
			}
		}
		return n
	}
	if n := accepted(ann); n != 3 {
		t.Errorf("%d requests of one visitor are accepted", n)
	}
	if n := accepted(bob); n != 2 { // refused requests of ann do not count
		t.Errorf("%d requests of another one are accepted, where the agent has two left", n)
	}
}
