package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/tool"
)

func TestCustomFields(t *testing.T) {
	t.Parallel()
	dialer := safedial.New(safedial.Config{})
	wrongSecret := func(name, host string) string {
		if name == "shop" && host == "api.test" {
			return ""
		}
		return "is not there"
	}
	for custom, want := range map[string]string{
		`{"order":{"type":"automation","automation":{"url":"https://api.test/x/{id}?q={q}","headers":{"Authorization":"Bearer ${secrets.shop}"}},"arguments":{"type":"object"}}}`: "",
		`{"my tool":{"type":"automation","automation":{"url":"https://api.test/"}}}`:                                                                                              "at: must have names",
		`{"documents_rag":{"type":"automation","automation":{"url":"https://api.test/"}}}`:                                                                                        "at.documents_rag: is the name",
		`{"a":{"type":"automation"}}`:                                                                                      "at.a.automation: is required",
		`{"a":{"type":"automation","automation":{"url":"https://{host}/"}}}`:                                               "at.a.automation.url: must have its arguments after the host",
		`{"a":{"type":"automation","automation":{"url":"https://x.{host}"}}}`:                                              "at.a.automation.url: must have its arguments after the host",
		`{"a":{"type":"automation","automation":{"url":"api.test"}}}`:                                                      "at.a.automation.url: must be an http",
		`{"a":{"type":"automation","automation":{"url":"http://169.254.169.254/"}}}`:                                       "at.a.automation.url: refused address",
		`{"a":{"type":"automation","automation":{"url":"https://api.test/","headers":{"Authorization":"Bearer abc"}}}}`:    "at.a.automation.headers.Authorization: must come from a secret",
		`{"a":{"type":"automation","automation":{"url":"https://api.test/","headers":{"X-Api-Key":"secrets.other"}}}}`:     "at.a.automation.headers.X-Api-Key: names \"other\", which is not there",
		`{"a":{"type":"automation","automation":{"url":"https://evil.test/{id}","headers":{"X-Api-Key":"secrets.shop"}}}}`: "at.a.automation.headers.X-Api-Key: names \"shop\", which is not there",
		`{"a":{"type":"mcp","mcp":{"url":"https://evil.test:8443/","headers":{"X-Api-Key":"secrets.shop"}}}}`:              "at.a.mcp.headers.X-Api-Key: names \"shop\", which is not there",
		`{"a":{"type":"mcp","mcp":{"url":"https://api.test:8443/","headers":{"X-Api-Key":"secrets.shop"}}}}`:               "",
		`{"a":{"type":"automation","automation":{"url":"https://api.test/","headers":{"Host":"x"}}}}`:                      "at.a.automation.headers.Host: cannot be set",
		`{"a":{"type":"automation","automation":{"url":"https://api.test/","headers":{"A b":"x"}}}}`:                       "at.a.automation.headers: must have the names",
		`{"a":{"type":"automation","automation":{"url":"https://api.test/","headers":{"A":"x\r\nB: y"}}}}`:                 "at.a.automation.headers.A: must be at most",
		`{"a":{"type":"automation","automation":{"url":"https://api.test/"},"arguments":{"type":"text"}}}`:                 "at.a.arguments: it is not a JSON schema",
		`{"a":{"type":"automation","automation":{"url":"https://api.test/"},"arguments":{"$ref":"file:///etc/passwd"}}}`:   "at.a.arguments: it is not a JSON schema",
	} {
		var tools map[string]knowledge.CustomTool
		if err := json.Unmarshal([]byte(custom), &tools); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range tool.CustomFields("at", tools, wrongSecret, dialer.CheckURL) {
			got += f.Location + ": " + f.Message
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", custom, got, want)
		}
	}
}
