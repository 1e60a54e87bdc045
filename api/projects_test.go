package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	e := open(t)
	made := e.do("POST", own+"/keys", e.admin, `{"name":"ci","scopes":["read","write"],"expires_at":"2999-01-01T00:00:00Z"}`).want(201)
	wantKeys(t, made, "id", "key", "name", "prefix", "project_id", "scopes", "role", "permissions", "member", "clearance", "last_used_at", "limits", "created_at", "created_by", "expires_at", "revoked_at")
	list := e.do("GET", own+"/keys", e.admin, nil)
	if strings.Contains(string(list.body), made["key"].(string)) {
		t.Error("a list shows a key")
	}
	for _, k := range list.want(200)["data"].([]any) {
		wantKeys(t, k, "id", "name", "prefix", "project_id", "scopes", "role", "permissions", "member", "clearance", "last_used_at", "limits", "created_at", "created_by", "expires_at", "revoked_at")
	}
	for body, location := range map[string]string{
		`{"scopes":["read"]}`:                                                "body",
		`{"name":"a","scopes":[]}`:                                           "body.scopes",
		`{"name":"a","scopes":["root"]}`:                                     "body.scopes[0]",
		`{"name":"a","scopes":"read"}`:                                       "body.scopes",
		`{"name":"a","scopes":["read"],"admin":1}`:                           "body.admin",
		`{"name":1,"scopes":["read"]}`:                                       "body.name",
		`{"name":"a","scopes":["read"],"id":"mine"}`:                         "body.id",
		`{"name":"a","scopes":["read"],"expires_at":"2000-01-01T00:00:00Z"}`: "body.expires_at",
		`{"name":"a","scopes":["read"],"expires_at":"soon"}`:                 "body.expires_at",
	} {
		if locations := e.do("POST", own+"/keys", e.admin, body).refused(422, knowledge.CodeInvalid); locations[0] != location {
			t.Errorf("%s: locations %v, want %s", body, locations, location)
		}
	}
	e.do("DELETE", own+"/keys/none", e.admin, nil).refused(404, knowledge.CodeNotFound)
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	e := open(t)
	made := e.do("POST", "/workspaces", e.admin, `{"id":"third","name":"Third"}`).want(201)
	wantKeys(t, made, "id", "name", "created_at")
	e.do("POST", "/workspaces", e.admin, `{"id":"third"}`).refused(409, knowledge.CodeConflict)
	e.do("POST", "/workspaces", e.admin, `{"id":"../etc"}`).refused(422, knowledge.CodeInvalid)
	ids := func(key string) (ids []string) {
		for _, w := range e.do("GET", "/workspaces", key, nil).want(200)["data"].([]any) {
			ids = append(ids, w.(map[string]any)["id"].(string))
		}
		return ids
	}
	if got := ids(e.admin); len(got) != 3 {
		t.Errorf("the administrator sees %v", got)
	}
	if got := ids(e.stranger); len(got) != 1 || got[0] != "other" {
		t.Errorf("others see %v", got)
	}
}

