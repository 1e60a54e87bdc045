package api_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// shownCheck is what the tests read of the check of a connection.
type shownCheck struct {
	OK      bool
	Error   *struct{ Code, Message string }
	Preview *struct {
		Files, Bytes, Excluded, Hidden int64
		Complete                       bool
		Examples                       []string
		HiddenExamples                 []string `json:"hidden_examples"`
	}
}

// connectTo makes a connection to a fake cloud with a password, and returns its id.
func (e *edge) connectTo(url, password string) string {
	e.t.Helper()
	var made struct{ ID string }
	e.decoded(e.do("POST", own+"/connections", e.admin, `{"type":"webdav","options":{"url":"`+url+`","username":"ann"},"secret":"`+password+`"}`), 201, &made)
	return made.ID
}

// TestConnectionCheck counts what the first run of a sync would take in, and takes in nothing.
func TestConnectionCheck(t *testing.T) {
	t.Parallel()
	e := open(t)
	world := sourcetest.NewWorld("")
	fake := sourcetest.NewWebDAV(world)
	cloud := httptest.NewServer(fake)
	t.Cleanup(cloud.Close)
	folder := world.Create(0, "handbook", true, "")
	for n := range 12 {
		world.Share(world.Create(folder, fmt.Sprintf("note %02d.md", n), false, "0123456789"), []string{"bob"}, nil)
	}
	world.Create(folder, "nobody.md", false, "x")
	world.Create(folder, "photo.jpg", false, "x")
	world.Create(0, "beside.md", false, "x")
	id := e.connectTo(cloud.URL+fake.Base, fake.Password)
	check := func(body any) (got shownCheck) {
		t.Helper()
		e.decoded(e.do("POST", own+"/connections/"+id+"/check", e.admin, body), 200, &got)
		return got
	}
	if got := check(nil); !got.OK || got.Preview != nil {
		t.Errorf("without a sync it is %+v", got)
	}
	got := check(`{"scope":{"folder":"handbook"},"include":["**/*.md"],"permissions":"mirror"}`)
	if p := got.Preview; !got.OK || p == nil || p.Files != 13 || p.Bytes != 121 || p.Excluded != 1 || p.Hidden != 1 || !p.Complete || len(p.Examples) != 10 || len(p.HiddenExamples) != 1 || p.HiddenExamples[0] != "nobody.md" {
		t.Errorf("the place has %+v", p)
	}
	if got := check(`{}`); !got.OK || got.Preview.Files != 15 || got.Preview.Hidden != 0 {
		t.Errorf("all files are %+v", got.Preview)
	}
	if got := check(`{"scope":{"folder":"none"}}`); got.OK || got.Preview != nil || got.Error.Code != "not_found" || !strings.Contains(got.Error.Message, `"none"`) {
		t.Errorf("a folder that is not there: %+v", got.Error)
	}
	if len(e.work.imports)+len(e.work.scheduled) > 0 {
		t.Errorf("the check has started %v, %v", e.work.imports, e.work.scheduled)
	}
	path := own + "/connections/" + id + "/check"
	if got := e.do("POST", path, e.admin, `{"scope":{"drive":"x"}}`).refused(422, knowledge.CodeInvalid); got[0] != "body.scope.drive" {
		t.Errorf("the error names %v", got)
	}
	e.do("POST", path, e.editor, `{}`).refused(403, knowledge.CodeForbidden)
	e.do("POST", "/workspaces/other/connections/"+id+"/check", e.stranger, `{}`).refused(404, knowledge.CodeNotFound)
}

// TestLargePlacesAreCountedInPart has more files than a check lists.
func TestLargePlacesAreCountedInPart(t *testing.T) {
	t.Parallel()
	e := open(t)
	world := sourcetest.NewWorld("ann")
	fake := sourcetest.NewWebDAV(world)
	cloud := httptest.NewServer(fake)
	t.Cleanup(cloud.Close)
	for n := range 2300 {
		world.Create(0, fmt.Sprintf("%d.txt", n), false, "x")
	}
	var got shownCheck
	e.decoded(e.do("POST", own+"/connections/"+e.connectTo(cloud.URL+fake.Base, fake.Password)+"/check", e.admin, `{}`), 200, &got)
	if p := got.Preview; p == nil || p.Complete || p.Files < 2000 || p.Files >= 2300 {
		t.Errorf("the place has %+v", p)
	}
}

// TestAnotherSecret replaces a wrong password by the right one.
func TestAnotherSecret(t *testing.T) {
	t.Parallel()
	e := open(t)
	fake := sourcetest.NewWebDAV(sourcetest.NewWorld("ann"))
	cloud := httptest.NewServer(fake)
	t.Cleanup(cloud.Close)
	id := e.connectTo(cloud.URL+fake.Base, "expired")
	path := own + "/connections/" + id
	var got shownCheck
	e.decoded(e.do("POST", path+"/check", e.admin, nil), 200, &got)
	if got.OK || got.Error.Code != "forbidden" || !strings.Contains(got.Error.Message, "secret of the connection") {
		t.Errorf("a wrong password: %+v", got.Error)
	}
	secret := `{"secret":"` + fake.Password + `"}`
	e.do("PATCH", path, e.editor, secret).refused(403, knowledge.CodeForbidden)
	e.do("PATCH", "/workspaces/other/connections/"+id, e.stranger, secret).refused(404, knowledge.CodeNotFound)
	e.do("PATCH", path, e.admin, `{"secret":""}`).refused(422, knowledge.CodeInvalid)
	changed := e.do("PATCH", path, e.admin, secret)
	changed.want(200)
	if body := string(changed.body); strings.Contains(body, fake.Password) || !strings.Contains(body, `"username":"ann"`) {
		t.Errorf("it is shown as %s", body)
	}
	got = shownCheck{}
	e.decoded(e.do("POST", path+"/check", e.admin, nil), 200, &got)
	if !got.OK || got.Error != nil {
		t.Errorf("the right password: %+v", got.Error)
	}
}

// TestRunsOfASync lists the imports of one sync.
func TestRunsOfASync(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.connect()
	var one, other shownSync
	e.decoded(e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+id+`","scope":{"folder":"Handbook"}}`), 202, &one)
	e.decoded(e.do("POST", own+"/syncs", e.admin, `{"connection_id":"`+id+`"}`), 202, &other)
	var list struct{ Data []struct{ ID string } }
	e.decoded(e.do("GET", own+"/imports?sync_id="+one.ID, e.editor, nil), 200, &list)
	if len(list.Data) != 1 || list.Data[0].ID != one.LastRun.ID {
		t.Errorf("the runs are %+v", list.Data)
	}
	e.do("GET", own+"/imports?sync_id=none", e.editor, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", "/workspaces/other/imports?sync_id="+one.ID, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	var shown struct{ Place string }
	e.decoded(e.do("GET", own+"/syncs/"+one.ID, e.editor, nil), 200, &shown)
	if shown.Place != "https://cloud.test/remote.php/dav/files/ann/Handbook" {
		t.Errorf("its place is %q", shown.Place)
	}
}
