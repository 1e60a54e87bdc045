package api_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestSCIMTranscripts sends what identity providers send. A transcript has requests, each with
// its answer behind it: the status, a name for the id in the answer, and members that the
// answer has. null stands for one that it has not, and a number in the place of a list for its
// length.
func TestSCIMTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scim/*.txtar")
	if err != nil || len(files) < 2 {
		t.Fatalf("transcripts %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e := open(t)
			key := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
			ids := map[string]string{}
			for i := 0; i+1 < len(archive.Files); i += 2 {
				e.wantExchange(key, archive.Files[i], archive.Files[i+1], ids)
			}
		})
	}
}

// wantExchange sends a request of a transcript and compares the answer.
func (e *edge) wantExchange(key string, request, want txtar.File, ids map[string]string) {
	e.t.Helper()
	filled := func(text string) string {
		for name, id := range ids {
			text = strings.ReplaceAll(text, "{"+name+"}", id)
		}
		return text
	}
	method, path, _ := strings.Cut(filled(request.Name), " ")
	var body any
	if len(request.Data) > 0 {
		body = filled(string(request.Data))
	}
	got := e.do(method, "/scim/v2"+path, key, body, "Content-Type", "application/scim+json")
	status, name, _ := strings.Cut(want.Name, " ")
	if strconv.Itoa(got.status) != status {
		e.t.Fatalf("%s: status %d, want %s: %s", request.Name, got.status, status, got.body)
	}
	if got.status == 204 {
		return
	}
	var answer, members any
	if err := json.Unmarshal(got.body, &answer); err != nil {
		e.t.Fatalf("%s: %v: %s", request.Name, err, got.body)
	}
	if name != "" {
		ids[name], _ = answer.(map[string]any)["id"].(string)
	}
	if err := json.Unmarshal([]byte(filled(string(want.Data))), &members); err != nil {
		e.t.Fatalf("%s: %v: %s", want.Name, err, want.Data)
	}
	if problem := lacks(answer, members); problem != "" || !strings.HasPrefix(got.header.Get("Content-Type"), "application/scim+json") {
		e.t.Errorf("%s %s: %s, type %s: %s", request.Name, want.Name, problem, got.header.Get("Content-Type"), got.body)
	}
}

// lacks returns what a value lacks of the wanted one, "" = nothing.
func lacks(got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%v is no object", got)
		}
		for name, one := range w {
			if problem := lacks(object[name], one); problem != "" {
				return name + ": " + problem
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(w) {
			return fmt.Sprintf("%v has not the length of %v", got, want)
		}
		for i := range w {
			if problem := lacks(list[i], w[i]); problem != "" {
				return problem
			}
		}
		return ""
	case float64:
		if list, ok := got.([]any); ok && float64(len(list)) == w {
			return ""
		}
	}
	if got != want {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	return ""
}

const scimUser = `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":%q}`

// TestSCIMMembers looks at provisioned users as members.
func TestSCIMMembers(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PUT", own+"/members/Bob@Halden.example", e.admin, `{"roles":["editor"],"groups":["by hand"]}`).want(200)
	bob := e.do("POST", own+"/scim/v2/Users", e.admin, fmt.Sprintf(scimUser, "Bob@Halden.example")).want(201)["id"].(string)
	ann := e.do("POST", "/scim/v2/Users", e.admin, fmt.Sprintf(scimUser, "ann")).want(201)["id"].(string)
	group := fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"Keepers","members":[{"value":%q},{"value":%q}]}`, ann, bob)
	e.do("POST", "/scim/v2/Groups", e.admin, group).want(201)
	member := func(name, want string) {
		t.Helper()
		m := e.do("GET", own+"/members/"+name, e.admin, nil).want(200)
		if got := fmt.Sprint(m["roles"], m["groups"], m["provisioned_groups"], m["active"]); got != want {
			t.Errorf("member %s is %s, want %s", name, got, want)
		}
	}
	member("Bob@Halden.example", "[editor] [by hand] [Keepers] true")
	member("ann", "[reader] [] [Keepers] true")
	e.do("DELETE", own+"/members/ann", e.admin, nil).refused(409, knowledge.CodeConflict)
	patch := func(op string) answer {
		return e.do("PATCH", "/scim/v2/Users/"+ann, e.admin, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[`+op+`]}`)
	}
	patch(`{"op":"add","path":"roles","value":[{"value":"auditor"},{"value":"User"}]}`).want(200)
	member("ann", "[auditor] [] [Keepers] true")
	patch(`{"op":"replace","path":"active","value":false}`).want(200)
	member("ann", "[auditor] [] [Keepers] false")
	e.do("PUT", own+"/members/ann", e.admin, `{"roles":["reader"]}`).want(200)
	member("ann", "[reader] [] [Keepers] false")
	patch(`{"op":"replace","value":{"active":true,"userName":"anna"}}`).want(200)
	member("anna", "[reader] [] [Keepers] true")
	e.do("GET", own+"/members/ann", e.admin, nil).refused(404, knowledge.CodeNotFound)
	e.do("DELETE", "/scim/v2/Users/"+ann, e.admin, nil).want(204)
	member("anna", "[] [] [] false")
	e.do("DELETE", own+"/members/anna", e.admin, nil).want(204)
	e.do("PUT", own+"/members/robot", e.admin, `{"kind":"service","roles":["reader"]}`).want(200)
	if got := e.do("POST", "/scim/v2/Users", e.admin, fmt.Sprintf(scimUser, "robot")); got.status != 409 {
		t.Errorf("a person with the name of a service account: status %d: %s", got.status, got.body)
	}
}

// TestSCIMRights asks who may provision, and with which roles.
func TestSCIMRights(t *testing.T) {
	t.Parallel()
	e := open(t)
	ann := e.do("POST", "/scim/v2/Users", e.admin, fmt.Sprintf(scimUser, "ann")).want(201)["id"].(string)
	permissions := func(names ...knowledge.Permission) string {
		return e.key(store.Key{Workspace: "default", Permissions: names})
	}
	few := permissions(knowledge.MembersRead, knowledge.MembersWrite)
	for key, want := range map[string]int{e.reader: 403, e.editor: 403, permissions(knowledge.MembersRead): 403, few: 403, "": 401, e.admin: 201} {
		got := e.do("POST", "/scim/v2/Users", key, fmt.Sprintf(scimUser, "bob"))
		if got.status != want || !strings.HasPrefix(got.header.Get("Content-Type"), "application/scim+json") {
			t.Errorf("status %d of type %s, want %d: %s", got.status, got.header.Get("Content-Type"), want, got.body)
		}
	}
	role := `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"add","path":"roles","value":[{"value":"admin"}]}]}`
	if got := e.do("PATCH", "/scim/v2/Users/"+ann, few, role); got.status != 403 {
		t.Errorf("a key that is no administrator gives the role: status %d: %s", got.status, got.body)
	}
	e.do("PATCH", "/scim/v2/Users/"+ann, e.admin, role).want(200)
	for _, path := range []string{"/scim/v2/Users/" + ann, own + "/scim/v2/Users/" + ann} {
		for method, body := range map[string]any{"GET": nil, "PUT": fmt.Sprintf(scimUser, "taken"), "PATCH": role, "DELETE": nil} {
			if got := e.do(method, path, e.stranger, body); got.status != 404 {
				t.Errorf("another workspace, %s %s: status %d: %s", method, path, got.status, got.body)
			}
		}
	}
	e.do("GET", "/scim/v2/Users/"+ann, e.admin, nil).want(200)
	list := e.do("GET", "/scim/v2/Users", e.stranger, nil).want(200)
	if list["totalResults"] != 0.0 {
		t.Errorf("another workspace lists %v", list)
	}
}

// TestSCIMDeactivation sees that a user who is deactivated loses the keys that he made, and
// another user does not.
func TestSCIMDeactivation(t *testing.T) {
	t.Parallel()
	e := open(t)
	ids, keys := map[string]string{}, map[string]string{}
	for _, name := range []string{"ann", "bob"} {
		ids[name] = e.do("POST", "/scim/v2/Users", e.admin, fmt.Sprintf(scimUser, name)).want(201)["id"].(string)
		keys[name] = e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, CreatedBy: store.UserMaker + name})
		keys[name+"'s child"] = e.do("POST", own+"/keys", keys[name], `{"name":"a","scopes":["read"]}`).want(201)["key"].(string)
	}
	off := `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"Replace","path":"active","value":"False"}]}`
	e.do("PATCH", "/scim/v2/Users/"+ids["ann"], e.admin, off).want(200)
	for name, key := range keys {
		want := 200
		if strings.HasPrefix(name, "ann") {
			want = 401
		}
		if got := e.do("GET", own+"/projects", key, nil); got.status != want {
			t.Errorf("the key of %s: status %d, want %d", name, got.status, want)
		}
	}
	asks := func(user string) int {
		return e.do("GET", own+"/documents?userId="+user, e.reader, nil).status
	}
	until(t, "a key acts for the user who was deactivated", func() bool { return asks("ann") == 403 })
	if status := asks("bob"); status != 200 {
		t.Errorf("a key that acts for another user: status %d", status)
	}
}
