package e2e_test

import (
	"net/http"
	"strings"
	"testing"
)

// ofProject are routes that show a thing of the project of the things: its permission and its path.
var ofProject = [][2]string{
	{"evaluations.read", "/evaluations/{evaluation}"},
	{"evaluations.read", "/evaluations/{evaluation}/compare/{candidate}"},
	{"evaluations.read", "/test_sets/{test_set}"},
	{"syncs.read", "/syncs/{sync}"},
	{"projects.read", "/projects/{project}/publication"},
	{"runs.admin", "/insights?project_id={project}"},
}

// wantThings opens what a project has beside documents, and its agent, which the workspace may use. Who
// has the permission gets each thing in the workspace and in its project, and it is not there for
// others.
func (s *server) wantThings(t *testing.T, c caller, things things) {
	t.Helper()
	isElsewhere := c.place == otherProject || c.place == otherWorkspace
	for _, r := range ofProject {
		want := http.StatusOK
		switch {
		case !c.has(r[0]):
			want = http.StatusForbidden
		case isElsewhere:
			want = http.StatusNotFound
		}
		s.wantThing(t, c, "/workspaces/"+c.workspace+things.in(r[1]), want)
	}
	ofAgent := http.StatusOK
	switch {
	case isElsewhere:
		ofAgent = http.StatusNotFound
	case !c.has("questions.ask"):
		ofAgent = http.StatusForbidden
	}
	for _, path := range []string{"/agents/{slug}", "/agents/{slug}/conversations"} {
		s.wantThing(t, c, things.in(path), ofAgent)
	}
}

func (s *server) wantThing(t *testing.T, c caller, path string, want int) {
	t.Helper()
	res, answer := s.raw(t, "GET", path, "", nil, "Authorization", "Bearer "+c.key)
	if res.StatusCode != want {
		t.Errorf("%s: status %d, want %d: %.300s", path, res.StatusCode, want, answer)
	}
	if want != http.StatusOK && strings.Contains(string(answer), "lamp") {
		t.Errorf("%s: the refusal has words of the thing: %s", path, answer)
	}
}