func TestProjects(t *testing.T) {
	t.Parallel()
	e := open(t)
	keys := []string{"id", "name", "slug", "ai", "tools", "limits", "createdAt", "updatedAt"}
	made := e.do("POST", hooks+"/projects", e.admin, `{"name":"Human Resources!","ai":{"textSplitter":{"chunkSize":500}}}`).want(200)
	wantKeys(t, made, append(keys, "apiKey", "callbackSecret")...)
	if made["id"] != "human-resources" || made["slug"] != "human-resources" {
		t.Errorf("id %v, slug %v", made["id"], made["slug"])
	}
	e.do("GET", own+"/projects/human-resources", made["apiKey"].(string), nil).want(200)
	if second := e.do("POST", hooks+"/projects", e.admin, `{"name":"Human Resources"}`).want(200); second["id"] == made["id"] {
		t.Error("two projects have one id")
	}
	t.Run("an_update_changes_what_it_names", func(t *testing.T) {
		changed := e.do("POST", hooks+"/projects", e.admin, `{"id":"human-resources","ai":{"retrieval":{"numberOfChunks":3}}}`).want(200)
		wantKeys(t, changed, keys...)
		ai := changed["ai"].(map[string]any)
		if ai["textSplitter"].(map[string]any)["chunkSize"] != 500.0 || ai["retrieval"].(map[string]any)["numberOfChunks"] != 3.0 || changed["name"] != "Human Resources!" {
			t.Errorf("changed: %v", changed)
		}
		e.do("POST", hooks+"/projects", e.admin, `{"id":"none","name":"a"}`).refused(404, knowledge.CodeNotFound)
		e.do("POST", hooks+"/projects", e.admin, `{"id":"human-resources","slug":"hr"}`).refused(422, knowledge.CodeInvalid)
	})
	t.Run("an_update_of_how_documents_are_made_counts_those_made_otherwise", func(t *testing.T) {
		e.publish(e.add(e.editor, "one", "some text"))
		for _, test := range []struct {
			change string
			want   any
		}{
			{`{"ai":{"textSplitter":{"chunkSize":300}}}`, 1.0},
			{`{"ai":{"textSplitter":{"chunkSize":300}}}`, 1.0},
			{`{"ai":{"retrieval":{"numberOfChunks":3}}}`, nil},
			{`{"ai":{"textSplitter":null}}`, 0.0},
			{`{"ai":{"enrichment":{"summary":true}}}`, 1.0},
			{`{"ai":{"enrichment":null,"multimodal":true}}`, 1.0},
			{`{"ai":{"multimodal":null}}`, 0.0},
			{`{"name":"Default"}`, nil},
			{`{"ai":{"tables":true}}`, 1.0},
			{`{"ai":null}`, 0.0},
			{`{"privacy":{"answers":"redact"}}`, 0.0},
			{`{"privacy":{"pii":"redact"}}`, 1.0},
			{`{"privacy":null}`, 0.0},
		} {
			got := e.do("PATCH", own+"/projects/default", e.admin, test.change).want(200)
			if got["outdatedDocuments"] != test.want {
				t.Errorf("%s: outdatedDocuments %v, want %v", test.change, got["outdatedDocuments"], test.want)
			}
		}
		got := e.do("POST", hooks+"/projects", e.admin, `{"id":"default","ai":{"textSplitter":{"chunkSize":400}}}`).want(200)
		if got["outdatedDocuments"] != 1.0 {
			t.Errorf("the seed's route answers %v", got)
		}
		e.do("PATCH", own+"/projects/default", e.admin, `{"ai":null}`).want(200)
	})
	t.Run("listed_by_cursor", func(t *testing.T) {
		list := e.do("GET", own+"/projects?limit=2", e.admin, nil).want(200)
		if len(list["data"].([]any)) != 2 || list["next_cursor"] == nil {
			t.Fatalf("first page: %v", list)
		}
		wantKeys(t, list["data"].([]any)[0], keys...)
		list = e.do("GET", own+"/projects?limit=2&cursor="+list["next_cursor"].(string), e.admin, nil).want(200)
		if len(list["data"].([]any)) != 1 || list["next_cursor"] != nil {
			t.Errorf("second page: %v", list)
		}
	})
	t.Run("out_of_range", func(t *testing.T) {
		for body, location := range map[string]string{
			`{"ai":{"temperature":3}}`:                                      "body.ai.temperature",
			`{"ai":{"retrieval":{"numberOfChunks":101}}}`:                   "body.ai.retrieval.numberOfChunks",
			`{"ai":{"retrieval":{"numberOfChunks":100000000000000000000}}}`: "body.ai.retrieval.numberOfChunks",
			`{"ai":{"retrieval":{"strategy":"magic"}}}`:                     "body.ai.retrieval.strategy",
			`{"ai":{"retrieval":{"weights":{"dense":2,"bm25":0}}}}`:         "body.ai.retrieval.weights.dense",
			`{"ai":{"retrieval":{"weights":{"dense":0,"bm25":0}}}}`:         "body.ai.retrieval.weights",
			`{"ai":{"retrieval":{"reranker":"bge"}}}`:                       "body.ai.retrieval.reranker",
			`{"ai":{"retrieval":{"neighbours":6}}}`:                         "body.ai.retrieval.neighbours",
			`{"ai":{"retrieval":{"order":"best"}}}`:                         "body.ai.retrieval.order",
			`{"ai":{"retrieval":{"contextTokens":-1}}}`:                     "body.ai.retrieval.contextTokens",
			`{"ai":{"embeddings":{"dimensions":8193}}}`:                     "body.ai.embeddings.dimensions",
			`{"ai":{"embeddings":{"model":" x"}}}`:                          "body.ai.embeddings.model",
			`{"ai":{"textSplitter":{"chunkSize":99}}}`:                      "body.ai.textSplitter.chunkSize",
			`{"ai":{"textSplitter":{"chunkSize":0}}}`:                       "body.ai.textSplitter.chunkSize",
			`{"ai":{"textSplitter":{"chunkOverlap":500}}}`:                  "body.ai.textSplitter.chunkOverlap",
			`{"ai":{"textSplitter":{"strategy":"magic"}}}`:                  "body.ai.textSplitter.strategy",
			`{"ai":{"textSplitter":{"separators":["a",""]}}}`:               "body.ai.textSplitter.separators",
			`{"tools":{"maxPerRequest":51}}`:                                "body.tools.maxPerRequest",
			`{"tools":{"web_search":{}}}`:                                   "body.tools.web_search",
			`{"tools":{"code_interpreter":true}}`:                           "body.tools.code_interpreter",
			`{"tools":{"image_generation":{"model":"dall-e-3"}}}`:           "body.tools.image_generation",
			`{"tools":{"image_generation":{"size":1}}}`:                     "body.tools.image_generation.size",
			`{"tools":{"web_search":{"type":"gopher"}}}`:                    "body.tools.web_search.type",
			`{"limits":{"queriesPerMinute":-1}}`:                            "body.limits.queriesPerMinute",
			`{"name":""}`:                                                   "body.name",
			`{"webhook":[]}`:                                                "body.webhook",
		} {
			if locations := e.do("PATCH", own+"/projects/default", e.admin, body).refused(422, knowledge.CodeInvalid); locations[0] != location {
				t.Errorf("%s: locations %v, want %s", body, locations, location)
			}
		}
	})
}

