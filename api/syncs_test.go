package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const cloudConnection = `{"type":"webdav","options":{"url":"https://cloud.test/remote.php/dav/files/ann/","username":"ann"},"secret":"app-password"}`

// shownSync is what the tests read of a sync.
type shownSync struct {
	ID          string
	RunID       string `json:"run_id"`
	Status      string
	Every       string
	Permissions string
	Include     []string
	NextRun     *string `json:"next_run"`
	LastRun     *struct {
		ID     string
		Status string
	} `json:"last_run"`
	RemoveVanished bool `json:"remove_vanished"`
}

// decoded checks the status of an answer, and decodes it.
func (e *edge) decoded(a answer, status int, into any) {
	e.t.Helper()
	a.want(status)
	if err := json.Unmarshal(a.body, into); err != nil {
		e.t.Fatal(err)
	}
}

// connect makes a connection, and returns its id.
func (e *edge) connect() string {
	e.t.Helper()
	var made struct{ ID string }
	e.decoded(e.do("POST", own+"/connections", e.admin, cloudConnection), 201, &made)
	return made.ID
}

func TestConnections(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.connect()
	shown := e.do("GET", own+"/connections/"+id, e.admin, nil)
	shown.want(200)
	if body := string(shown.body); strings.Contains(body, "app-password") || !strings.Contains(body, `"username":"ann"`) {
		t.Errorf("a connection is shown as %s", body)
	}
	for body, location := range map[string]string{
		`{"type":"ftp","options":{}}`:                                              "body.type",
		`{"type":"webdav","options":{"url":"ftp://x"}}`:                            "body.options.url",
		`{"type":"webdav","options":{"url":"https://x/","subject":"ann"}}`:         "body.options.subject",
		`{"type":"drive","options":{},"secret":"{}"}`:                              "body.secret",
		`{"type":"drive","options":{"username":"ann"},"secret":"{}"}`:              "body.options.username",
		`{"type":"confluence","options":{"url":"wiki"},"secret":"x"}`:              "body.options.url",
		`{"type":"confluence","options":{"url":"https://wiki.test"}}`:              "body.secret",
		`{"type":"notion","options":{}}`:                                           "body.secret",
		`{"type":"notion","options":{"url":"api.notion.com"},"secret":"x"}`:        "body.options.url",
		`{"type":"notion","options":{"username":"ann"},"secret":"x"}`:              "body.options.username",
		`{"type":"crawl","options":{"url":"site.test"}}`:                           "body.options.url",
		`{"type":"crawl","options":{"url":"https://site.test/"},"secret":"x"}`:     "body.secret",
		`{"type":"crawl","options":{"url":"https://site.test/","username":"ann"}}`: "body.options.username",
	} {
		if got := e.do("POST", own+"/connections", e.admin, body).refused(422, knowledge.CodeInvalid); got[0] != location {
			t.Errorf("%s: the error names %v", body, got)
		}
	}
	e.do("POST", own+"/connections", e.editor, cloudConnection).refused(403, knowledge.CodeForbidden)
	e.do("GET", own+"/connections/"+id, e.editor, nil).refused(403, knowledge.CodeForbidden)
	e.do("GET", "/workspaces/other/connections/"+id, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	sync := `{"connection_id":"` + id + `"}`
	e.do("POST", own+"/syncs", e.admin, sync).want(202)
	e.do("DELETE", own+"/connections/"+id, e.admin, nil).refused(409, knowledge.CodeConflict)
}

func TestSyncs(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.connect()
	var y shownSync
	e.decoded(e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+id+`","scope":{"folder":"Handbook"},"every":"15m","permissions":"mirror","include":["**/*.md"]}`), 202, &y)
	if y.Every != "15m" || y.Permissions != "mirror" || !y.RemoveVanished || y.Status != "running" || y.NextRun == nil || y.RunID == "" || y.LastRun == nil || y.LastRun.Status != "running" {
		t.Fatalf("the sync is %+v", y)
	}
	if len(e.work.imports) != 1 || e.work.imports[0].Request.Sync != y.ID || !e.work.imports[0].Request.Mirror || len(e.work.scheduled) != 1 {
		t.Fatalf("started are %+v, scheduled %+v", e.work.imports, e.work.scheduled)
	}
	path := own + "/syncs/" + y.ID
	e.decoded(e.do("POST", path+"/run", e.admin, nil), 202, &y)
	if y.LastRun.ID != e.work.imports[0].Import {
		t.Errorf("a second run %s starts beside the first", y.LastRun.ID)
	}
	e.decoded(e.do("POST", path+"/pause", e.admin, nil), 202, &y)
	if y.Status != "paused" || !e.work.scheduled[1].Paused || len(e.work.pauses) != 1 {
		t.Errorf("paused it is %+v, scheduled %+v", y, e.work.scheduled)
	}
	e.decoded(e.do("POST", path+"/resume", e.admin, nil), 202, &y)
	e.decoded(e.do("PATCH", path, e.admin, `{"every":"2h","include":["*.txt"]}`), 200, &y)
	if y.Every != "2h" || len(y.Include) != 1 || y.Include[0] != "*.txt" || y.Status != "running" {
		t.Errorf("changed it is %+v", y)
	}
	e.do("GET", path, e.editor, nil).want(200)
	e.do("GET", path, e.reader, nil).refused(403, knowledge.CodeForbidden)
	e.do("POST", path+"/run", e.editor, nil).refused(403, knowledge.CodeForbidden)
	e.do("GET", "/workspaces/other/syncs/"+y.ID, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	e.do("DELETE", path, e.admin, nil).want(204)
	e.do("GET", path, e.admin, nil).refused(404, knowledge.CodeNotFound)
	if len(e.work.dropped) != 1 || len(e.work.cancels) != 1 {
		t.Errorf("unscheduled are %v, canceled %v", e.work.dropped, e.work.cancels)
	}
}

func TestSyncsThatAreRefused(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.connect()
	for body, location := range map[string]string{
		`"every":"10s"`:                                  "body.every",
		`"every":"soon"`:                                 "body.every",
		`"scope":{"drive":"x"}`:                          "body.scope.drive",
		`"scope":{"folder":"a/../b"}`:                    "body.scope.folder",
		`"permissions":"mirror","remove_vanished":false`: "body.remove_vanished",
		`"include":["["]`:                                "body.include[0]",
	} {
		if got := e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+id+`",`+body+`}`).refused(422, knowledge.CodeInvalid); got[0] != location {
			t.Errorf("%s: the error names %v", body, got)
		}
	}
	e.do("POST", own+"/syncs", e.admin, `{"connection_id":"none"}`).refused(404, knowledge.CodeNotFound)
	e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+id+`","project_id":"none"}`).refused(404, knowledge.CodeNotFound)
	if len(e.work.imports)+len(e.work.scheduled) > 0 {
		t.Errorf("started are %v, scheduled %v", e.work.imports, e.work.scheduled)
	}
}

