package api_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestModelsOfAnOfflineInstance names chat models of an instance that knows all those that
// can be asked.
func TestModelsOfAnOfflineInstance(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.ChatModels = []string{"offline", "other"} })
	path := own + "/projects/default"
	e.do("PATCH", path, e.admin, `{"ai":{"model":"offline","failover":["other"]}}`).want(200)
	e.do("PUT", "/preferences", e.reader, `{"rag":{"model":"other"}}`).want(200)
	for _, refused := range []struct{ method, path, key, body, location string }{
		{"PATCH", path, e.admin, `{"ai":{"model":"gpt-0"}}`, "body.ai.model"},
		{"PATCH", path, e.admin, `{"ai":{"failover":["other","gpt-0"]}}`, "body.ai.failover[1]"},
		{"PUT", "/preferences", e.reader, `{"rag":{"model":"gpt-0"}}`, "body.rag.model"},
		{"POST", hooks + "/query", e.reader, `{"text":"a","projectId":"default","projectConfigOverride":{"ai":{"model":"gpt-1"}}}`, "body.projectConfigOverride.ai.model"},
		{"POST", hooks + "/query", e.reader, `{"text":"a","projectId":"default","projectConfigOverride":{"ai":{"failover":["other","gpt-1"]}}}`, "body.projectConfigOverride.ai.failover[1]"},
	} {
		got := e.do(refused.method, refused.path, refused.key, refused.body)
		if locations := got.refused(422, knowledge.CodeInvalid); locations[0] != refused.location || !strings.Contains(string(got.body), "offline or other") {
			t.Errorf("%s: %s", refused.body, got.body)
		}
	}
}

// TestModelsOfAnEndpoint names a chat model of an endpoint, which may serve any.
func TestModelsOfAnEndpoint(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"model":"gpt-0","failover":["gpt-1"]}}`).want(200)
	e.do("PUT", "/preferences", e.reader, `{"rag":{"model":"gpt-2"}}`).want(200)
}

// TestNamesOfApproval names tools whose calls wait for an approval.
func TestNamesOfApproval(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/projects/default"
	const custom = `"custom":{"order":{"type":"automation","automation":{"url":"https://api.test/"}},"hub":{"type":"mcp","mcp":{"url":"https://mcp.test/"}},` +
		`"few":{"type":"mcp","mcp":{"url":"https://mcp.test/","tools":[{"name":"read"}]}}}`
	e.do("PATCH", path, e.admin, `{"tools":{`+custom+`,"approval":["order","hub_anything","few_read","code_interpreter","documents_rag"]}}`).want(200)
	for _, name := range []string{"unknown_tool", "Order", "hub", "hub_", "few_write", "hub_a b", ""} {
		got := e.do("PATCH", path, e.admin, `{"tools":{"approval":["order","`+name+`"]}}`)
		if locations := got.refused(422, knowledge.CodeInvalid); locations[0] != "body.tools.approval[1]" || !strings.Contains(string(got.body), "few_read") {
			t.Errorf("%q: %s", name, got.body)
		}
	}
	override := `{"text":"a","projectId":"default","projectConfigOverride":{"tools":{"approval":["order","hub_anything","few_read","code_interpreter","documents_rag","nothing"]}}}`
	if got := e.do("POST", hooks+"/query", e.reader, override).refused(422, knowledge.CodeInvalid); got[0] != "body.projectConfigOverride.tools.approval[5]" {
		t.Errorf("locations %v", got)
	}
	// A tool that is removed keeps its name in the list: it waits when it comes back.
	e.do("PATCH", path, e.admin, `{"tools":{"custom":{"order":null}}}`).want(200)
	e.do("PATCH", path, e.admin, `{"tools":{"maxPerRequest":3}}`).want(200)
}
