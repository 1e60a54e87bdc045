package api_test

import (
	"strconv"
	"strings"
	"testing"
)

func TestWrongKeysInARow(t *testing.T) {
	t.Parallel()
	forms := map[string]func(e *edge) answer{
		"keys":          func(e *edge) answer { return e.do("GET", own+"/projects", "cairn_wrong", nil) },
		"in_the_header": func(e *edge) answer { return e.do("GET", own+"/projects", "", nil, "knowledge-project-apikey", "x") },
		"JWTs":          func(e *edge) answer { return e.do("GET", own+"/projects", "eyJhbGciOiJIUzI1NiJ9.e30.x", nil) },
		"to_ask_who_is_signed_in": func(e *edge) answer {
			return e.do("GET", "/auth/session", "", nil, "knowledge-project-apikey", "x")
		},
		"of_the_protocol": func(e *edge) answer { return e.do("GET", "/v1/models", "cairn_wrong", nil) },
		"of_MCP":          func(e *edge) answer { return e.do("POST", "/mcp", "cairn_wrong", `{}`) },
		"of_a_WebSocket": func(e *edge) answer {
			return e.do("GET", own+"/websocket?runId=x", "cairn_wrong", nil, "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		},
		"tokens_of_events":    func(e *edge) answer { return e.do("GET", "/runs/x/events?token=forged", "", nil) },
		"tokens_of_originals": func(e *edge) answer { return e.do("GET", own+"/documents/x/content?token=forged", "", nil) },
		"tokens_of_files":     func(e *edge) answer { return e.do("GET", "/runs/x/files/a?token=forged", "", nil) },
		"tokens_of_WebSockets": func(e *edge) answer {
			return e.do("GET", own+"/websocket?runId=x&token=forged", "", nil, "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		},
	}
	for name, ask := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			e.remote = "192.0.2.1:999"
			for i := range 40 {
				got, want := ask(e), 401
				if i >= 10 {
					want = 429
				}
				if got.status != want {
					t.Fatalf("try %d: status %d, want %d: %s", i, got.status, want, got.body)
				}
				wait, err := strconv.Atoi(got.header.Get("Retry-After"))
				if i >= 10 && (err != nil || wait < 1 || wait > 60 || !strings.Contains(string(got.body), "rate_limited")) {
					t.Fatalf("Retry-After %q: %s", got.header.Get("Retry-After"), got.body)
				}
				if i >= 10 && name == "of_the_protocol" && !strings.Contains(string(got.body), `"type":"rate_limit_error"`) {
					t.Fatalf("not in the shape of the protocol: %s", got.body)
				}
			}
			e.do("GET", own+"/projects", e.reader, nil).want(200)
			e.do("GET", own+"/projects", "", nil).want(401)
			e.remote = "192.0.2.2:999"
			if got := ask(e); got.status != 401 {
				t.Errorf("from another address: status %d", got.status)
			}
		})
	}
}