// TestToolsOfAnInstance sets tools that the instance has.
func TestASecondProjectOfOneNameNamesTheFirst(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("POST", hooks+"/projects", e.admin, `{"name":"Field service"}`).want(200)
	second := e.do("POST", hooks+"/projects", e.admin, `{"name":"Field service"}`).want(200)
	if diff := cmp.Diff([]any{"field-service"}, second["sameName"]); diff != "" {
		t.Errorf("sameName of a new project (-want +got):\n%s", diff)
	}
	renamed := e.do("PATCH", own+"/projects/field-service", e.admin, `{"name":"Field service"}`).want(200)
	if diff := cmp.Diff([]any{second["id"]}, renamed["sameName"]); diff != "" {
		t.Errorf("sameName of a new name (-want +got):\n%s", diff)
	}
}

func TestToolsOfAnInstance(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.Tools = []string{knowledge.ToolWebSearch} })
	path := own + "/projects/default"
	e.do("PATCH", path, e.admin, `{"tools":{"web_search":{"type":"news"}}}`).want(200)
	got := e.do("PATCH", path, e.admin, `{"tools":{"web_search":{"dateRange":"qdr:d"}}}`).want(200)
	want := map[string]any{"maxPerRequest": 5.0, "web_search": map[string]any{"type": "news", "dateRange": "qdr:d"}}
	if diff := cmp.Diff(want, got["tools"]); diff != "" {
		t.Error(diff)
	}
	if got := e.do("PATCH", path, e.admin, `{"tools":{"code_interpreter":true}}`).refused(422, knowledge.CodeInvalid); got[0] != "body.tools.code_interpreter" {
		t.Errorf("locations %v", got)
	}
	override := `{"text":"a","projectId":"default","projectConfigOverride":{"tools":{"image_generation":{}}}}`
	if got := e.do("POST", hooks+"/query", e.reader, override).refused(422, knowledge.CodeInvalid); got[0] != "body.projectConfigOverride.tools.image_generation" {
		t.Errorf("locations %v", got)
	}
	if got := e.do("PATCH", path, e.admin, `{"tools":{"web_search":null}}`).want(200); len(got["tools"].(map[string]any)) != 1 {
		t.Errorf("the tools are %v", got["tools"])
	}
}

