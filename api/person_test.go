package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// people are the four names of the two kinds of people.
var people = []struct{ name, other, acl string }{
	{"userId", "user_id", "u:ann"}, {"user_id", "userId", "u:ann"}, {"externalUserId", "external_user_id", "x:ann"}, {"external_user_id", "externalUserId", "x:ann"},
}

// TestSpellingsOfPeople sends every name of a person to every door whose body takes one, and
// asks for whom the request acted.
func TestSpellingsOfPeople(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	for door, d := range map[string]struct{ method, path, body string }{
		"question":      {"POST", hooks + "/query", `{"text":"a"`},
		"rag_search":    {"POST", "/tools/rag_search", `{"query":"a"`},
		"chat":          {"POST", chatPath, `{"model":"project:default","messages":[{"role":"user","content":"a"}]`},
		"response":      {"POST", "/v1/responses", `{"model":"project:default","input":"a"`},
		"conversation":  {"POST", own + "/conversations", `{"title":"a"`},
		"retrieval":     {"POST", hooks + "/retrieve-context", `{"text":"a"`},
		"preferences":   {"PUT", "/preferences", `{"rag":{}`},
		"document":      {"POST", hooks + "/document", `{"content":{"text":"a"}`},
		"web_search":    {"POST", "/tools/web_search", `{"query":"a"`},                                    // which the instance does not have
		"chat_by_model": {"POST", chatPath, `{"model":"none","messages":[{"role":"user","content":"a"}]`}, // which is unknown
	} {
		for _, person := range people {
			if door == "document" && person.acl[0] == 'u' { // access names people of the workspace
				continue
			}
			t.Run(door+"/"+person.name, func(t *testing.T) {
				t.Parallel()
				send := func(names ...string) answer {
					return e.do(d.method, d.path, e.editor, d.body+","+strings.Join(names, ",")+"}")
				}
				ann, same, bob := `"`+person.name+`":"ann"`, `"`+person.other+`":"ann"`, `"`+person.other+`":"bob"`
				for _, got := range []answer{send(ann), send(ann, same)} {
					if unserved := door == "chat_by_model" || door == "web_search"; got.status == 422 || !unserved && got.status >= 300 {
						t.Fatalf("%d %s", got.status, got.body)
					}
				}
				both := []string{"body." + person.name, "body." + person.other}
				slices.Sort(both)
				refused := send(ann, bob)
				if strings.HasPrefix(d.path, "/v1/") {
					if text := string(refused.body); refused.status != 422 || !strings.Contains(text, person.name) || !strings.Contains(text, person.other) {
						t.Errorf("%d %s", refused.status, text)
					}
					return
				}
				locations := refused.refused(422, knowledge.CodeInvalid)
				slices.Sort(locations)
				if diff := cmp.Diff(both, locations); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestActingByEverySpelling reads what only one person may read, by every name of that
// person in bodies and in query parameters.
func TestActingByEverySpelling(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	for _, person := range people {
		t.Run(person.name, func(t *testing.T) {
			ann := `"` + person.name + `":"ann"`
			conversations := []string{e.do("POST", own+"/conversations", e.reader, `{`+ann+`}`).want(201)["id"].(string)}
			conversations = append(conversations, e.do("POST", hooks+"/query", e.reader, `{"text":"a",`+ann+`}`).want(200)["conversationId"].(string))
			for _, id := range conversations {
				for _, other := range people {
					got := e.do("GET", own+"/conversations/"+id+"?"+other.name+"=ann", e.reader, nil)
					if same := other.acl == person.acl; same && got.status != 200 || !same && got.status != 404 {
						t.Errorf("%s: %d %s", other.name, got.status, got.body)
					}
				}
			}
		})
	}
}

// TestDocumentsOfACustomer uploads documents for a customer by both names, as JSON and as
// files, also beside query parameters.
func TestDocumentsOfACustomer(t *testing.T) {
	t.Parallel()
	e := open(t)
	asFile := func(key, query, name, user string, more ...part) answer {
		return e.uploadTo(own+"/projects/default/files"+query, key, append(more, part{name, "", user}, file("a.txt", "one")))
	}
	asJSON := func(key, query, name, user string) answer {
		return e.do("POST", hooks+"/document"+query, key, map[string]any{"content": map[string]any{"text": "one"}, name: user})
	}
	for _, name := range []string{"externalUserId", "external_user_id"} {
		t.Run(name, func(t *testing.T) {
			ids := []string{
				asFile(e.editor, "", name, "ann").want(202)["documents"].([]any)[0].(map[string]any)["id"].(string),
				asJSON(e.editor, "", name, "ann").want(202)["id"].(string),
				asJSON(e.editor, "?externalUserId=ann", name, "ann").want(202)["id"].(string),
			}
			for _, id := range ids {
				if v := e.dispatched(id); !slices.Equal(v.ACL, []string{"x:ann"}) {
					t.Errorf("is for %v", v.ACL)
				}
			}
			for _, query := range []string{"?externalUserId=bob", "?userId=ann", "?user_id=bob"} {
				for _, got := range []answer{asFile(e.editor, query, name, "ann"), asJSON(e.editor, query, name, "ann")} {
					if locations := got.refused(422, knowledge.CodeInvalid); !slices.Contains(locations, "body."+name) {
						t.Errorf("%s: %s", query, got.body)
					}
				}
			}
		})
	}
	t.Run("two_customers", func(t *testing.T) {
		got := asFile(e.editor, "", "externalUserId", "ann", part{"external_user_id", "", "bob"})
		if diff := cmp.Diff([]string{"body.externalUserId", "body.external_user_id"}, got.refused(422, knowledge.CodeInvalid)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPeopleThatDoNotGoTogether sends two people in one request.
func TestPeopleThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	for name, test := range map[string]struct {
		method, path, body string
		locations          []string
	}{
		"both_kinds_in_a_body":         {"POST", hooks + "/query", `{"text":"a","userId":"ann","external_user_id":"ann"}`, []string{"body.userId", "body.external_user_id"}},
		"both_kinds_in_a_query":        {"GET", own + "/runs?user_id=ann&externalUserId=ann", "", []string{"query.user_id", "query.externalUserId"}},
		"two_values_in_a_query":        {"GET", own + "/runs?userId=ann&user_id=bob", "", []string{"query.userId", "query.user_id"}},
		"one_parameter_twice":          {"GET", own + "/runs?userId=ann&userId=bob", "", []string{"query.userId"}},
		"a_body_and_a_query":           {"PUT", "/preferences?externalUserId=bob", `{"rag":{},"external_user_id":"ann"}`, []string{"body.external_user_id", "query.externalUserId"}},
		"a_body_and_a_query_of_a_kind": {"PUT", "/preferences?user_id=bob", `{"rag":{},"external_user_id":"ann"}`, []string{"query.userId", "body.external_user_id"}},
		"of_a_run":                     {"GET", "/runs/none/events?userId=ann&user_id=bob", "", []string{"query.userId", "query.user_id"}},
	} {
		t.Run(name, func(t *testing.T) {
			locations := e.do(test.method, test.path, e.editor, test.body).refused(422, knowledge.CodeInvalid)
			slices.Sort(test.locations)
			slices.Sort(locations)
			if diff := cmp.Diff(test.locations, locations); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a_form", func(t *testing.T) {
		got := e.uploadTo(hooks+"/query", e.editor, []part{{"text", "", "a"}, {"user_id", "", "ann"}, {"userId", "", "bob"}})
		if diff := cmp.Diff([]string{"body.userId", "body.user_id"}, got.refused(422, knowledge.CodeInvalid)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("empty_is_none", func(t *testing.T) {
		e.do("POST", hooks+"/query", e.editor, `{"text":"a","userId":"","user_id":"ann","externalUserId":""}`).want(200)
	})
}

// uploadTo sends a form to a path.
func (e *edge) uploadTo(path, key string, parts []part) answer {
	e.t.Helper()
	body, contentType := form(e.t, parts...)
	return e.do("POST", path, key, body, "Content-Type", contentType)
}