// TestScopesOfTypes has scopes and rights that a type of connection does not have.
func TestScopesOfTypes(t *testing.T) {
	t.Parallel()
	e := open(t)
	for connection, wrong := range map[string]map[string]string{
		`{"type":"confluence","options":{"url":"https://wiki.test","username":"ann"},"secret":"x"}`: {
			`"scope":{"folder":"x"}`:               "body.scope.folder",
			`"scope":{"space":"DOC\" or space=X"}`: "body.scope.space",
		},
		`{"type":"notion","options":{},"secret":"x"}`: {
			`"scope":{"space":"DOC"}`:    "body.scope.space",
			`"scope":{"page":"Lamps"}`:   "body.scope.page",
			`"scope":{"database":"abc"}`: "body.scope.database",
			`"scope":{"page":"https://www.notion.so/Lamps-0123456789abcdef0123456789abcdef","database":"0123456789abcdef0123456789abcdef"}`: "body.scope.database",
			`"permissions":"mirror"`: "body.permissions",
		},
		`{"type":"crawl","options":{"url":"https://site.test/"}}`: {
			`"scope":{"space":"DOC"}`: "body.scope.space",
			`"permissions":"mirror"`:  "body.permissions",
		},
	} {
		var made struct{ ID string }
		e.decoded(e.do("POST", own+"/connections", e.admin, connection), 201, &made)
		for body, location := range wrong {
			if got := e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+made.ID+`",`+body+`}`).refused(422, knowledge.CodeInvalid); got[0] != location {
				t.Errorf("%s: the error names %v", body, got)
			}
		}
		e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+made.ID+`"}`).want(202)
	}
}