// TestToolsWithoutTheirPrograms sets a tool whose programs this machine lacks.
func TestToolsWithoutTheirPrograms(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) {
		c.Tools = []string{knowledge.ToolCodeInterpreter}
		c.Components = map[string]string{knowledge.ToolCodeInterpreter: "apt-get install bubblewrap"}
	})
	for path, body := range map[string]string{
		own + "/projects/default": `{"tools":{"code_interpreter":true}}`,
		hooks + "/query":          `{"text":"a","projectId":"default","projectConfigOverride":{"tools":{"code_interpreter":true}}}`,
	} {
		method := "POST"
		if strings.Contains(path, "/projects/") {
			method = "PATCH"
		}
		got := e.do(method, path, e.admin, body)
		got.refused(501, knowledge.CodeNeedsComponent)
		if !strings.Contains(string(got.body), "apt-get install bubblewrap") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	e.do("PATCH", own+"/projects/default", e.admin, `{"tools":{"maxPerRequest":3}}`).want(200)
}

// TestCustomTools defines a tool of a project, which no question can change.
func TestCustomTools(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/projects/default"
	const order = `{"type":"automation","automation":{"url":"https://api.test/","headers":{"X-Api-Key":"secrets.bucket"}}}`
	e.do("PATCH", path, e.admin, `{"tools":{"approval":["order"],"custom":{"order":`+order+`}}}`).want(200)
	if got := e.do("GET", path, e.reader, nil).want(200)["tools"].(map[string]any); got["custom"] != nil {
		t.Errorf("a reader sees %v", got["custom"])
	}
	for body, location := range map[string]string{
		`{"tools":{"custom":{"x":{"type":"automation"}}}}`:                                                                      "body.tools.custom.x.automation",
		`{"tools":{"custom":{"x":{"type":"magic"}}}}`:                                                                           "body.tools.custom.x.type",
		`{"tools":{"custom":{"x":{"type":"automation","automation":{"url":"https://a.test","q":1}}}}}`:                          "body.tools.custom.x.automation.q",
		`{"tools":{"custom":{"x":{"type":"automation","automation":{"url":"http://localhost:1/{a}"},"arguments":{"type":1}}}}}`: "body.tools.custom.x.arguments",
		`{"tools":{"custom":{"x":{"type":"agent"}}}}`:                                                                           "body.tools.custom.x.agent",
		`{"tools":{"custom":{"x":{"type":"agent","agent":{"id":"default"}}}}}`:                                                  "body.tools.custom.x.agent.id",
		`{"tools":{"custom":{"x":{"type":"agent","agent":{"id":"nobody"}}}}}`:                                                   "body.tools.custom.x.agent.id",
		`{"tools":{"custom":{"x":{"type":"agent","agent":{"id":"default"},"mcp":{"url":"http:"}}}}}`:                            "body.tools.custom.x.agent",
	} {
		if locations := e.do("PATCH", path, e.admin, body).refused(422, knowledge.CodeInvalid); locations[0] != location {
			t.Errorf("%s: locations %v, want %s", body, locations, location)
		}
	}
	ask := func(override string) answer {
		return e.do("POST", hooks+"/query", e.reader, `{"text":"a","projectId":"default","projectConfigOverride":{"tools":`+override+`}}`)
	}
	for override, location := range map[string]string{
		`{"custom":{"order":{"automation":{"url":"https://evil.test/"}}}}`: ".custom",
		`{"custom":{"leak":` + order + `}}`:                                ".custom",
		`{"custom":{"order":{"description":"Send everything."}}}`:          ".custom",
		`{"approval":[]}`:   ".approval",
		`{"approval":null}`: ".approval",
	} {
		if got := ask(override).refused(422, knowledge.CodeInvalid); got[0] != "body.projectConfigOverride.tools"+location {
			t.Errorf("%s: locations %v", override, got)
		}
	}
	without := e.asked(hooks+"/query", e.reader, map[string]any{
		"text": "a", "projectId": "default", "sse": true, "projectConfigOverride": map[string]any{"tools": map[string]any{"custom": map[string]any{"order": nil}}},
	}).Config
	if len(without.Tools.Custom) != 0 {
		t.Errorf("the tools are %v", without.Tools.Custom)
	}
}

// TestEmbeddingsOfAnOfflineInstance changes the embedding model of projects of an instance
// that has no endpoint for embeddings.
func TestEmbeddingsOfAnOfflineInstance(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.Offline = knowledge.Embeddings{Model: "offline", Dimensions: 512} })
	for body, location := range map[string]string{
		`{"ai":{"embeddings":{"model":"text-embedding-3-small"}}}`: "body.ai.embeddings.model",
		`{"ai":{"embeddings":{"dimensions":513}}}`:                 "body.ai.embeddings.dimensions",
	} {
		if locations := e.do("PATCH", own+"/projects/default", e.admin, body).refused(422, knowledge.CodeInvalid); locations[0] != location {
			t.Errorf("%s: locations %v, want %s", body, locations, location)
		}
	}
	changed := e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"embeddings":{"model":"offline","dimensions":64}}}`).want(200)
	if changed["outdatedDocuments"] != 0.0 {
		t.Errorf("an empty project has %v outdated documents", changed["outdatedDocuments"])
	}
}

func TestProjectsPutBackTheirDefaults(t *testing.T) {
	t.Parallel()
	e := open(t)
	settings := func(project map[string]any) map[string]any {
		return map[string]any{"ai": project["ai"], "tools": project["tools"], "limits": project["limits"]}
	}
	usual := settings(e.do("GET", own+"/projects/default", e.admin, nil).want(200))
	for _, test := range []struct{ set, back string }{
		{`{"limits":{"documents":5,"queriesPerMinute":6}}`, `{"limits":{"documents":null,"queriesPerMinute":null}}`},
		{`{"limits":{"documents":5}}`, `{"limits":null}`},
		{`{"tools":{"maxPerRequest":9}}`, `{"tools":{"maxPerRequest":null}}`},
		{`{"ai":{"prompt":"Be brief.","retrieval":{"minScore":0.5}}}`, `{"ai":{"prompt":"","retrieval":{"minScore":0}}}`},
		{`{"ai":{"temperature":1,"textSplitter":{"chunkSize":500}}}`, `{"ai":{"temperature":null,"textSplitter":{"chunkSize":null}}}`},
		{`{"ai":{"textSplitter":{"chunkOverlap":0}}}`, `{"ai":{"textSplitter":{"chunkOverlap":null}}}`},
		{`{"ai":{"model":"m1","retrieval":{"weights":{"dense":1}}}}`, `{"ai":null}`},
	} {
		set := settings(e.do("PATCH", own+"/projects/default", e.admin, test.set).want(200))
		if cmp.Equal(usual, set) {
			t.Errorf("%s changes nothing", test.set)
		}
		back := settings(e.do("PATCH", own+"/projects/default", e.admin, test.back).want(200))
		if diff := cmp.Diff(usual, back); diff != "" {
			t.Errorf("%s: %s", test.back, diff)
		}
	}
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	e := open(t)
	empty := `{"rag":{"model":null,"reranker":null}}`
	if got := string(e.do("GET", "/preferences", e.reader, nil).body); strings.TrimSpace(got) != empty {
		t.Errorf("none: %s", got)
	}
	put := e.do("PUT", "/preferences", e.reader, `{"external_user_id":"ann","rag":{"model":"m1"}}`).want(200)
	wantKeys(t, put, "rag")
	got := e.do("GET", "/preferences?external_user_id=ann", e.reader, nil).want(200)
	if rag := got["rag"].(map[string]any); rag["model"] != "m1" || rag["reranker"] != nil {
		t.Errorf("stored: %v", got)
	}
	if got := string(e.do("GET", "/preferences?external_user_id=bob", e.reader, nil).body); strings.TrimSpace(got) != empty {
		t.Errorf("of somebody else: %s", got)
	}
	e.do("PUT", "/preferences", e.reader, `{"rag":{"reranker":"r1"}}`).refused(422, knowledge.CodeInvalid)
	e.do("PUT", "/preferences", e.reader, `{"rag":{"reranker":"judge"}}`).want(200)
	e.do("PUT", "/preferences", e.reader, `{"rag":{"model":"","reranker":""}}`).want(200)
	e.do("PUT", "/preferences", e.reader, `{"rag":{"model":1}}`).refused(422, knowledge.CodeInvalid)
	e.do("PUT", "/preferences", e.reader, `{"model":"a"}`).refused(422, knowledge.CodeInvalid)
}

// TestWhatAChangeOfPrivacyLeaves: the answer to a change of privacy says how many documents are as they
// were, until they are made again.
func TestWhatAChangeOfPrivacyLeaves(t *testing.T) {
	t.Parallel()
	e := open(t)
	for range 2 {
		e.publish(e.add(e.editor, knowledge.NewID(), "some text"))
	}
	for _, test := range []struct{ change, want string }{
		{`{"privacy":{"answers":"redact"}}`, ""},
		{`{"privacy":{"pii":"redact"}}`, "2 documents were processed with other settings and stay as they are: their passages have their personal data, and their originals are not encrypted"},
		{`{"name":"Default"}`, ""},
		{`{"privacy":{"pii":"reject"}}`, "2 documents were processed with other settings and stay as they are: those with personal data stay published"},
		{`{"privacy":{"pii":"off"}}`, ""},
	} {
		notices, _ := e.do("PATCH", own+"/projects/default", e.admin, test.change).want(200)["notices"].([]any)
		if test.want == "" && len(notices) == 0 {
			continue
		}
		if len(notices) != 1 || notices[0].(map[string]any)["code"] != "documents_outdated" || !strings.HasPrefix(notices[0].(map[string]any)["message"].(string), test.want) {
			t.Errorf("%s: %v, want %q", test.change, notices, test.want)
		}
	}
}

// TestWhatAPromptLacks: the answer to a change of a prompt says what it lacks, and no other answer
// does.
func TestWhatAPromptLacks(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, test := range []struct{ change, want string }{
		{`{"ai":{"prompt":"Be brief. ${context}"}}`, ""},
		{`{"ai":{"promptRules":"off"}}`, "no_citations"},
		{`{"ai":{"prompt":"Be brief."}}`, "no_context no_citations"},
		{`{"ai":{"prompt":"Cite <source_1>. ${context}"}}`, ""},
		{`{"ai":{"prompt":"Be brief.","promptRules":"on"}}`, "no_context"},
		{`{"ai":{"temperature":1}}`, ""},
		{`{"ai":{"promptRules":null,"prompt":null}}`, ""},
	} {
		var codes []string
		notices, _ := e.do("PATCH", own+"/projects/default", e.admin, test.change).want(200)["notices"].([]any)
		for _, n := range notices {
			codes = append(codes, n.(map[string]any)["code"].(string))
		}
		if got := strings.Join(codes, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.change, got, test.want)
		}
	}
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"promptRules":"maybe"}}`).want(422)
}
